"""What an exported model is fed with: placeholders, and the features made from them."""

import collections

import tensorflow as tf

from graphtrain.errors import UsageError

tf1 = tf.compat.v1

_FEATURE = "feature"
_RECEIVER = "input"


class ServingInputReceiver(
    collections.namedtuple(
        "ServingInputReceiver", "features receiver_tensors receiver_tensors_alternatives"
    )
):
    """What a serving_input_receiver_fn returns for a model that takes a dict of features.

    Args:
      features: dict of str (or int) to tensor that the model_fn is given; a single tensor is
        wrapped as `{"feature": tensor}`.
      receiver_tensors: dict of str to tensor that a request feeds; a single tensor is wrapped
        as `{"input": tensor}`.
      receiver_tensors_alternatives: dict of str to such receiver tensors, or None: other places
        at which a request may feed, each with signatures of its own.

    Raises:
      UsageError: something is missing, no tensor, or has a name of the wrong type.

    Example:
      >>> image = tf1.placeholder(tf.float32, [None, 28, 28])
      >>> list(ServingInputReceiver({"image": image}, image).receiver_tensors)
      ['input']
    """

    __slots__ = ()

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        """Validates the arguments; see the class."""
        alternatives = receiver_tensors_alternatives
        if alternatives is not None:
            if not isinstance(alternatives, dict):
                raise UsageError(
                    f"receiver_tensors_alternatives must be a dict, got {alternatives!r}."
                )
            alternatives = {
                name: checked("receiver_tensors_alternatives", tensors, _RECEIVER)
                for name, tensors in alternatives.items()
            }
        return super().__new__(
            cls,
            features=checked("features", features, _FEATURE, key_types=(str, int)),
            receiver_tensors=checked("receiver_tensors", receiver_tensors, _RECEIVER),
            receiver_tensors_alternatives=alternatives,
        )


class TensorServingInputReceiver(
    collections.namedtuple(
        "TensorServingInputReceiver", "features receiver_tensors receiver_tensors_alternatives"
    )
):
    """What a serving_input_receiver_fn returns for a model that takes a single tensor.

    Args:
      features: tensor that the model_fn is given as it is.
      receiver_tensors: see `ServingInputReceiver`.
      receiver_tensors_alternatives: see `ServingInputReceiver`.

    Raises:
      UsageError: see `ServingInputReceiver`.

    Example:
      >>> image = tf1.placeholder(tf.float32, [None, 28, 28])
      >>> TensorServingInputReceiver(image, {"image": image}).features is image
      True
    """

    __slots__ = ()

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        """Validates the arguments; see the class."""
        if isinstance(features, dict):
            raise UsageError(
                f"features must be a single tensor, got {features!r}: use ServingInputReceiver."
            )
        receiver = ServingInputReceiver(features, receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(
            cls,
            features=features,
            receiver_tensors=receiver.receiver_tensors,
            receiver_tensors_alternatives=receiver.receiver_tensors_alternatives,
        )


def build_raw_serving_input_receiver_fn(features, default_batch_size=None):
    """Makes a serving_input_receiver_fn by which requests feed the features themselves.

    Args:
      features: dict of str to tensor; of each only the dtype, and the shape after the first
        dimension, matter.
      default_batch_size: int, the first dimension; None for any.

    Returns:
      A function without arguments that returns a `ServingInputReceiver`.

    Example:
      >>> receiver_fn = build_raw_serving_input_receiver_fn({"x": tf.zeros([8, 3])})
      >>> receiver_fn().features["x"].shape
      TensorShape([None, 3])
    """
    specs = specs_of("features", features, _FEATURE, default_batch_size)

    def serving_input_receiver_fn():
        fed = placeholders(specs)
        return ServingInputReceiver(fed, fed)

    return serving_input_receiver_fn


def build_parsing_serving_input_receiver_fn(feature_spec, default_batch_size=None):
    """Makes a serving_input_receiver_fn by which requests feed serialized `tf.Example`s.

    Args:
      feature_spec: dict of str to `tf.io.FixedLenFeature`, `VarLenFeature` and the like.
      default_batch_size: int, how many examples a request holds; None for any.

    Returns:
      A function without arguments that returns a `ServingInputReceiver`.

    Example:
      >>> spec = {"x": tf.io.FixedLenFeature([3], tf.float32)}
      >>> receiver_fn = build_parsing_serving_input_receiver_fn(spec)
      >>> receiver_fn().features["x"].shape
      TensorShape([None, 3])
    """

    def serving_input_receiver_fn():
        examples = tf1.placeholder(tf.string, [default_batch_size], name="input_example_tensor")
        features = tf.io.parse_example(examples, feature_spec)
        return ServingInputReceiver(features, {"examples": examples})

    return serving_input_receiver_fn


def specs_of(field, tensors, single_name, batch_size):
    """Returns what placeholders of some tensors look like, their batch of another size.

    Args:
      field: what the user calls the tensors, for the message.
      tensors: a tensor, or a dict of name to tensor.
      single_name: the name of a single tensor.
      batch_size: int or None, the first dimension.

    Returns:
      Dict of name to `tf.TensorSpec`.
    """
    return {
        name: tf.TensorSpec(
            tf.TensorShape([batch_size]).concatenate(tensor.shape[1:]), tensor.dtype
        )
        for name, tensor in checked(field, tensors, single_name, key_types=(str, int)).items()
    }


def placeholders(specs):
    """Returns a placeholder of each `tf.TensorSpec` of a dict."""
    return {
        name: tf1.placeholder(spec.dtype, spec.shape, name=str(name))
        for name, spec in specs.items()
    }


def checked(field, tensors, single_name, *, key_types=(str,)):
    """Returns a dict of name to tensor; a single tensor gets `single_name`.

    Raises:
      UsageError: there is none, a value is no tensor, or a name has another type.
    """
    if tensors is None:
        raise UsageError(f"{field} must be given, got None.")
    if not isinstance(tensors, dict):
        tensors = {single_name: tensors}
    for name, tensor in tensors.items():
        if not isinstance(name, key_types):
            raise UsageError(f"The names in {field} must be str, got {name!r}.")
        if not tf.is_tensor(tensor):
            raise UsageError(f"{field}[{name!r}] must be a tensor, got {tensor!r}.")
    return tensors
