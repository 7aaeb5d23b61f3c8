"""What the time of a training went to."""

import numpy as np
import pytest
import tensorflow as tf

import graphtrain
from graphtrain.estimator import time_report
from graphtrain.session.saver_hook import SaverHook
from graphtrain.stopwatch import Stopwatch

tf1 = tf.compat.v1


def model_fn(features, labels, mode, params):
    w = tf1.get_variable("w", [4, 1])
    loss = tf.reduce_mean(tf.square(tf.matmul(features, w) - 1.0))
    optimizer = tf1.train.GradientDescentOptimizer(0.1)
    if params["searched"]:
        optimizer = graphtrain.LineSearchOptimizer(optimizer)
    train_op = optimizer.minimize(loss, global_step=tf1.train.get_global_step())
    return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op)


def slow_input_fn():
    rows = tf.data.Dataset.from_tensor_slices(np.ones([64, 4], np.float32)).repeat().batch(8)

    def slow(row):
        # A long sum is slow on every machine, and needs no sleep.
        return row + 0 * tf.reduce_sum(tf.random.stateless_normal([200_000], [1, 2]))

    return rows.map(slow)


@pytest.mark.parametrize("searched", [False, True])
@pytest.mark.parametrize("steps_per_run", [1, 5])
def test_seconds_of_a_training(tmp_path, searched, steps_per_run):
    config = graphtrain.RunConfig(report_time=True, steps_per_run=steps_per_run)
    estimator = graphtrain.Estimator(model_fn, str(tmp_path), config, {"searched": searched})
    graphtrain.train_and_evaluate(
        estimator,
        graphtrain.TrainSpec(slow_input_fn, max_steps=20),
        graphtrain.EvalSpec(slow_input_fn, steps=2),
    )
    secs = estimator.last_train_result.secs
    wanted = {"start", "steps", "saves", "summaries", "evaluation", "input wait"}
    assert set(secs) == (wanted | {"search"} if searched else wanted)
    assert all(value > 0 for what, value in secs.items() if what != "steps")
    assert secs["input wait"] > 20 * 1e-4


def test_nothing_is_measured_in_the_graph_unless_asked_for(tmp_path):
    estimator = graphtrain.Estimator(model_fn, str(tmp_path), params={"searched": True})
    estimator.train(slow_input_fn, steps=3)
    assert set(estimator.last_train_result.secs) == {"start", "steps", "saves", "summaries"}


def test_lines():
    assert time_report.lines({"start": 1.0, "steps": 3.0}) == [
        "steps               3.0 s   75 %",
        "start               1.0 s   25 %",
    ]


def test_a_save_that_fails_does_not_count_what_follows(tmp_path, monkeypatch):
    clock = iter(range(10_000))
    watch = Stopwatch(clock=lambda: float(next(clock)))
    with tf.Graph().as_default():
        step = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
        hook = SaverHook(str(tmp_path), save_steps=2, watch=watch)
        with graphtrain.MonitoredTrainingSession(hooks=[hook]) as session:
            session.run(step)
            with monkeypatch.context() as patch:
                patch.setattr(tf1.train.Saver, "save", fail)
                session.run(step)
            assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-0")
            saving = watch.secs["saves"]
            session.run([step])
            assert watch.secs["saves"] == saving
            with watch.timing("steps"):
                pass
            assert (watch.secs["saves"], watch.secs["steps"]) == (saving, 1.0)


def fail(*args, **kwargs):
    raise OSError("no space is left")
