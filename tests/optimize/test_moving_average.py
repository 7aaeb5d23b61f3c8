import numpy as np
import pytest
import tensorflow as tf

from graphtrain import LineSearchOptimizer, UsageError
from graphtrain.optimize.gradient_accumulation import GradientAccumulationOptimizer
from graphtrain.optimize.moving_average import MovingAverageOptimizer

tf1 = tf.compat.v1


def sgd(rate=1.0):
    return tf1.train.GradientDescentOptimizer(rate)


def run(train_op, *, steps, fetches):
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        for _ in range(steps):
            session.run(train_op)
        return session.run(fetches)


def test_the_average_follows_the_weight(graph_mode):
    w = tf1.get_variable("w", initializer=[4.0, 8.0])
    optimizer = MovingAverageOptimizer(sgd(), average_decay=0.5)
    train_op = optimizer.minimize(tf.reduce_sum(w), tf1.train.create_global_step())
    average = optimizer.get_slot(w, "average")
    assert average.op.name == "w/ExponentialMovingAverage"
    got = run(train_op, steps=2, fetches=[w, average, tf1.train.get_global_step()])
    np.testing.assert_array_equal(got[0], [2, 6])
    np.testing.assert_array_equal(got[1], [2.75, 6.75])  # 4 -> 3.5 -> 2.75
    assert got[2] == 2


def test_it_equals_tensorflows_averages(flow_mode):
    w = tf1.get_variable("w", initializer=[4.0, 8.0])
    optimizer = MovingAverageOptimizer(tf1.train.AdamOptimizer(0.5), 0.9)
    train_op = optimizer.minimize(tf.reduce_sum(w * w))
    theirs = tf.train.ExponentialMovingAverage(0.9, name="Theirs")
    with tf.control_dependencies([train_op]):
        both = theirs.apply([w])
    averages = [optimizer.get_slot(w, "average"), theirs.average(w)]
    one, other = run(both, steps=5, fetches=averages)
    np.testing.assert_allclose(one, other, rtol=1e-6)


def test_the_decay_is_less_at_first(graph):
    w = tf1.get_variable("w", initializer=1.0)
    updates = tf1.placeholder_with_default(8, [])
    optimizer = MovingAverageOptimizer(sgd(), 0.9, num_updates=updates)
    train_op = optimizer.minimize(w)
    assert run(train_op, steps=1, fetches=optimizer.get_slot(w, "average")) == pytest.approx(0.5)


def test_around_a_search_it_averages_what_was_settled_on(graph_mode):
    w = tf1.get_variable("w", initializer=1.0)
    search = LineSearchOptimizer(sgd(100.0), shrink=0.5)
    optimizer = MovingAverageOptimizer(search, average_decay=0.5)
    train_op = optimizer.minimize((w - 3.0) ** 2, tf1.train.create_global_step())
    average = optimizer.get_slot(w, "average")
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        _, trials = session.run([train_op, search.trials])
        assert trials == 8
        assert session.run([w, average]) == [4.125, 2.5625]


def test_a_search_over_it_is_refused(graph):
    with pytest.raises(UsageError, match="put it around the search instead"):
        LineSearchOptimizer(MovingAverageOptimizer(sgd()))


def test_with_accumulation_it_averages_at_the_steps_that_change_the_weights(graph_mode):
    w = tf1.get_variable("w", initializer=4.0)
    inner = MovingAverageOptimizer(sgd(), average_decay=0.5)
    train_op = GradientAccumulationOptimizer(inner, steps=2).minimize(w * 1.0)
    average = inner.get_slot(w, "average")
    assert average.op.name == "w/ExponentialMovingAverage"
    assert run(train_op, steps=3, fetches=[w, average]) == [3.0, 3.5]
    assert run(train_op, steps=4, fetches=[w, average]) == [2.0, 2.75]


def test_sparse_gradients(graph_mode):
    table = tf1.get_variable("table", initializer=[[1.0], [2.0]])
    optimizer = MovingAverageOptimizer(sgd(), average_decay=0.5)
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1]))
    train_op = optimizer.minimize(loss)
    average = optimizer.get_slot(table, "average")
    assert run(train_op, steps=1, fetches=average).tolist() == [[1.0], [1.5]]


def test_one_train_op_is_collected(graph):
    w = tf1.get_variable("w", initializer=1.0)
    train_op = MovingAverageOptimizer(sgd()).minimize(w)
    assert graph.get_collection(tf1.GraphKeys.TRAIN_OP) == [train_op]


@pytest.mark.parametrize("decay", [-0.1, 1, 1.5, float("nan"), "0.9"])
def test_bad_decays(decay):
    with pytest.raises(UsageError, match="average_decay="):
        MovingAverageOptimizer(sgd(), decay)


def test_what_cannot_be_wrapped():
    with pytest.raises(UsageError, match="optimizer=None cannot be wrapped"):
        MovingAverageOptimizer(None)
