"""A large embedding table, of which a step touches a thousand rows, is never copied."""

import numpy as np
import pytest
import tensorflow as tf

from graphtrain import LineSearchOptimizer

tf1 = tf.compat.v1

ROWS, WIDTH, TOUCHED = 1_000_000, 16, 1000
MAKERS = {
    "sgd": tf1.train.GradientDescentOptimizer,
    "momentum": lambda rate: tf1.train.MomentumOptimizer(rate, 0.9),
    "adagrad": tf1.train.AdagradOptimizer,
    "ftrl": tf1.train.FtrlOptimizer,
}


def most_memory(session, fetched, feed=None):
    """The most bytes that any op of a run asked for."""
    metadata = tf1.RunMetadata()
    options = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)
    session.run(fetched, feed, options=options, run_metadata=metadata)
    return max(
        memory.total_bytes
        for device in metadata.step_stats.dev_stats
        for node in device.node_stats
        for memory in node.memory
    )


@pytest.mark.parametrize("name", MAKERS)
def test_no_op_of_a_step_asks_for_memory_for_a_table(variables, name):
    with tf.Graph().as_default():
        ids = tf1.placeholder(tf.int32, [TOUCHED])
        table = tf1.get_variable("table", [ROWS, WIDTH], initializer=tf1.ones_initializer())
        loss = tf.reduce_mean(tf.square(tf.reduce_sum(tf.gather(table, ids), 1) - 1.0))
        # A rate at which the search has work to do; then one at which it fails.
        for rate, accepted in ((300.0, True), (1e9, False)):
            optimizer = LineSearchOptimizer(MAKERS[name](rate), shrink=0.5, min_scale=0.01)
            train_op = optimizer.minimize(loss)
            told = [optimizer.trials, optimizer.accepted, train_op]
            with tf1.Session() as session:
                session.run(tf1.global_variables_initializer())
                random = np.random.RandomState(0)
                batch = {ids: random.randint(0, ROWS, TOUCHED)}
                trials, was_accepted, _ = session.run(told, batch)
                assert trials > 1 and was_accepted == accepted
                assert most_memory(session, train_op, batch) < 10 * 4 * TOUCHED * WIDTH
                assert most_memory(session, table + 1.0) >= 4 * ROWS * WIDTH
