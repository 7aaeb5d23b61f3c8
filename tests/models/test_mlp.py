import numpy as np
import pytest
import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.models.mlp import MlpSettings, mlp_model_fn

tf1 = tf.compat.v1
IMAGES = np.random.default_rng(0).random([8, 28, 28], np.float32)
LABELS = np.arange(8)


def test_the_variables_of_the_first_article(graph):
    mlp_model_fn(tf.constant(IMAGES), None, "infer", {})
    assert {v.op.name: v.shape.as_list() for v in tf1.global_variables()} == {
        "dense/kernel": [784, 128],
        "dense/bias": [128],
        "dense_1/kernel": [128, 10],
        "dense_1/bias": [10],
    }


def test_hidden_units(graph):
    mlp_model_fn(tf.constant(IMAGES), None, "infer", {"hidden_units": [20, 30]})
    shapes = [variable.shape.as_list() for variable in tf1.trainable_variables("dense.*/kernel")]
    assert shapes == [[784, 20], [20, 30], [30, 10]]


def test_it_learns_a_batch(graph):
    spec = mlp_model_fn(
        {"image": tf.constant(IMAGES)},
        tf.constant(LABELS),
        "train",
        {"optimizer": "adam", "learning_rate": 1e-2, "dropout_rate": 0.1, "seed": 1},
    )
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        first = session.run(spec.loss)
        for _ in range(30):
            session.run(spec.train_op)
        assert session.run(spec.loss) < 0.1 * first


@pytest.mark.parametrize("mode", ["eval", "infer"])
def test_dropout_is_for_training(graph, mode):
    spec = mlp_model_fn(tf.constant(IMAGES), tf.constant(LABELS), mode, {"dropout_rate": 0.9})
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        logits = [session.run(spec.predictions["logits"]) for _ in range(2)]
    np.testing.assert_array_equal(*logits)
    assert len(np.unique(logits[0])) == logits[0].size


@pytest.mark.parametrize(
    "params", [{"hidden_units": 128}, {"hidden_units": [0]}, {"dropout_rate": 1.0}]
)
def test_params_that_make_no_sense(params):
    with pytest.raises(UsageError, match=next(iter(params))):
        MlpSettings.from_params(params)


def test_params_of_the_other_model():
    with pytest.raises(UsageError, match="batch_norm_momentum.*hidden_units, dropout_rate"):
        MlpSettings.from_params({"batch_norm_momentum": 0.9})
