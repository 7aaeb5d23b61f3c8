"""The check that the loss, evaluated again at the same weights, is the loss."""

import numpy as np
import pytest
import tensorflow as tf

from graphtrain import LineSearchOptimizer, UsageError

tf1 = tf.compat.v1


class Counter:
    """A loss with a py_func in it that counts its calls, and may show that it does."""

    def __init__(self, shown):
        self._shown = shown
        self.calls = 0

    def __call__(self, w):
        self.calls += 1
        return np.float32(self._shown * self.calls)

    def train_op(self, **search):
        w = tf1.get_variable("w", initializer=1.0)
        counted = tf.reshape(tf1.py_func(self, [w], tf.float32), [])
        loss = w * w + tf.stop_gradient(counted)
        return LineSearchOptimizer(tf1.train.GradientDescentOptimizer(0.1), **search).minimize(loss)


def test_a_py_func_that_keeps_state_is_found_at_the_first_step(graph_mode):
    train_op = Counter(shown=1.0).train_op()
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        before = session.run(tf1.global_variables())
        with pytest.raises(tf.errors.InvalidArgumentError, match="a py_func that keeps state"):
            session.run(train_op)
        assert session.run(tf1.global_variables()) == before


def test_can_be_left_out(graph_mode):
    train_op = Counter(shown=1.0).train_op(self_test=False)
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        session.run(train_op)


def test_is_made_once_a_session(graph_mode):
    counter = Counter(shown=0.0)
    train_op = counter.train_op()
    for _ in range(2):
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            forwards = []
            for _ in range(3):
                counter.calls = 0
                session.run(train_op)
                forwards.append(counter.calls)
            # The loss, the test, one trial; then without the test.
            assert forwards == [3, 2, 2]


def test_is_true_or_false(graph):
    with pytest.raises(UsageError) as error:
        LineSearchOptimizer(tf1.train.GradientDescentOptimizer(0.1), self_test="no")
    assert str(error.value) == "self_test='no' cannot be used: give True or False"
