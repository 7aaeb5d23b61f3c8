"""What an exported model answers: one `ExportOutput` for each signature."""

import abc

import tensorflow as tf

from graphtrain.errors import UsageError

tf1 = tf.compat.v1

DEFAULT_SIGNATURE = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY


class ExportOutput(abc.ABC):
    """The outputs of one signature of an exported model."""

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors):
        """Returns the SignatureDef from the tensors that are fed to these outputs.

        Args:
          receiver_tensors: dict of str to tensor, what a request feeds.

        Returns:
          A `SignatureDef`.

        Raises:
          UsageError: these outputs cannot be served from such tensors.
        """


class PredictOutput(ExportOutput):
    """The outputs of a model that is neither a plain classifier nor a regressor.

    Args:
      outputs: a tensor, served under the name "output", or a dict of name to tensor. A name
        may be a tuple of str, which is joined by "/".

    Raises:
      UsageError: a name is not a str, or a value not a tensor.

    Example:
      >>> graphtrain.export.PredictOutput({"class": tf.constant([3])}).outputs["class"].dtype
      tf.int32
    """

    def __init__(self, outputs):
        if not isinstance(outputs, dict):
            outputs = {"output": outputs}
        self._outputs = {_output_name(key): value for key, value in outputs.items()}
        for name, value in self._outputs.items():
            if not tf.is_tensor(value):
                raise UsageError(f"Prediction output {name!r} must be a tensor, got {value!r}.")

    @property
    def outputs(self):
        """Dict of name to tensor."""
        return self._outputs

    def as_signature_def(self, receiver_tensors):
        """Returns a predict signature; see `ExportOutput`."""
        return tf1.saved_model.predict_signature_def(receiver_tensors, self._outputs)


class ClassificationOutput(ExportOutput):
    """The scores and labels of a classifier, served from serialized `tf.Example`s.

    Args:
      scores: float tensor, a score for each class, or None.
      classes: string tensor, the labels, or None; with `scores`, the two are zipped.

    Raises:
      UsageError: neither is given, or one has another dtype.

    Example:
      >>> graphtrain.export.ClassificationOutput(scores=tf.constant([[0.1, 0.9]])).scores.shape
      TensorShape([1, 2])
    """

    def __init__(self, scores=None, classes=None):
        if scores is None and classes is None:
            raise UsageError("ClassificationOutput needs scores, classes or both, got neither.")
        if scores is not None and not (tf.is_tensor(scores) and scores.dtype.is_floating):
            raise UsageError(f"Classification scores must be a float tensor, got {scores!r}.")
        if classes is not None and not (tf.is_tensor(classes) and classes.dtype == tf.string):
            raise UsageError(f"Classification classes must be a string tensor, got {classes!r}.")
        self._scores = scores
        self._classes = classes

    @property
    def scores(self):
        """Float tensor or None."""
        return self._scores

    @property
    def classes(self):
        """String tensor or None."""
        return self._classes

    def as_signature_def(self, receiver_tensors):
        """Returns a classification signature; see `ExportOutput`."""
        examples = _serialized_examples(receiver_tensors, "Classification")
        return tf1.saved_model.classification_signature_def(examples, self._classes, self._scores)


class RegressionOutput(ExportOutput):
    """The value of a regressor, served from serialized `tf.Example`s.

    Args:
      value: float tensor, the predicted values.

    Raises:
      UsageError: `value` is not a float tensor.

    Example:
      >>> graphtrain.export.RegressionOutput(tf.constant([0.5])).value.shape
      TensorShape([1])
    """

    def __init__(self, value):
        if not (tf.is_tensor(value) and value.dtype.is_floating):
            raise UsageError(f"Regression value must be a float tensor, got {value!r}.")
        self._value = value

    @property
    def value(self):
        """Float tensor."""
        return self._value

    def as_signature_def(self, receiver_tensors):
        """Returns a regression signature; see `ExportOutput`."""
        examples = _serialized_examples(receiver_tensors, "Regression")
        return tf1.saved_model.regression_signature_def(examples, self._value)


def with_default_signature(export_outputs, predictions):
    """Returns the export outputs, with one of them as the default signature.

    Args:
      export_outputs: dict of name to `ExportOutput`, or None for the predictions.
      predictions: a tensor or a dict of tensors.

    Returns:
      A new dict, which has the default signature's key.

    Raises:
      TypeError: not a dict of `ExportOutput`s.
      UsageError: there are several and none has the default signature's key.

    Example:
      >>> predictions = {"class": tf.constant([3])}
      >>> list(graphtrain.export.outputs.with_default_signature(None, predictions))
      ['serving_default']
    """
    if export_outputs is None:
        return {DEFAULT_SIGNATURE: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"export_outputs must be a dict, got {export_outputs!r}.")
    for name, output in export_outputs.items():
        if not isinstance(output, ExportOutput):
            raise TypeError(f"export_outputs[{name!r}] must be an ExportOutput, got {output!r}.")
    if len(export_outputs) == 1:
        (only,) = export_outputs.values()
        return {**export_outputs, DEFAULT_SIGNATURE: only}
    if len(export_outputs) > 1 and DEFAULT_SIGNATURE not in export_outputs:
        raise UsageError(
            f"export_outputs has {sorted(export_outputs)}, but none of them is the default: "
            f"name one of them {DEFAULT_SIGNATURE!r}."
        )
    return dict(export_outputs)


def _output_name(key):
    name = "/".join(key) if isinstance(key, tuple) else key
    if not isinstance(name, str):
        raise UsageError(f"The name of a prediction output must be a str, got {key!r}.")
    return name


def _serialized_examples(receiver_tensors, kind):
    tensors = list(receiver_tensors.values())
    if len(tensors) != 1 or tensors[0].dtype != tf.string:
        raise UsageError(
            f"{kind} signatures take a single string tensor of serialized tf.Examples, got "
            f"{receiver_tensors}. Build the receiver by build_parsing_serving_input_receiver_fn, "
            "or use a PredictOutput."
        )
    return tensors[0]
