"""What our image classifiers share: the images they take, and an EstimatorSpec from logits."""

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.estimator.spec import EstimatorSpec, ModeKeys
from graphtrain.models.train_step import make_train_op

tf1 = tf.compat.v1

CLASSES = 10


def images_from(features):
    """Takes the images out of what an input_fn gave.

    Args:
      features: float [batch, height, width] or [batch, height, width, channels], pixels in
        [0, 1]; or a dict whose "image" is that.

    Returns:
      float [batch, height, width, channels].

    Raises:
      UsageError: there is no "image", or it is no batch of float images.

    Example:
      >>> images_from({"image": tf.zeros([32, 28, 28])}).shape.as_list()
      [32, 28, 28, 1]
    """
    if isinstance(features, dict):
        if "image" not in features:
            raise UsageError(f"features has no 'image', only {sorted(features)}: name it so")
        features = features["image"]
    images = tf.convert_to_tensor(features)
    if not images.dtype.is_floating:
        raise UsageError(
            f"images of type {images.dtype.name} cannot be used: give floats in [0, 1], such "
            "as tf.cast(images, tf.float32) / 255"
        )
    if images.shape.rank not in (3, 4):
        raise UsageError(
            f"images of shape {images.shape} cannot be used: give [batch, height, width] or "
            "[batch, height, width, channels]"
        )
    return images if images.shape.rank == 4 else images[..., tf.newaxis]


def classifier_spec(mode, logits, labels, settings):
    """Makes what a classifier's model_fn returns.

    The loss is the batch's mean softmax cross-entropy. In training, the summaries `loss`
    and `accuracy` (of the training batch) are added to those of the train op.

    Args:
      mode: a `ModeKeys` value.
      logits: float [batch, classes].
      labels: int [batch], each in [0, classes); not used, and may be None, in prediction.
      settings: `graphtrain.models.train_step.TrainSettings`.

    Returns:
      An `EstimatorSpec`, its predictions "class" (int64 [batch]), "probabilities" and
      "logits" (float [batch, classes]), its metric "accuracy".

    Example:
      >>> spec = classifier_spec(ModeKeys.PREDICT, tf.zeros([2, 10]), None, None)
      >>> sorted(spec.predictions)
      ['class', 'logits', 'probabilities']
    """
    predictions = {
        "class": tf.argmax(logits, axis=-1),
        "probabilities": tf.nn.softmax(logits),
        "logits": logits,
    }
    if mode == ModeKeys.PREDICT:
        return EstimatorSpec(mode, predictions=predictions)

    labels = tf.cast(labels, tf.int64)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    if mode == ModeKeys.EVAL:
        accuracy = tf1.metrics.accuracy(labels, predictions["class"])
        return EstimatorSpec(mode, predictions, loss, eval_metric_ops={"accuracy": accuracy})

    right = tf.cast(tf.equal(labels, predictions["class"]), tf.float32)
    tf1.summary.scalar("loss", loss)
    tf1.summary.scalar("accuracy", tf.reduce_mean(right))
    return EstimatorSpec(mode, predictions, loss, train_op=make_train_op(loss, settings))
