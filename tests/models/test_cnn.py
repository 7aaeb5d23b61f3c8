import numpy as np
import pytest
import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.models.cnn import CnnSettings, cnn_model_fn

tf1 = tf.compat.v1
IMAGES = np.random.default_rng(0).random([8, 28, 28, 1], np.float32)
LABELS = np.arange(8)


def test_the_variables_of_the_second_article(graph):
    cnn_model_fn(tf.constant(IMAGES), None, "infer", {})
    norms = {
        f"batch_normalization{suffix}/{part}": [channels]
        for suffix, channels in [("", 32), ("_1", 128), ("_2", 10)]
        for part in ["gamma", "beta", "moving_mean", "moving_variance"]
    }
    assert {v.op.name: v.shape.as_list() for v in tf1.global_variables()} == {
        "conv2d/kernel": [3, 3, 1, 32],
        "conv2d_1/kernel": [3, 3, 32, 128],
        "conv2d_2/kernel": [7, 7, 128, 10],
        **norms,
    }


def test_evaluation_keeps_up_with_training(tmp_path):
    """After 60 steps on a batch, the moving averages give losses like the batch's own."""
    checkpoint = str(tmp_path / "model")
    with tf.Graph().as_default(), tf1.Session() as session:
        spec = cnn_model_fn(IMAGES, LABELS, "train", {"learning_rate": 0.1, "seed": 1})
        session.run(tf1.global_variables_initializer())
        first = session.run(spec.loss)
        for _ in range(60):
            session.run(spec.train_op)
        assert session.run(spec.loss) < 0.1 * first
        tf1.train.Saver().save(session, checkpoint)
    with tf.Graph().as_default(), tf1.Session() as session:
        spec = cnn_model_fn(IMAGES, LABELS, "eval", {})
        tf1.train.Saver().restore(session, checkpoint)
        assert session.run(spec.loss) < 0.2 * first


def test_other_image_sizes(graph):
    with pytest.raises(UsageError, match=r"\(8, 32, 32, 1\)"):
        cnn_model_fn(tf.zeros([8, 32, 32]), None, "infer", {})


@pytest.mark.parametrize("params", [{"batch_norm_momentum": 1.0}, {"dropout_rate": -0.1}])
def test_params_that_make_no_sense(params):
    with pytest.raises(UsageError, match=next(iter(params))):
        CnnSettings.from_params(params)
