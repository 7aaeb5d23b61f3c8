"""The second article's network: three convolutions, each with batch normalization."""

import dataclasses

import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError
from graphtrain.estimator.spec import ModeKeys
from graphtrain.models import layers
from graphtrain.models.classifier import CLASSES, classifier_spec, images_from
from graphtrain.models.train_step import TrainSettings

_IMAGE_SHAPE = [28, 28, 1]


@dataclasses.dataclass(frozen=True)
class CnnSettings(TrainSettings):
    """What `cnn_model_fn` takes in `params`.

    Args:
      batch_norm_momentum: see `graphtrain.models.layers.batch_norm`. The default, 0.9,
        lets evaluation keep up with training in the first epochs, where 0.99 does not.
      dropout_rate: the part of the last layer's inputs set to zero, in [0, 1).
      (others): see `graphtrain.models.train_step.TrainSettings`.

    Raises:
      UsageError: a value makes no sense.

    Example:
      >>> CnnSettings.from_params({"train_step": "line_search"}).batch_norm_momentum
      0.9
    """

    batch_norm_momentum: float = 0.9
    dropout_rate: float = 0.0

    def __post_init__(self):
        super().__post_init__()
        checks.real("batch_norm_momentum", self.batch_norm_momentum, at_least=0, below=1)
        checks.real("dropout_rate", self.dropout_rate, at_least=0, below=1)


def cnn_logits(
    images, *, training, batch_norm_momentum=0.9, fused=True, dropout_rate=0.0, seed=None
):
    """Builds the network: two convolutions of 3x3, halved by pooling, and one of 7x7.

    Each convolution is without bias and followed by batch normalization; the first two then
    by relu and average pooling (28x28 to 14x14 to 7x7).

    Args:
      images: float [batch, 28, 28, 1].
      training: Python bool, whether batch norm uses the batch and dropout is at work.
      batch_norm_momentum: see `graphtrain.models.layers.batch_norm`.
      fused: see `graphtrain.models.layers.batch_norm`.
      dropout_rate: the part of the last convolution's inputs set to zero in training.
      seed: an int that fixes first values and dropout, or None for the graph's seed.

    Returns:
      Logits, float [batch, 10], the dtype of images.

    Raises:
      UsageError: the images have another shape.

    Example:
      >>> cnn_logits(tf.zeros([32, 28, 28, 1]), training=False).shape.as_list()
      [32, 10]
    """
    if images.shape[1:] != _IMAGE_SHAPE:
        raise UsageError(f"images of shape {images.shape} cannot be used: give [batch, 28, 28, 1]")

    def convolved(inputs, filters, size, padding):
        outputs = layers.conv2d(inputs, filters, size, padding=padding, use_bias=False, seed=seed)
        return layers.batch_norm(
            outputs, training=training, momentum=batch_norm_momentum, fused=fused
        )

    net = images
    for filters in (32, 128):
        net = tf.nn.relu(convolved(net, filters, 3, "SAME"))
        net = tf.nn.avg_pool2d(net, 2, 2, "VALID")
    net = layers.dropout(net, rate=dropout_rate, training=training, seed=seed)
    return layers.flatten(convolved(net, CLASSES, 7, "VALID"))


def cnn_model_fn(features, labels, mode, params):
    """A model_fn: the convolutional network.

    Args:
      features: float [batch, 28, 28] or [batch, 28, 28, 1] pixels in [0, 1], or a dict
        whose "image" is that.
      labels: int [batch] digits; None in prediction.
      mode: a `graphtrain.estimator.ModeKeys` value.
      params: dict of the fields of `CnnSettings`; what is not there has its default.

    Returns:
      An `EstimatorSpec`.

    Raises:
      UsageError: a name or value in params, or the features, cannot be used.

    Example:
      >>> images, labels = tf.zeros([32, 28, 28]), tf.zeros([32], tf.int64)
      >>> spec = cnn_model_fn(images, labels, "eval", {})
      >>> list(spec.eval_metric_ops)
      ['accuracy']
    """
    settings = CnnSettings.from_params(params)
    logits = cnn_logits(
        images_from(features),
        training=mode == ModeKeys.TRAIN,
        batch_norm_momentum=settings.batch_norm_momentum,
        dropout_rate=settings.dropout_rate,
        seed=settings.seed,
    )
    return classifier_spec(mode, logits, labels, settings)
