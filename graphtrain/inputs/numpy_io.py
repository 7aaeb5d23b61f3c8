"""An input_fn from numpy arrays."""

import numpy as np

from graphtrain.errors import UsageError
from graphtrain.inputs.batches import Batches, check_lengths


def numpy_input_fn(
    x,
    y=None,
    batch_size=128,
    num_epochs=1,
    shuffle=None,
    queue_capacity=1000,
    num_threads=1,
):
    """Makes an input_fn of numpy arrays.

    Args:
      x: array [n, ...], or a dict of str to such arrays: the features.
      y: array [n, ...] or a dict of such arrays: the labels; None if there are none.
      batch_size: examples in a batch, a whole number >= 1.
      num_epochs: how often each example comes; None is without end.
      shuffle: bool, whether each epoch has a random order of its own, drawn from the graph's
        seed (`RunConfig.tf_random_seed`; 0 if it has none). It must be given.
      queue_capacity: accepted and not used: there is no queue; a shuffle mixes all examples.
      num_threads: accepted and not used.

    Returns:
      A function without arguments that returns (features, labels), or the features alone if `y`
      is None: tensors, or dicts of them, as `x` and `y` are.

    Raises:
      UsageError: `shuffle` is no bool, a dict is empty, a key is in both dicts, lengths differ
        or are 0, or a number is not >= 1.
      TypeError: `x` is neither a dict nor an array.

    Example:
      >>> x = {"age": np.arange(4.0), "height": np.arange(32.0, 36.0)}
      >>> input_fn = numpy_input_fn(x, np.arange(-4, 0), batch_size=2, shuffle=False)
      >>> features, labels = input_fn()
      >>> with graphtrain.MonitoredTrainingSession() as session:
      ...     session.run([features["age"], labels])
      [array([0., 1.]), array([-4, -3])]
    """
    del queue_capacity, num_threads
    batches = Batches(batch_size, num_epochs, shuffle)
    features = _checked_features(x)
    labels = _checked_labels(y)
    if isinstance(features, dict) and isinstance(labels, dict):
        shared = sorted(features.keys() & labels.keys())
        if shared:
            raise UsageError(f"x and y must have keys of their own, but both have {shared}.")
    check_lengths({**_named("x", features), **_named("y", labels)})

    def input_fn():
        return batches.of(features if labels is None else (features, labels))

    return input_fn


def _checked_features(x):
    if not isinstance(x, (dict, np.ndarray)):
        raise TypeError(f"x must be a dict or an array, got {type(x).__name__}.")
    if not isinstance(x, dict):
        return x
    if not x:
        raise UsageError("x cannot be an empty dict.")
    return {key: np.asarray(value) for key, value in x.items()}


def _checked_labels(y):
    if isinstance(y, dict):
        if not y:
            raise UsageError("y cannot be an empty dict: use None.")
        return {key: np.asarray(value) for key, value in y.items()}
    return None if y is None else np.asarray(y)


def _named(name, arrays):
    if isinstance(arrays, dict):
        return {f"{name}[{key!r}]": array for key, array in arrays.items()}
    return {} if arrays is None else {name: arrays}
