"""Twenty searched steps in every kind of graph are those of the reference."""

import numpy as np
import pytest
import tensorflow as tf
from reference_search import assert_searches_alike

from graphtrain import LineSearchOptimizer

tf1 = tf.compat.v1

SGD = tf1.train.GradientDescentOptimizer


def momentum(rate):
    return tf1.train.MomentumOptimizer(rate, 0.9)


def batch():
    return tf1.placeholder(tf.float32, [8, 4], "x")


def feeds(count=20):
    random = np.random.RandomState(0)
    return [{"x:0": random.randn(8, 4).astype(np.float32)} for _ in range(count)]


def weights(name, *shape, **arguments):
    """A variable whose first value depends on its shape alone."""
    arguments.setdefault("initializer", tf1.glorot_uniform_initializer(seed=len(name)))
    return tf1.get_variable(name, shape, **arguments)


def layer(x, units, name):
    units_in = int(x.shape[-1])
    bias = weights(f"{name}/bias", units, initializer=tf1.zeros_initializer())
    return tf.matmul(x, weights(f"{name}/kernel", units_in, units)) + bias


def regression(predicted, x):
    return tf.reduce_mean(tf.square(predicted - tf.sin(tf.reduce_sum(x, 1, keepdims=True))))


def dense(x):
    return regression(layer(tf.nn.relu(layer(x, 5, "a")), 1, "b"), x)


def conv_and_batch_norm(x):
    hidden = tf.nn.conv2d(tf.reshape(x, [8, 2, 2, 1]), weights("kernel", 2, 2, 1, 3), 1, "SAME")
    scale = weights("scale", 3, initializer=tf1.ones_initializer())
    offset = weights("offset", 3, initializer=tf1.zeros_initializer())
    hidden, mean, _ = tf1.nn.fused_batch_norm(hidden, scale, offset)
    average = weights("average", 3, initializer=tf1.zeros_initializer(), trainable=False)
    tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, tf1.assign(average, 0.9 * average + 0.1 * mean))
    return regression(layer(tf.reshape(tf.nn.relu(hidden), [8, 12]), 1, "b"), x)


def conditional(x):
    hidden = layer(x, 5, "a")
    kernel = weights("branch", 5, 5)
    hidden = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.matmul(hidden, kernel), lambda: hidden * 0.5)
    return regression(layer(hidden, 1, "b"), x)


def while_loop(x):
    kernel = weights("loop", 4, 4)
    _, hidden = tf.while_loop(
        lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, kernel) + 0.1)), (0, x)
    )
    return regression(layer(hidden, 1, "b"), x)


def recurrent(x):
    kernel = weights("cell", 5, 4)
    inputs = tf.TensorArray(tf.float32, 4).unstack(tf.transpose(x))

    def body(i, state, outputs):
        state = tf.tanh(tf.matmul(tf.concat([inputs.read(i)[:, None], state], 1), kernel))
        return i + 1, state, outputs.write(i, state)

    start = (0, tf.zeros([8, 4]), tf.TensorArray(tf.float32, 4))
    _, _, outputs = tf.while_loop(lambda i, *_: i < 4, body, start)
    return regression(layer(tf.reduce_mean(outputs.stack(), 0), 1, "b"), x)


def function_call(x):
    call = tf.function(lambda hidden: tf.tanh(hidden) * 2)
    return regression(layer(call(layer(x, 5, "a")), 1, "b"), x)


def embedding(x):
    """Ids come twice; half of the rows are never touched."""
    ids = tf.cast(tf.abs(x) * 2, tf.int32) % 10
    rows = tf.nn.embedding_lookup(weights("table", 20, 3), ids)
    return regression(layer(tf.reduce_sum(rows, 1), 1, "b"), x)


def partitioned(x):
    parts = tf1.fixed_size_partitioner(3)
    rows = tf.nn.embedding_lookup(
        weights("table", 10, 3, partitioner=parts), tf.cast(tf.abs(x) * 2, tf.int32) % 10
    )
    kernel = weights("kernel", 3, 1, partitioner=parts)
    return regression(tf.matmul(tf.reduce_sum(rows, 1), tf.convert_to_tensor(kernel)), x)


def feature_columns(x):
    column = tf1.feature_column
    features = {"number": x[:, 0], "kind": tf.cast(tf.abs(x[:, 1]) * 3, tf.int64) % 6}
    number = tf.feature_column.numeric_column("number")
    kind = tf.feature_column.categorical_column_with_identity("kind", 6)
    buckets = tf.feature_column.bucketized_column(number, [-1.0, 0.0, 1.0])
    wide = column.linear_model(features, [number, kind, buckets])
    start = tf1.glorot_uniform_initializer(seed=1)
    embedded = tf.feature_column.embedding_column(kind, 3, initializer=start)
    deep = column.input_layer(features, [number, embedded])
    return regression(wide + layer(deep, 1, "b"), x)


def added_and_regularised(x):
    def regulariser(w):
        return 0.01 * tf.nn.l2_loss(w)

    hidden = tf.tanh(tf.matmul(x, weights("a", 4, 5, regularizer=regulariser)))
    first = regression(tf.matmul(hidden, weights("b", 5, 1, regularizer=regulariser)), x)
    tf1.losses.add_loss(first)
    tf1.losses.absolute_difference(x[:, :1], tf.matmul(hidden, weights("c1", 5, 1)))
    return tf1.losses.get_total_loss()


def stopped_gradient(x):
    hidden = layer(x, 5, "a")
    return regression(layer(hidden * tf.stop_gradient(tf.sigmoid(hidden)), 1, "b"), x)


def metrics_near_the_loss(x):
    loss = dense(x)
    mean, update = tf1.metrics.mean(loss)
    tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, update)
    return loss


def average_beside_the_loss(x):
    kernel = weights("kernel", 4, 1)
    average = weights("average", 4, 1, trainable=False)
    moved = tf1.assign(average, 0.9 * average + 0.1 * kernel)
    tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, moved)
    return regression(tf.matmul(x, kernel), x)


def not_all_weights(x):
    """An int and a float that are no weights are marked trainable."""
    weights("int_step", initializer=tf1.zeros_initializer(), dtype=tf.int32)
    weights("float_step", initializer=tf1.zeros_initializer())
    return dense(x)


def in_float64(x):
    x = tf.cast(x, tf.float64)
    kernel = weights("kernel", 4, 1, dtype=tf.float64)
    return regression(tf.matmul(x, kernel), x)


def in_bfloat16(x):
    x = tf.cast(x, tf.bfloat16)
    kernel = weights("kernel", 4, 1, dtype=tf.bfloat16, initializer=tf1.ones_initializer())
    return regression(tf.matmul(x, kernel), x)


def assert_minimized_alike(kind, make, rate):
    def build(optimizer):
        loss = kind(batch())
        with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
            return loss, optimizer.minimize(loss, tf1.train.get_or_create_global_step())

    trials, _ = assert_searches_alike(
        build, lambda: make(rate), feeds=feeds(), beside=("average",), shrink=0.5, min_scale=0.01
    )
    assert min(trials) < max(trials)


@pytest.mark.parametrize(
    ("kind", "make", "rate"),
    [
        (dense, momentum, 1.0),
        (conv_and_batch_norm, SGD, 3.0),
        (embedding, SGD, 2.0),
        (embedding, momentum, 1.0),
        (embedding, tf1.train.AdagradOptimizer, 2.0),
        (embedding, tf1.train.AdamOptimizer, 1.0),
        (partitioned, tf1.train.AdagradOptimizer, 2.0),
        (feature_columns, tf1.train.FtrlOptimizer, 2.0),
        (added_and_regularised, SGD, 2.0),
        (stopped_gradient, SGD, 2.0),
        (metrics_near_the_loss, SGD, 1.0),
        (average_beside_the_loss, SGD, 1.0),
        (not_all_weights, tf1.train.AdamOptimizer, 1.0),
        (in_float64, momentum, 1.0),
        (in_bfloat16, SGD, 1.0),
    ],
)
def test_plain_graphs(variables, kind, make, rate):
    assert_minimized_alike(kind, make, rate)


@pytest.mark.parametrize(
    ("kind", "make", "rate"),
    [
        (conditional, SGD, 1.0),
        (while_loop, momentum, 1.0),
        (recurrent, tf1.train.AdamOptimizer, 0.5),
        (function_call, SGD, 1.0),
    ],
)
def test_control_flow(graph_mode, kind, make, rate):
    assert_minimized_alike(kind, make, rate)


def clipped(loss, optimizer):
    """The idiom of most training loops before 2018."""
    gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
    gradients, _ = tf.clip_by_global_norm(gradients, 0.5)
    return optimizer.apply_gradients(zip(gradients, variables, strict=True))


def with_loss(optimizer, pairs, loss):
    """Applies gradients that the optimizer did not compute."""
    searched = isinstance(optimizer, LineSearchOptimizer)
    return optimizer.apply_gradients(pairs, **({"loss": loss} if searched else {}))


def bare_gradients(loss, optimizer):
    variables = tf1.trainable_variables()
    # All at once: without the search, a ref variable could change before the last is computed.
    gradients = tf1.tuple(tf.gradients(loss, variables))
    return with_loss(optimizer, zip(gradients, variables, strict=True), loss)


def averaged_over_towers(loss, optimizer):
    pairs = optimizer.compute_gradients(loss)
    other = optimizer.compute_gradients(loss**2)
    averaged = [((g1 + g2) / 2, v) for (g1, v), (g2, _) in zip(pairs, other, strict=True)]
    return with_loss(optimizer, averaged, (loss + loss**2) / 2)


def accumulated(loss, optimizer):
    """Half of the sum of the gradients so far, which variables hold, is applied and forgotten."""
    pairs = optimizer.compute_gradients(loss)
    sums = [weights(f"{v.op.name}/sum", *v.shape, trainable=False) for _, v in pairs]
    added = [tf1.assign_add(s, 0.5 * g) for s, (g, _) in zip(sums, pairs, strict=True)]
    with tf.control_dependencies(added):
        held = [s.read_value() for s in sums]
        applied = optimizer.apply_gradients([(s, v) for s, (_, v) in zip(held, pairs, strict=True)])
    with tf.control_dependencies([applied]):
        return tf.group(*(tf1.assign(s, 0.5 * s) for s in sums))


def gradients_in_variables(loss, optimizer):
    pairs = optimizer.compute_gradients(loss)
    held = [weights(f"{v.op.name}/sum", *v.shape, trainable=False) for _, v in pairs]
    filled = [tf1.assign(h, g) for h, (g, _) in zip(held, pairs, strict=True)]
    with tf.control_dependencies(filled):
        return optimizer.apply_gradients([(h, v) for h, (_, v) in zip(held, pairs, strict=True)])


WAYS = [clipped, bare_gradients, averaged_over_towers, accumulated, gradients_in_variables]


@pytest.mark.parametrize("way", WAYS)
def test_ways_to_apply_gradients(flow_mode, way):
    def build(optimizer):
        loss = while_loop(batch())
        return loss, way(loss, optimizer)

    trials, _ = assert_searches_alike(
        build, lambda: momentum(1.0), feeds=feeds(), beside=("/sum",), shrink=0.5, min_scale=0.01
    )
    assert min(trials) < max(trials)
