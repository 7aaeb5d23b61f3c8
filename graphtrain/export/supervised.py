"""What an exported training or evaluation graph is fed with, and what it answers."""

import collections

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.export import receivers
from graphtrain.export.outputs import ExportOutput

tf1 = tf.compat.v1

_METHOD_NAMES = {
    "train": "tensorflow/supervised/training",
    "eval": "tensorflow/supervised/eval",
}


class SupervisedInputReceiver(
    collections.namedtuple("SupervisedInputReceiver", "features labels receiver_tensors")
):
    """What an input receiver function returns for a graph that trains or evaluates.

    Args:
      features: tensor, or dict of str (or int) to tensor, that the model_fn is given.
      labels: tensor, or dict of str (or int) to tensor, that the model_fn is given.
      receiver_tensors: dict of str to tensor that is fed; a single tensor is wrapped as
        `{"input": tensor}`.

    Raises:
      UsageError: something is missing, no tensor, or has a name of the wrong type.

    Example:
      >>> image = tf1.placeholder(tf.float32, [None, 28, 28])
      >>> digit = tf1.placeholder(tf.int32, [None])
      >>> fed = {"image": image, "digit": digit}
      >>> SupervisedInputReceiver(image, digit, fed).labels is digit
      True
    """

    __slots__ = ()

    def __new__(cls, features, labels, receiver_tensors):
        """Validates the arguments; see the class."""
        for name, value in (("features", features), ("labels", labels)):
            receivers.checked(name, value, name, key_types=(str, int))
        fed = receivers.checked("receiver_tensors", receiver_tensors, "input")
        return super().__new__(cls, features, labels, fed)

    @property
    def receiver_tensors_alternatives(self):
        """None: such a graph is fed in one way."""
        return None


def build_raw_supervised_input_receiver_fn(features, labels, default_batch_size=None):
    """Makes an input receiver function by which the features and labels themselves are fed.

    Args:
      features: tensor, or dict of str to tensor; of each only the dtype, and the shape after the
        first dimension, matter. A single one is fed as "input".
      labels: as `features`; a single one is fed as "label".
      default_batch_size: int, the first dimension; None for any.

    Returns:
      A function without arguments that returns a `SupervisedInputReceiver`.

    Raises:
      UsageError: features and labels share a name.

    Example:
      >>> receiver_fn = build_raw_supervised_input_receiver_fn({"x": tf.zeros([8, 3])}, tf.zeros(8))
      >>> sorted(receiver_fn().receiver_tensors)
      ['label', 'x']
    """
    feature_specs = receivers.specs_of("features", features, "input", default_batch_size)
    label_specs = receivers.specs_of("labels", labels, "label", default_batch_size)
    shared = sorted(set(feature_specs) & set(label_specs))
    if shared:
        raise UsageError(f"Features and labels must have names of their own, both have {shared}.")

    def input_receiver_fn():
        fed_features = receivers.placeholders(feature_specs)
        fed_labels = receivers.placeholders(label_specs)
        return SupervisedInputReceiver(
            fed_features if isinstance(features, dict) else fed_features["input"],
            fed_labels if isinstance(labels, dict) else fed_labels["label"],
            {**fed_features, **fed_labels},
        )

    return input_receiver_fn


class SupervisedOutput(ExportOutput):
    """The outputs of a graph that trains or evaluates: loss, predictions and metrics.

    Args:
      mode: "train" or "eval".
      loss: scalar tensor.
      predictions: a tensor or a dict of tensors.
      metrics: dict of name to `(value, update_op)`.

    Example:
      >>> metrics = {"accuracy": (tf.constant(0.5), tf.no_op())}
      >>> output = SupervisedOutput("eval", tf.constant(2.0), {"class": tf.constant([3])}, metrics)
      >>> sorted(output.outputs)
      ['loss', 'metrics/accuracy/update_op', 'metrics/accuracy/value', 'predictions/class']
    """

    def __init__(self, mode, loss, predictions, metrics):
        self._mode = mode
        if not isinstance(predictions, dict):
            named = {"predictions": predictions}
        else:
            named = {f"predictions/{key}": value for key, value in predictions.items()}
        self._outputs = {"loss": loss, **named}
        for name, (value, update) in metrics.items():
            self._outputs[f"metrics/{name}/value"] = value
            self._outputs[f"metrics/{name}/update_op"] = _as_tensor(update)

    @property
    def outputs(self):
        """Dict of name to tensor."""
        return self._outputs

    def as_signature_def(self, receiver_tensors):
        """Returns a training or evaluation signature; see `ExportOutput`."""
        signature = tf1.saved_model.predict_signature_def(receiver_tensors, self._outputs)
        signature.method_name = _METHOD_NAMES[self._mode]
        return signature


def _as_tensor(op_or_tensor):
    if not isinstance(op_or_tensor, tf.Operation):
        return op_or_tensor
    with tf.control_dependencies([op_or_tensor]):
        return tf.constant([])
