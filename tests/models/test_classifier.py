import math

import numpy as np
import pytest
import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.estimator.spec import ModeKeys
from graphtrain.models.classifier import classifier_spec, images_from
from graphtrain.models.train_step import TrainSettings

tf1 = tf.compat.v1

# Two examples, three classes: the first is right, the second wrong.
LOGITS = [[math.log(2.0), 0.0, 0.0], [0.0, math.log(6.0), 0.0]]
LABELS = [0, 2]
LOSS = (math.log(4 / 2) + math.log(8 / 1)) / 2


def test_images_in_all_their_forms(graph):
    images = tf.zeros([4, 28, 28, 1])
    assert images_from(images) is images
    assert images_from(images[..., 0]).shape == [4, 28, 28, 1]
    assert images_from({"image": images, "id": tf.zeros([4])}) is images
    assert images_from(np.zeros([4, 28, 28])).dtype == tf.float64


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({"pixels": np.zeros([4, 28, 28])}, r"no 'image', only \['pixels'\]"),
        (np.zeros([4, 28, 28], np.uint8), "uint8.*floats in"),
        (np.zeros([4, 784], np.float32), r"\(4, 784\)"),
    ],
)
def test_features_that_are_no_images(graph, features, message):
    with pytest.raises(UsageError, match=message):
        images_from(features)


def test_prediction(graph):
    spec = classifier_spec(ModeKeys.PREDICT, tf.constant(LOGITS), None, TrainSettings())
    assert spec.loss is None and spec.train_op is None
    with tf1.Session() as session:
        predictions = session.run(spec.predictions)
    assert predictions["class"].dtype == np.int64
    assert predictions["class"].tolist() == [0, 1]
    np.testing.assert_allclose(
        predictions["probabilities"], [[0.5, 0.25, 0.25], [1 / 8, 6 / 8, 1 / 8]], rtol=1e-6
    )
    np.testing.assert_allclose(predictions["logits"], LOGITS, rtol=1e-6)


@pytest.mark.parametrize("label_dtype", [tf.uint8, tf.int32, tf.int64])
def test_evaluation(graph, label_dtype):
    labels = tf.constant(LABELS, label_dtype)
    spec = classifier_spec(ModeKeys.EVAL, tf.constant(LOGITS), labels, TrainSettings())
    assert spec.train_op is None
    value, update = spec.eval_metric_ops["accuracy"]
    with tf1.Session() as session:
        session.run(tf1.local_variables_initializer())
        assert session.run(spec.loss) == pytest.approx(LOSS, rel=1e-6)
        session.run(update)
        assert session.run(value) == 0.5


def test_training(graph):
    logits = tf1.get_variable("logits", initializer=tf.constant(LOGITS))
    settings = TrainSettings(learning_rate=0.5)
    spec = classifier_spec(ModeKeys.TRAIN, logits, tf.constant(LABELS), settings)
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        summary = tf1.Summary.FromString(session.run(tf1.summary.merge_all()))
        values = {value.tag: value.simple_value for value in summary.value}
        assert values == {
            "loss": pytest.approx(LOSS, rel=1e-6),
            "accuracy": 0.5,
            "learning_rate": 0.5,
        }
        session.run(spec.train_op)
        gradient = [[-0.25, 0.125, 0.125], [1 / 16, 6 / 16, -7 / 16]]
        np.testing.assert_allclose(
            session.run(logits), np.array(LOGITS) - 0.5 * np.array(gradient), rtol=1e-5
        )
