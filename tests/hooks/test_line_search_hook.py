"""What is told of the searches of a run."""

import numpy as np
import pytest
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from graphtrain import LineSearchOptimizer, UsageError
from graphtrain.hooks import LineSearchHook

tf1 = tf.compat.v1


def minimized(learning_rate, **search):
    w = tf1.get_variable("w", initializer=np.ones(4, np.float32))
    optimizer = LineSearchOptimizer(tf1.train.GradientDescentOptimizer(learning_rate), **search)
    train_op = optimizer.minimize(
        tf.reduce_sum((w - 3.0) ** 2), global_step=tf1.train.create_global_step()
    )
    return optimizer, train_op


def train(train_op, hook, steps):
    with tf1.train.MonitoredTrainingSession(hooks=[hook]) as session:
        for _ in range(steps):
            session.run(train_op)


def ticking(step=0.5):
    now = [0.0]

    def clock():
        now[0] += step
        return now[0]

    return clock


def test_table_of_accepted_steps(flow_mode):
    optimizer, train_op = minimized(4.0, shrink=0.25)
    lines = []
    train(train_op, LineSearchHook(optimizer, write=lines.append, clock=ticking(1e6)), 3)
    assert lines == [
        "line search: 3 steps, 3 searched, 0 rejected, 0 led uphill",
        "  trials per step: 3",
        "  scale (5 %, median, 95 %): 0.0625, 0.0625, 0.0625",
        "  learning rate (5 %, median, 95 %): 0.25, 0.25, 0.25",
        "  time in the search: 0 % of the steps",
    ]


def test_table_of_rejected_steps(flow_mode):
    optimizer, train_op = minimized(1e9, shrink=0.5, min_scale=0.2)
    lines = []
    train(train_op, LineSearchHook(optimizer, write=lines.append), 2)
    assert lines[:4] == [
        "line search: 2 steps, 2 searched, 2 rejected, 0 led uphill",
        "  trials per step: 3",
        "  scale (5 %, median, 95 %): 0, 0, 0",
        "  learning rate (5 %, median, 95 %): 0, 0, 0",
    ]


def test_summaries(flow_mode, tmp_path):
    optimizer, train_op = minimized(100.0, shrink=0.5)
    hook = LineSearchHook(
        optimizer, every_steps=2, output_dir=str(tmp_path), write=lambda line: None
    )
    train(train_op, hook, 5)
    events = EventAccumulator(str(tmp_path), size_guidance={"histograms": 0}).Reload()
    names = ("trials_per_step", "rejected_share", "ascent_share", "time_share", "learning_rate")
    for name in names:
        assert [event.step for event in events.Scalars(f"line_search/{name}")] == [2, 4]
    assert events.Scalars("line_search/trials_per_step")[0].value == 8.0
    assert events.Scalars("line_search/learning_rate")[0].value == 0.78125
    (first, _) = events.Histograms("line_search/scales")
    assert (first.histogram_value.num, first.histogram_value.min) == (2.0, 2.0**-7)


def test_an_optimizer_that_made_no_step():
    optimizer = LineSearchOptimizer(tf1.train.GradientDescentOptimizer(1.0))
    with pytest.raises(UsageError, match="has made no searched step yet"):
        LineSearchHook(optimizer)


def test_summaries_need_a_global_step(graph, tmp_path):
    optimizer = LineSearchOptimizer(tf1.train.GradientDescentOptimizer(1.0))
    w = tf1.get_variable("w", initializer=1.0)
    optimizer.minimize(w * w)
    with pytest.raises(UsageError, match="needs a global step"):
        LineSearchHook(optimizer, output_dir=str(tmp_path)).begin()
