"""The first article's network: one hidden layer, by default, between pixels and digits."""

import dataclasses

import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError
from graphtrain.estimator.spec import ModeKeys
from graphtrain.models import layers
from graphtrain.models.classifier import CLASSES, classifier_spec, images_from
from graphtrain.models.train_step import TrainSettings


@dataclasses.dataclass(frozen=True)
class MlpSettings(TrainSettings):
    """What `mlp_model_fn` takes in `params`.

    Args:
      hidden_units: how many units each hidden layer has, one number or more.
      dropout_rate: the part of each hidden layer's outputs set to zero, in [0, 1).
      (others): see `graphtrain.models.train_step.TrainSettings`.

    Raises:
      UsageError: a value makes no sense.

    Example:
      >>> MlpSettings.from_params({"hidden_units": [64, 32]}).learning_rate
      0.1
    """

    hidden_units: tuple = (128,)
    dropout_rate: float = 0.0

    def __post_init__(self):
        super().__post_init__()
        if not isinstance(self.hidden_units, (list, tuple)):
            raise UsageError(
                f"hidden_units={self.hidden_units!r} cannot be used: give a list of whole "
                "numbers >= 1, such as [128]"
            )
        for units in self.hidden_units:
            checks.whole("hidden_units", units)
        checks.real("dropout_rate", self.dropout_rate, at_least=0, below=1)


def mlp_logits(images, *, hidden_units=(128,), dropout_rate=0.0, training=False, seed=None):
    """Builds the network: flatten, dense layers with relu, a dense layer of 10.

    Args:
      images: float [batch, height, width, channels].
      hidden_units: how many units each hidden layer has.
      dropout_rate: the part of each hidden layer's outputs set to zero in training.
      training: Python bool, whether dropout is at work.
      seed: an int that fixes first values and dropout, or None for the graph's seed.

    Returns:
      Logits, float [batch, 10], the dtype of images.

    Example:
      >>> mlp_logits(tf.zeros([32, 28, 28, 1])).shape.as_list()
      [32, 10]
    """
    net = layers.flatten(images)
    for units in hidden_units:
        net = layers.dense(net, units, activation=tf.nn.relu, seed=seed)
        net = layers.dropout(net, rate=dropout_rate, training=training, seed=seed)
    return layers.dense(net, CLASSES, seed=seed)


def mlp_model_fn(features, labels, mode, params):
    """A model_fn: the multi-layer perceptron.

    Args:
      features: float [batch, 28, 28] or [batch, 28, 28, 1] pixels in [0, 1], or a dict
        whose "image" is that.
      labels: int [batch] digits; None in prediction.
      mode: a `graphtrain.estimator.ModeKeys` value.
      params: dict of the fields of `MlpSettings`; what is not there has its default.

    Returns:
      An `EstimatorSpec`.

    Raises:
      UsageError: a name or value in params, or the features, cannot be used.

    Example:
      >>> images, labels = tf.zeros([32, 28, 28]), tf.zeros([32], tf.int64)
      >>> spec = mlp_model_fn(images, labels, "train", {"hidden_units": [64]})
      >>> spec.predictions["class"].shape.as_list()
      [32]
    """
    settings = MlpSettings.from_params(params)
    logits = mlp_logits(
        images_from(features),
        hidden_units=settings.hidden_units,
        dropout_rate=settings.dropout_rate,
        training=mode == ModeKeys.TRAIN,
        seed=settings.seed,
    )
    return classifier_spec(mode, logits, labels, settings)
