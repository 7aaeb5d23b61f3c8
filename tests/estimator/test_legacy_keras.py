"""tf.compat.v1.layers and Keras 2 in a model_fn; tf_keras is there: the extra `test` has it."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import graphtrain

pytestmark = pytest.mark.slow
SCRIPT = pathlib.Path(__file__).parent / "legacy_keras_models.py"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path_factory.mktemp("models"))],
        env={
            **os.environ,
            # TensorFlow chooses its Keras when it is imported.
            "TF_USE_LEGACY_KERAS": "1",
            "PYTHONPATH": str(pathlib.Path(graphtrain.__file__).parents[1]),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.mark.parametrize("net", ["layers_net", "keras_net"])
def test_it_learns_and_is_served(net, results):
    assert results[net]["accuracy"] == 1.0
    assert results[net]["served_as_predicted"]


@pytest.mark.parametrize("net", ["layers_net", "keras_net"])
def test_batch_norm_averages_move(net, results):
    assert results[net]["moving_mean"] == pytest.approx([20 / 3, 20 / 3], rel=1e-5)


def test_variables_are_named_as_in_tensorflow_1(results):
    names = results["layers_net"]["variables"]
    assert {"dense/kernel", "dense_1/bias", "batch_normalization/moving_mean"} <= set(names)
