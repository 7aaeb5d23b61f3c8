"""Searched steps inside a loop or a conditional are those taken one by one."""

import contextlib

import numpy as np
import pytest
import tensorflow as tf
from reference_search import own_session, state

from graphtrain import LineSearchOptimizer, UsageError

tf1 = tf.compat.v1

BATCHES = np.random.RandomState(0).randn(20, 8, 4).astype(np.float32)
SGD = tf1.train.GradientDescentOptimizer


def searched(optimizer):
    return LineSearchOptimizer(optimizer, shrink=0.5, min_scale=0.01)


def loss_of(x):
    with tf1.variable_scope("", reuse=tf1.AUTO_REUSE):
        a = tf1.get_variable("a", [4, 5], initializer=tf1.glorot_uniform_initializer(seed=1))
        b = tf1.get_variable("b", [5, 1], initializer=tf1.glorot_uniform_initializer(seed=2))
    return tf.reduce_mean(tf.square(tf.tanh(x @ a) @ b - tf.reduce_sum(x, 1, keepdims=True)))


def loop_of_steps(optimizer, step):
    """Twenty steps in one `session.run`."""
    batches = tf.constant(BATCHES)
    # The weights are made here, outside the loop.
    loss_of(batches[0])

    def body(i, trials):
        train_op = optimizer.minimize(loss_of(batches[i]), step)
        with tf.control_dependencies([train_op]):
            return i + 1, trials + optimizer.trials

    return tf.while_loop(lambda i, _: i < 20, body, [0, 0], parallel_iterations=1)[1]


@pytest.mark.parametrize(
    "make", [lambda: SGD(1.0), lambda: tf1.train.AdamOptimizer(0.5)], ids=["sgd", "adam"]
)
def test_twenty_steps_in_a_loop_are_twenty_single_steps(flow_mode, make):
    def build_loop(optimizer):
        return loop_of_steps(optimizer, tf1.train.create_global_step())

    def build_step(optimizer):
        x = tf1.placeholder(tf.float32, [8, 4])
        return x, optimizer.minimize(loss_of(x), tf1.train.create_global_step())

    with own_session(build_loop, lambda: searched(make())) as (session, _, trials):
        all_trials, looped = session.run(trials), state(session)
    with own_session(build_step, lambda: searched(make())) as (session, optimizer, (x, step)):
        told = [session.run([optimizer.trials, step], {x: batch})[0] for batch in BATCHES]
        single = state(session)
    assert all_trials == sum(told) > 20
    # Control flow v1 puts an optimizer's own variables into the name scope of the loop.
    looped = {name.removeprefix("while/"): value for name, value in looped.items()}
    assert looped.keys() == single.keys()
    for name, value in single.items():
        assert looped[name].tobytes() == value.tobytes(), name


def test_only_a_loop_over_ref_variables_is_refused(graph_mode):
    refusal = pytest.raises(UsageError, match="a:0.*resource variables")
    with contextlib.nullcontext() if graph_mode.resource_variables else refusal:
        loop_of_steps(searched(SGD(1.0)), tf1.train.create_global_step())


def branches_with_losses(optimizers, x, step):
    return [lambda o=o: o.minimize(loss_of(x), step) for o in optimizers]


def branches_of_one_loss(optimizers, x, step):
    loss = loss_of(x)
    return [lambda o=o: o.minimize(loss, step) for o in optimizers]


def branches_that_apply(optimizers, x, step):
    loss = loss_of(x)
    pairs = [o.compute_gradients(loss) for o in optimizers]
    return [
        lambda o=o, p=p: o.apply_gradients(p, step) for o, p in zip(optimizers, pairs, strict=True)
    ]


@pytest.mark.parametrize(
    "build_branches", [branches_with_losses, branches_of_one_loss, branches_that_apply]
)
def test_steps_in_the_branches_of_a_conditional_are_single_steps(graph_mode, build_branches):
    """Two optimizers take turns, chosen by `tf.cond` or by which train op is run."""
    if graph_mode.control_flow_v2 and not graph_mode.resource_variables:
        w = tf1.get_variable("w", initializer=1.0)
        with pytest.raises(TypeError):
            # TensorFlow itself cannot write a ref variable there.
            tf.cond(tf.constant(True), lambda: SGD(1.0).minimize(w * w), tf.no_op)
        return

    def build(in_cond):
        optimizers = [searched(SGD(1.0)), searched(tf1.train.AdamOptimizer(0.5))]
        x, step = tf1.placeholder(tf.float32, [8, 4], "x"), tf1.train.create_global_step()
        loss_of(x)
        branches = build_branches(optimizers, x, step)
        if in_cond:
            return [tf.cond(tf.equal(step % 2, 0), *branches)] * 2
        return [branch() for branch in branches]

    states = []
    for in_cond in (True, False):
        with own_session(build, lambda in_cond=in_cond: in_cond) as (session, _, train_ops):
            for i, batch in enumerate(BATCHES):
                session.run(train_ops[i % 2], {"x:0": batch})
            states.append(state(session))
    chosen = {name.removeprefix("cond/"): value for name, value in states[0].items()}
    assert chosen.keys() == states[1].keys()
    for name, value in states[1].items():
        assert chosen[name].tobytes() == value.tobytes(), name
