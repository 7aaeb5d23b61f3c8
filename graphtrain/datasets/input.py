"""From images in memory to batches for a model_fn."""

import numpy as np
import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError
from graphtrain.session.inputs import feed_at_initialization

tf1 = tf.compat.v1

# To look for Python loops in the functions of a dataset takes longer than to build the dataset.
_as_it_is = tf.autograph.experimental.do_not_convert


def image_input_fn(images, labels=None, *, batch_size, epochs=None, shuffle=False, seed=None):
    """Makes an input_fn of images in memory.

    The arrays are not in the graph: they are fed once, when the iterator starts. The order
    of each epoch is a permutation drawn from (seed, epoch), so that a checkpoint of the
    iterator holds two numbers and no shuffle buffer, and a resumed run is exact.

    Args:
      images: uint8 [n, 28, 28].
      labels: int [n]; None if there are none.
      batch_size: examples in a batch, a whole number >= 1; the last batch of an epoch has
        what is left.
      epochs: how often each image comes; None is without end.
      shuffle: whether each epoch has an order of its own.
      seed: an int that fixes these orders; None takes the graph's seed
        (`tf.compat.v1.set_random_seed`), or 0.

    Returns:
      A function that returns, given nothing or the `tf.distribute.InputContext` of one of several
      processes, which then reads its part of each epoch, a `tf.data.Dataset` of
      ({"image": float32 [batch, 28, 28, 1] in [0, 1]}, int64 [batch]), without labels of
      {"image": ...} alone.

    Raises:
      UsageError: a value makes no sense.

    Example:
      >>> images, labels = np.zeros([100, 28, 28], np.uint8), np.zeros([100], np.int64)
      >>> input_fn = image_input_fn(images, labels, batch_size=32, epochs=1)
      >>> input_fn().element_spec[1]
      TensorSpec(shape=(None,), dtype=tf.int64, name=None)
    """
    if images.dtype != np.uint8 or images.ndim != 3 or not len(images):
        raise UsageError(
            f"images of type {images.dtype} and shape {images.shape} cannot be used: give uint8 "
            "[n, 28, 28], with one image or more"
        )
    if labels is not None and len(labels) != len(images):
        raise UsageError(
            f"{len(labels)} labels cannot be used with {len(images)} images: give one for each"
        )
    batch_size = checks.whole("batch_size", batch_size)
    if epochs is not None:
        epochs = checks.whole("epochs", epochs)

    def input_fn(input_context=None):
        shards, shard = 1, 0
        if input_context is not None:
            shards = input_context.num_input_pipelines
            shard = input_context.input_pipeline_id
        pixels = _fed(images)
        digits = None if labels is None else _fed(labels)
        order_seed = tf1.get_default_graph().seed or 0 if seed is None else seed

        @_as_it_is
        def batches_of(epoch):
            order = tf.range(len(images), dtype=tf.int64)
            if shuffle:
                order = tf.random.experimental.stateless_shuffle(order, [order_seed, epoch])
            if shards > 1:
                order = order[shard::shards]
            return tf.data.Dataset.from_tensor_slices(order).batch(batch_size)

        @_as_it_is
        def examples_at(positions):
            image = tf.cast(tf.gather(pixels, positions), tf.float32) / 255
            features = {"image": image[..., tf.newaxis]}
            if digits is None:
                return features
            return features, tf.cast(tf.gather(digits, positions), tf.int64)

        counted = tf.data.Dataset.counter().take(-1 if epochs is None else epochs)
        batches = counted.flat_map(batches_of).map(examples_at).prefetch(tf.data.AUTOTUNE)
        return batches.with_options(_one_thread())

    return input_fn


def steps_per_epoch(example_count, batch_size):
    """Counts the batches of an epoch, the last, smaller one included.

    Args:
      example_count: how many examples there are.
      batch_size: examples in a batch.

    Returns:
      The number of steps.

    Example:
      >>> steps_per_epoch(6000, 32)
      188
    """
    return -(-example_count // batch_size)


def _fed(array):
    return feed_at_initialization(tf1.placeholder(array.dtype, array.shape), array)


def _one_thread():
    # A batch is small work: to hand its ops to other threads costs more than it gains.
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    return options
