"""The loss evaluated again equals the loss computed anew, in every kind of graph."""

import numpy as np
import pytest
import tensorflow as tf

from graphtrain import UsageError
from graphtrain.optimize.control_flow import control_flow_v2
from graphtrain.optimize.replay import Replay

tf1 = tf.compat.v1

BATCH = np.random.RandomState(0).rand(6, 4).astype(np.float32)


def dense(x, units, name):
    kernel = tf1.get_variable(
        f"{name}/kernel",
        [x.shape[-1], units],
        initializer=tf1.glorot_uniform_initializer(seed=1),
    )
    return tf.matmul(x, kernel) + tf1.get_variable(
        f"{name}/bias", [units], initializer=tf1.ones_initializer()
    )


def mean_square(x):
    return tf.reduce_mean(tf.square(x))


def square_kernel(shape=(4, 4), **arguments):
    return tf1.get_variable(
        "w", shape, initializer=tf1.glorot_uniform_initializer(seed=1), **arguments
    )


def two_layers(x):
    return mean_square(dense(tf.nn.relu(dense(x, 5, "a")), 1, "b"))


def dropout(x):
    return mean_square(dense(tf1.nn.dropout(dense(x, 5, "a"), rate=0.5), 1, "b"))


def convolution(x):
    kernel = square_kernel((2, 2, 1, 3))
    scale = tf1.get_variable("scale", [3], initializer=tf1.ones_initializer())
    x = tf.nn.conv2d(tf.reshape(x, [6, 2, 2, 1]), kernel, 1, "SAME")
    return mean_square(tf1.nn.fused_batch_norm(x, scale, tf.zeros([3]))[0] - 0.3)


def conditional(x):
    hidden = dense(x, 5, "a")
    return mean_square(
        tf.cond(tf.reduce_sum(x) > 0, lambda: hidden * 2 + tf.constant(1.0), lambda: hidden)
    )


def variables_in_one_branch(x):
    return mean_square(
        tf.cond(
            tf1.placeholder_with_default(True, []),
            lambda: dense(x, 5, "a"),
            lambda: x[:, :1] + tf.zeros([1, 5]),
        )
    )


def conditional_on_the_weights(x):
    hidden = dense(x, 5, "a")
    return mean_square(tf.cond(tf.reduce_sum(hidden) > 30, lambda: hidden, lambda: hidden * 2))


def loop(x):
    w = square_kernel()
    return mean_square(
        tf.while_loop(
            lambda i, h: i < 3,
            lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w) + tf.constant(0.1))),
            (0, x),
        )[1]
    )


def loop_in_a_conditional(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: loop(x), lambda: tf.constant(1.0))


def recurrent(x):
    w = square_kernel()
    inputs = tf.TensorArray(tf.float32, 3).unstack(tf.stack([x, x * 2, x * 3]))

    def body(i, h, outputs):
        h = tf.tanh(tf.matmul(h, w) + inputs.read(i))
        return i + 1, h, outputs.write(i, h)

    start = (0, tf.zeros_like(x), tf.TensorArray(tf.float32, 3))
    return mean_square(tf.while_loop(lambda i, h, o: i < 3, body, start)[2].stack())


def embedding(x):
    return mean_square(tf.nn.embedding_lookup(square_kernel((10, 4)), [1, 3, 3]) * x[:1])


def partitioned(x):
    table = square_kernel((10, 4), partitioner=tf1.fixed_size_partitioner(3))
    looked_up = tf.nn.embedding_lookup(table, [1, 3, 3])
    return mean_square(looked_up * x[:1]) + mean_square(tf.convert_to_tensor(table))


def function_call(x):
    return mean_square(tf.function(lambda hidden: tf.nn.relu(hidden) * 2)(dense(x, 5, "a")))


def check_numerics(x):
    return mean_square(tf.debugging.check_numerics(dense(x, 5, "a"), "not finite"))


def stopped_gradient(x):
    hidden = dense(x, 5, "a")
    return mean_square(hidden * tf.stop_gradient(hidden))


def resized_by_the_weights(x):
    hidden = dense(x, 5, "a")
    return tf.reduce_sum(tf.boolean_mask(hidden, hidden > 1.0)) / tf.cast(
        tf.shape(tf.where(hidden > 1.0))[0], tf.float32
    )


LOSSES = [
    two_layers,
    dropout,
    convolution,
    conditional,
    variables_in_one_branch,
    conditional_on_the_weights,
    loop,
    loop_in_a_conditional,
    recurrent,
    embedding,
    partitioned,
    function_call,
    check_numerics,
    stopped_gradient,
    resized_by_the_weights,
]


def replayed_losses(loss, factors, in_v2_loop):
    """The loss replayed after all weights were multiplied by each of the factors, in a loop."""
    variables = tf1.trainable_variables()
    replay = Replay(loss, variables)
    gradients = tf.gradients(loss, variables)
    factors = tf.constant(factors)

    def body(i, losses):
        with tf.control_dependencies([losses]):
            moved = [tf1.assign(v, v * factors[i]) for v in variables]
        with tf.control_dependencies(moved):
            now = tf.equal(tf.range(factors.shape[0]), i)
            return i + 1, tf.where(now, replay(), losses)

    with tf.control_dependencies([loss, *(tf.convert_to_tensor(g) for g in gradients)]):
        start = (tf.constant(0), tf.zeros_like(factors))
    with control_flow_v2(in_v2_loop):
        return tf.while_loop(lambda i, _: i < factors.shape[0], body, start)[1]


@pytest.mark.parametrize("build", LOSSES, ids=lambda build: build.__name__)
def test_equals_the_loss_computed_anew(graph_mode, build):
    loss = build(tf.constant(BATCH))
    replayed = replayed_losses(loss, [1.0, 1.5, 1.0], graph_mode.resource_variables)
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        before, (same, moved, again) = session.run([loss, replayed])
        assert same == pytest.approx(before, rel=1e-6)
        assert again == moved != pytest.approx(same, rel=1e-3)
        if build is not dropout:
            assert session.run(loss) == pytest.approx(moved, rel=1e-6)


def test_a_mask_drawn_in_a_branch_is_drawn_once(flow_mode):
    """With v1 conditionals; one of v2 hides the draw, and is refused."""
    hidden = dense(tf.constant(BATCH), 5, "a")
    training = tf1.placeholder_with_default(True, [])
    loss = mean_square(tf.cond(training, lambda: tf1.nn.dropout(hidden, rate=0.5), lambda: hidden))
    if flow_mode.control_flow_v2:
        with pytest.raises(UsageError, match="If with RandomUniform inside"):
            Replay(loss, tf1.trainable_variables())
        return
    replayed = replayed_losses(loss, [1.0, 1.0], in_v2_loop=True)
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        for mode in (True, False):
            before, after = session.run([loss, replayed], {training: mode})
            np.testing.assert_allclose(after, [before, before], rtol=1e-6)
        assert session.run(loss, {training: True}) != session.run(loss, {training: True})


def test_a_draw_in_a_v1_loop_is_refused():
    with control_flow_v2(False), tf.Graph().as_default():
        w = square_kernel()
        loss = mean_square(
            tf.while_loop(
                lambda i, h: i < 3,
                lambda i, h: (i + 1, tf.matmul(h, w) + tf.random.normal([6, 4])),
                (0, tf.constant(BATCH)),
            )[1]
        )
        with pytest.raises(UsageError, match="RandomStandardNormal"):
            Replay(loss, [w])


def test_a_value_that_goes_through_another_variable_is_refused(graph_mode):
    w = tf1.get_variable("w", initializer=1.0)
    average = tf1.get_variable("average", initializer=0.0, trainable=False)
    with tf.control_dependencies([tf1.assign(average, 0.9 * average + 0.1 * w)]):
        seen = average.read_value() * 1.0
    with pytest.raises(UsageError, match=r"depends on w:0 through the op '.*Assign"):
        Replay(w * w + seen, [w])


def test_a_write_beside_the_loss_is_left_alone(graph_mode):
    w = tf1.get_variable("w", initializer=2.0)
    average = tf1.get_variable("average", initializer=0.0, trainable=False)
    with tf.control_dependencies([tf1.assign_add(average, w)]):
        loss = w * w
    again = Replay(loss, [w])()
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        assert session.run([loss, again]) == [4.0, 4.0]
        assert session.run(average) == 2.0


def test_variables_are_those_that_the_loss_depends_on(graph_mode):
    used = tf1.get_variable("used", initializer=2.0)
    unused = tf1.get_variable("unused", initializer=2.0)
    assert [v.name for v in Replay(used * used, [unused, used]).variables] == ["used:0"]
