"""Batches of arrays in memory."""

import dataclasses

import numpy as np
import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError
from graphtrain.session.inputs import declare_iterator, feed_at_initialization

tf1 = tf.compat.v1


@dataclasses.dataclass(frozen=True)
class Batches:
    """How examples are ordered and put together.

    Args:
      batch_size: examples in a batch, a whole number >= 1.
      num_epochs: how often each example comes; None is without end.
      shuffle: whether each epoch has an order of its own; it must be said.

    Raises:
      UsageError: a value makes no sense.
    """

    batch_size: int
    num_epochs: int | None
    shuffle: bool

    def __post_init__(self):
        if not isinstance(self.shuffle, bool):
            raise UsageError(
                f"shuffle={self.shuffle!r} cannot be used: say True (best for training) or False."
            )
        checks.whole("batch_size", self.batch_size)
        if self.num_epochs is not None:
            checks.whole("num_epochs", self.num_epochs)

    def of(self, arrays):
        """Returns the tensors of the next batch.

        The arrays are not in the graph: they are fed once, when the iterator starts. The order
        of each epoch is a permutation drawn from (the graph's seed or 0, the epoch), so that a
        checkpoint of the iterator holds numbers and no examples.

        Args:
          arrays: a structure of numpy arrays [n, ...].

        Returns:
          The same structure of tensors [batch, ...]. Batches run on into the next epoch; the
          very last one has what is left.
        """
        count = len(tf.nest.flatten(arrays)[0])
        fed = tf.nest.map_structure(_fed, arrays)
        seed = tf1.get_default_graph().seed or 0

        def order_of(epoch):
            order = tf.range(count, dtype=tf.int64)
            if self.shuffle:
                order = tf.random.experimental.stateless_shuffle(order, [seed, epoch])
            return tf.data.Dataset.from_tensor_slices(order)

        def examples_at(positions):
            return tf.nest.map_structure(lambda array: tf.gather(array, positions), fed)

        endless = self.num_epochs is None
        epochs = tf.data.Dataset.counter().take(-1 if endless else self.num_epochs)
        order = epochs.flat_map(order_of).batch(self.batch_size, drop_remainder=endless)
        dataset = order.map(examples_at).prefetch(tf.data.AUTOTUNE)
        return declare_iterator(tf1.data.make_initializable_iterator(dataset)).get_next()


def check_lengths(arrays):
    """Checks that there are examples, and as many in each array.

    Args:
      arrays: dict of what the user calls an array, for the message, to a numpy array.

    Raises:
      UsageError: the arrays differ in length, or are empty.
    """
    shapes = {name: array.shape for name, array in arrays.items()}
    lengths = {shape[0] if shape else None for shape in shapes.values()}
    if len(lengths) > 1 or None in lengths:
        raise UsageError(
            f"All elements of x and y must have the same length, one entry for each example, got "
            f"the shapes {shapes}."
        )
    if lengths == {0}:
        raise UsageError(f"There are no examples: x and y have the shapes {shapes}.")


def _fed(array):
    if array.dtype.kind in "OSU":
        # TensorFlow has one type for all of them.
        array = array.astype(object)
    return feed_at_initialization(
        tf1.placeholder(tf.as_dtype(array.dtype), array.shape), np.asarray(array)
    )
