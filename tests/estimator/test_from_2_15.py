"""A model_dir that tf.estimator 2.15 left is taken up as if nothing had happened."""

import json
import pathlib
import shutil

import model_2_15
import numpy as np
import pytest
import tensorflow as tf
import tiny

from graphtrain import estimator as tf_estimator

FROM_2_15 = pathlib.Path(__file__).parent / "from_2_15"
EXPECTED = json.loads((FROM_2_15 / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture
def estimator(tmp_path):
    shutil.copytree(FROM_2_15 / "model_dir", tmp_path / "run")
    return model_2_15.make_estimator(tf_estimator, tmp_path / "run")


def values_of(estimator):
    return {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}


def assert_holds(values, expected, *, rtol=0.0):
    """Asserts that our checkpoint has what tf.estimator's had; iterators, say, may come on top."""
    for name, value in expected.items():
        np.testing.assert_allclose(values[name], np.array(value, values[name].dtype), rtol=rtol)


def test_it_reads_weights_slots_and_step(estimator):
    assert_holds(values_of(estimator), EXPECTED["variables_at_20"])


def test_it_evaluates(estimator):
    metrics = estimator.evaluate(lambda: model_2_15.input_fn(1))
    assert metrics == pytest.approx(EXPECTED["metrics"], rel=1e-6)
    assert tiny.scalars(estimator.eval_dir(), "accuracy") == [(20, 1.0), (20, 1.0)]


def test_it_predicts(estimator):
    predictions = list(estimator.predict(lambda: model_2_15.input_fn(1)))
    probabilities = [example["probabilities"] for example in predictions]
    np.testing.assert_allclose(probabilities, EXPECTED["probabilities"], rtol=1e-6)


def test_it_trains_on_as_tf_estimator_does(estimator):
    estimator.train(model_2_15.input_fn, max_steps=30)
    assert_holds(values_of(estimator), EXPECTED["variables_at_30"], rtol=1e-5)
    steps = [step for step, _ in tiny.scalars(estimator.model_dir, "loss")]
    assert steps == sorted(set(steps))
    assert steps[0] == 1 and steps[-1] > 20


def test_it_exports(estimator, tmp_path):
    directory = estimator.export_saved_model(
        tmp_path / "export",
        lambda: model_2_15.serving_input_receiver_fn(tf_estimator.export),
    )
    served = tf.saved_model.load(directory.decode()).signatures["serving_default"]
    answer = served(x=tf.constant(model_2_15.FEATURES))["probabilities"].numpy()
    np.testing.assert_allclose(answer, EXPECTED["probabilities"], rtol=1e-6)


def test_a_checkpoint_of_ours_has_what_theirs_has(tmp_path):
    ours = model_2_15.make_estimator(tf_estimator, tmp_path)
    ours.train(model_2_15.input_fn, max_steps=1)
    shapes = {
        name: list(ours.get_variable_value(name).shape) for name in EXPECTED["variables_at_20"]
    }
    assert shapes == {name: list(np.shape(v)) for name, v in EXPECTED["variables_at_20"].items()}
    dtypes = tf.train.load_checkpoint(ours.latest_checkpoint()).get_variable_to_dtype_map()
    theirs = tf.train.load_checkpoint(str(FROM_2_15 / "model_dir"))
    assert theirs.get_variable_to_dtype_map().items() <= dtypes.items()
