"""The tables of docs/migrating.md name all of tf.estimator, and offer what they say they offer."""

import functools
import json
import pathlib
import re

import pytest

import graphtrain.models.layers
from graphtrain import estimator as tf_estimator

HERE = pathlib.Path(__file__).parent
MIGRATING = (HERE.parent / "docs" / "migrating.md").read_text(encoding="utf-8")
EXPECTED = json.loads((HERE / "estimator" / "from_2_15" / "expected.json").read_text("utf-8"))
# What a module's contents do not show.
METHODS = (
    *("config", "eval_dir", "evaluate", "experimental_export_all_saved_models"),
    *("export_saved_model", "export_savedmodel", "get_variable_names", "get_variable_value"),
    *("latest_checkpoint", "model_dir", "model_fn", "params", "predict", "train"),
)
MORE_NAMES = {
    "experimental.RNNClassifier",
    "experimental.RNNEstimator",
    *(f"Estimator.{name}" for name in METHODS),
}


def states():
    """The state of each name in the tables."""
    rows = re.findall(r"^\| (`.*?) \| (\w[\w ]*) \| .*\|$", MIGRATING, flags=re.MULTILINE)
    return {name: state for names, state in rows for name in re.findall(r"`([\w.]+)`", names)}


def is_there(module, name):
    try:
        functools.reduce(getattr, name.split("."), module)
    except AttributeError:
        return False
    return True


def test_all_names_of_tf_estimator_are_told_of():
    told_of = {name for name, state in states().items() if state != "new"}
    assert told_of == MORE_NAMES | set(EXPECTED["public_names"])


@pytest.mark.parametrize(("name", "state"), states().items())
def test_what_is_offered_is_there(name, state):
    assert state in ("same", "better", "new", "not offered")
    assert is_there(tf_estimator, name) == (state != "not offered")


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`graphtrain\.([\w.]+)`", MIGRATING))))
def test_names_in_the_text_are_there(name):
    assert is_there(graphtrain, name)
