"""Small layers for TF1-style graphs, with the names and variables of `tf.layers`.

Keras 3 took `tf.layers` away: its layers neither work on these graphs nor fill
`UPDATE_OPS`. These do, and a checkpoint that `tf.layers` wrote fits them: a layer called
without a name is `dense`, the next one `dense_1`, and its variables are `dense/kernel`,
`dense_1/bias`, `batch_normalization/moving_mean`.

`training` is a Python bool: graphs for training, evaluation and export are built one by
one, so that no graph can run in the wrong mode.
"""

import math
import zlib

import tensorflow as tf

from graphtrain import checks
from graphtrain.distribute import all_reduce
from graphtrain.errors import UsageError

tf1 = tf.compat.v1

BATCH_NORM_EPSILON = 1e-3


def flatten(inputs):
    """Makes each example a vector.

    Args:
      inputs: [batch, ...], with a known shape but for the batch.

    Returns:
      [batch, features], the dtype of inputs.

    Raises:
      UsageError: the size of an example is not known while the graph is built.

    Example:
      >>> flatten(tf.zeros([2, 28, 28, 1])).shape.as_list()
      [2, 784]
    """
    example = inputs.shape[1:]
    if not example.is_fully_defined():
        raise UsageError(
            f"inputs of shape {inputs.shape} cannot be flattened: all of it but the batch "
            "must be known while the graph is built; use set_shape() or tf.ensure_shape()"
        )
    return tf.reshape(inputs, [-1, math.prod(example)])


def dense(inputs, units, *, activation=None, use_bias=True, seed=None, name=None):
    """Adds a fully connected layer: activation(inputs @ kernel + bias).

    The kernel starts as Glorot and Bengio's uniform draw, the bias as zeros.

    Args:
      inputs: float [..., features].
      units: how many outputs, a whole number >= 1.
      activation: a function of the outputs, such as tf.nn.relu.
      use_bias: whether there is a bias.
      seed: fixes the kernel's first values, which also depend on the layer's name; None
        leaves them to the graph's seed.
      name: the variable scope; by default the next free of `dense`, `dense_1`, ...

    Returns:
      float [..., units], the dtype of inputs.

    Raises:
      UsageError: a value makes no sense.

    Example:
      >>> outputs = dense(tf.zeros([2, 5]), 3)
      >>> [variable.op.name for variable in tf1.trainable_variables()]
      ['dense/kernel', 'dense/bias']
    """
    units = checks.whole("units", units)
    with tf1.variable_scope(name, default_name="dense") as scope:
        kernel = _kernel([_channels(inputs), units], inputs.dtype, seed, scope)
        return _activated(tf.matmul(inputs, kernel), use_bias, activation)


def conv2d(
    inputs,
    filters,
    kernel_size,
    *,
    strides=1,
    padding="SAME",
    activation=None,
    use_bias=True,
    seed=None,
    name=None,
):
    """Adds a 2-D convolution: activation(inputs * kernel + bias).

    The kernel starts as Glorot and Bengio's uniform draw, the bias as zeros.

    Args:
      inputs: float [batch, height, width, channels].
      filters: how many output channels, a whole number >= 1.
      kernel_size: height and width of the kernel, a whole number >= 1.
      strides: step of the kernel in both directions, a whole number >= 1.
      padding: "SAME" or "VALID".
      activation: a function of the outputs, such as tf.nn.relu.
      use_bias: whether there is a bias; leave it out before a batch norm.
      seed: as for `dense`.
      name: the variable scope; by default the next free of `conv2d`, `conv2d_1`, ...

    Returns:
      float [batch, new height, new width, filters], the dtype of inputs.

    Raises:
      UsageError: a value makes no sense.

    Example:
      >>> conv2d(tf.zeros([2, 28, 28, 1]), 32, 3, strides=2).shape.as_list()
      [2, 14, 14, 32]
    """
    filters = checks.whole("filters", filters)
    size = checks.whole("kernel_size", kernel_size)
    strides = checks.whole("strides", strides)
    checks.one_of("padding", padding, ("SAME", "VALID"))
    with tf1.variable_scope(name, default_name="conv2d") as scope:
        kernel = _kernel([size, size, _channels(inputs), filters], inputs.dtype, seed, scope)
        outputs = tf.nn.conv2d(inputs, kernel, strides, padding)
        return _activated(outputs, use_bias, activation)


def batch_norm(inputs, *, training, momentum=0.99, fused=True, name=None):
    """Adds batch normalization over the last axis: gamma * (x - mean) / sqrt(var + 1e-3) + beta.

    In training, mean and variance are the batch's, and an op in `UPDATE_OPS` moves the
    averages towards them: moving = momentum * moving + (1 - momentum) * batch. Otherwise
    they are those averages. As in tf.layers, the average of TensorFlow's fused kernel is of
    the variance divided by n - 1 rather than n.

    See Ioffe and Szegedy, "Batch Normalization", 2015.

    Args:
      inputs: float [batch, ..., channels].
      training: Python bool, whether to use the batch's mean and variance.
      momentum: how slowly the averages move, in [0, 1). At 0.99 they need hundreds of
        steps before evaluation is as good as training; 0.9 needs tens.
      fused: whether float32 images, [batch, height, width, channels], take TensorFlow's
        fused kernel: faster, and rounding a little otherwise.
      name: the variable scope; by default the next free of `batch_normalization`,
        `batch_normalization_1`, ...

    Returns:
      float, the shape and dtype of inputs.

    Raises:
      UsageError: a value makes no sense.

    Example:
      >>> outputs = batch_norm(tf.ones([8, 3]), training=True)
      >>> [variable.op.name for variable in tf1.trainable_variables()]
      ['batch_normalization/gamma', 'batch_normalization/beta']
      >>> len(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS))
      2
    """
    momentum = checks.real("momentum", momentum, at_least=0, below=1)
    with tf1.variable_scope(name, default_name="batch_normalization") as scope:
        # The averages are assigned whole, which variables in parts do not allow.
        scope.set_partitioner(None)

        def variable(variable_name, initializer, trainable):
            return tf1.get_variable(
                variable_name,
                [_channels(inputs)],
                inputs.dtype,
                initializer,
                trainable=trainable,
            )

        gamma = variable("gamma", tf1.ones_initializer(), trainable=True)
        beta = variable("beta", tf1.zeros_initializer(), trainable=True)
        moving_mean = variable("moving_mean", tf1.zeros_initializer(), trainable=False)
        moving_variance = variable("moving_variance", tf1.ones_initializer(), trainable=False)

        normalize = _fused_normalize if fused and _can_fuse(inputs) else _plain_normalize
        if not training:
            return normalize(inputs, gamma, beta, moving_mean, moving_variance)[0]
        outputs, mean, variance = normalize(inputs, gamma, beta)
        for average, value in ((moving_mean, mean), (moving_variance, variance)):
            update = tf1.assign_sub(average, (average - value) * (1 - momentum))
            tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, update.op)
        return outputs


def dropout(inputs, *, rate, training, seed=None, name=None):
    """Sets a random part of the inputs to zero in training, and scales up the rest.

    The mask is drawn from (seed, layer's name, global step, worker), and from nothing that a
    restart forgets: each evaluation within a step has the same mask, a resumed run has the
    masks of an unbroken one, and two layers have different masks.

    See Srivastava et al., "Dropout", 2014.

    Args:
      inputs: float, any shape.
      rate: the part set to zero, in [0, 1).
      training: Python bool; nothing is set to zero if it is False.
      seed: an int; None takes the graph's seed (`tf.compat.v1.set_random_seed`), or 0.
      name: by default the next free of `dropout`, `dropout_1`, ...

    Returns:
      float, the shape and dtype of inputs.

    Raises:
      UsageError: a value makes no sense.

    Example:
      >>> step = tf1.train.create_global_step()
      >>> outputs = dropout(tf.ones([10000]), rate=0.5, training=True, seed=1)
      >>> with tf1.Session() as session:
      ...     session.run(tf1.global_variables_initializer())
      ...     first, again = session.run(outputs), session.run(outputs)
      >>> bool((first == again).all()), sorted(set(first.tolist()))
      (True, [0.0, 2.0])
    """
    rate = checks.real("rate", rate, at_least=0, below=1)
    with tf1.variable_scope(name, default_name="dropout") as scope:
        if not training or rate == 0:
            return tf.identity(inputs)
        if seed is None:
            seed = tf1.get_default_graph().seed or 0
        group = all_reduce.of_default_graph()
        if group is not None and not group.is_chief:
            # The workers' examples are others, so are their masks.
            seed = f"{seed}:{group.index}"
        draw = tf.random.stateless_uniform(
            tf.shape(inputs), [_salted(seed, scope.name), tf.cast(_global_step(), tf.int64)]
        )
        return inputs * (tf.cast(draw >= rate, inputs.dtype) / (1 - rate))


def _kernel(shape, dtype, seed, scope):
    if seed is not None:
        seed = _salted(seed, scope.name)
    return tf1.get_variable("kernel", shape, dtype, tf1.glorot_uniform_initializer(seed=seed))


def _activated(outputs, use_bias, activation):
    if use_bias:
        bias = tf1.get_variable(
            "bias", [_channels(outputs)], outputs.dtype, tf1.zeros_initializer()
        )
        outputs = tf.nn.bias_add(outputs, bias)
    return activation(outputs) if activation else outputs


def _can_fuse(inputs):
    return inputs.shape.rank == 4 and inputs.dtype == tf.float32


def _fused_normalize(inputs, gamma, beta, mean=None, variance=None):
    return tf1.nn.fused_batch_norm(
        inputs,
        gamma,
        beta,
        mean,
        variance,
        epsilon=BATCH_NORM_EPSILON,
        is_training=mean is None,
    )


def _plain_normalize(inputs, gamma, beta, mean=None, variance=None):
    if mean is None:
        mean, variance = tf.nn.moments(inputs, list(range(inputs.shape.rank - 1)))
    outputs = tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, BATCH_NORM_EPSILON)
    return outputs, mean, variance


def _channels(inputs):
    if inputs.shape.rank is None or inputs.shape[-1] is None:
        raise UsageError(
            f"inputs of shape {inputs.shape} cannot be used: the last axis must be known "
            "while the graph is built; use set_shape() or tf.ensure_shape()"
        )
    return inputs.shape[-1]


def _global_step():
    # Made at the root, so that it is `global_step` in every graph whatever the layer's scope.
    with tf1.variable_scope(tf1.VariableScope(reuse=False)):
        return tf1.train.get_or_create_global_step()


def _salted(seed, name):
    # Python's hash() of a string changes from process to process.
    return zlib.crc32(f"{name}:{seed}".encode())
