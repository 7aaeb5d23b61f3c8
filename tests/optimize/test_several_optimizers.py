"""Two optimizers step in one run: each sees the other's variables as they were before it."""

import numpy as np
import pytest
import tensorflow as tf
from reference_search import ReferenceSearch, own_session, state

from graphtrain import LineSearchOptimizer

tf1 = tf.compat.v1

SEARCH = {"shrink": 0.5, "min_scale": 0.01}


def searched(optimizer):
    return LineSearchOptimizer(optimizer, **SEARCH)


def plain(optimizer):
    return optimizer


def weights(name, *shape):
    return tf1.get_variable(name, shape, initializer=tf1.glorot_uniform_initializer(seed=1))


def step_over(optimizer, loss, scope):
    """The optimizer, the loss, the train op, and the weights that it moves."""
    weights = tf1.trainable_variables(scope)
    return optimizer, loss, optimizer.minimize(loss, var_list=weights), weights


def gan(make_first, make_second):
    """Two losses: each is of all variables, and minimised over half of them."""
    x = tf1.placeholder(tf.float32, [8, 4], "x")
    made = tf.tanh(tf.matmul(x, weights("generator/a", 4, 4))) @ weights("generator/b", 4, 4)

    def judged(sample):
        with tf1.variable_scope("", reuse=tf1.AUTO_REUSE):
            return tf.tanh(sample @ weights("judge/a", 4, 5)) @ weights("judge/b", 5, 1)

    judge_loss = tf.reduce_mean(tf.nn.softplus(judged(made)) + tf.nn.softplus(-judged(tf.sin(x))))
    generator_loss = tf.reduce_mean(tf.nn.softplus(-judged(made))) + 0.1 * tf.reduce_mean(made**2)
    first, second = (
        make_first(tf1.train.AdamOptimizer(1.0)),
        make_second(tf1.train.MomentumOptimizer(10.0, 0.5)),
    )
    return (
        step_over(first, judge_loss, "judge"),
        step_over(second, generator_loss, "generator"),
    )


def wide_and_deep(make_first, make_second):
    """One loss, and two optimizers over the parts of the model."""
    x = tf1.placeholder(tf.float32, [8, 4], "x")
    ids = tf.cast(tf.abs(x) * 2, tf.int32) % 10
    wide = tf.reduce_sum(tf.gather(weights("wide/table", 10, 1), ids), 1)
    deep = tf.reduce_sum(tf.gather(weights("deep/table", 10, 3), ids), 1)
    deep = tf.tanh(deep @ weights("deep/a", 3, 4)) @ weights("deep/b", 4, 1)
    loss = tf.reduce_mean(tf.square(wide + deep - tf.reduce_sum(x, 1, keepdims=True)))
    first, second = (
        make_first(tf1.train.FtrlOptimizer(2.0)),
        make_second(tf1.train.AdagradOptimizer(2.0)),
    )
    return (
        step_over(first, loss, "wide"),
        step_over(second, loss, "deep"),
    )


def merged(before, *afters):
    """The state in which each has changed what it changed."""
    values = dict(before)
    for after in afters:
        values.update(
            {name: v for name, v in after.items() if v.tobytes() != before[name].tobytes()}
        )
    return values


class ReferenceSteps:
    """Steps of several optimizers, each from the same weights, by many session.run calls."""

    def __init__(self, session, steps, makers):
        self._session = session
        self._takes_step = []
        for (_, loss, train_op, weights), make in zip(steps, makers, strict=True):
            names = [variable.op.name for variable in weights]
            search = ReferenceSearch(session, loss, train_op, weights=names, **SEARCH)
            self._write = search.write
            if make is searched:
                self._takes_step.append(search.step)
            else:
                self._takes_step.append(lambda feed, op=train_op: session.run(op, feed))

    def step(self, feed):
        """Returns what each step told, and the state after all of them."""
        before = state(self._session)
        told, afters = [], []
        for takes_step in self._takes_step:
            self._write(before)
            told.append(takes_step(feed))
            afters.append(state(self._session))
        self._write(merged(before, *afters))
        return told, state(self._session)


@pytest.mark.parametrize("build", [gan, wide_and_deep])
@pytest.mark.parametrize("makers", [(searched, searched), (searched, plain), (plain, searched)])
def test_twenty_runs_are_those_of_the_reference(graph, build, makers):
    random = np.random.RandomState(0)
    feeds = [{"x:0": random.randn(8, 4).astype(np.float32)} for _ in range(20)]
    with own_session(lambda _: build(*makers), lambda: None) as (session, _, steps):
        told = [
            (o.trials, o.accepted) if make is searched else None
            for (o, *_), make in zip(steps, makers, strict=True)
        ]
        told = [output for output in told if output]
        train_ops = [train_op for _, _, train_op, _ in steps]
        found = [(session.run([told, train_ops], feed)[0], state(session)) for feed in feeds]
    with own_session(lambda _: build(plain, plain), lambda: None) as (session, _, steps):
        reference = ReferenceSteps(session, steps, makers)
        for feed, (outputs, after) in zip(feeds, found, strict=True):
            told, wanted = reference.step(feed)
            assert outputs == [output for output in told if output is not None]
            for name, value in wanted.items():
                np.testing.assert_array_equal(after[name], value, err_msg=name)


def test_another_loss_is_reported_as_it_was_before_the_step(flow_mode):
    x = tf.constant(np.random.RandomState(0).randn(8, 4).astype(np.float32))
    predicted = x @ weights("w", 4, 1)
    reported = tf.reduce_mean(tf.abs(predicted - 1.0))
    train_op = searched(tf1.train.GradientDescentOptimizer(1e4)).minimize(
        tf.reduce_mean(tf.square(predicted - 1.0))
    )
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        for _ in range(20):
            before = session.run(reported)
            assert session.run([reported, train_op])[0] == before
