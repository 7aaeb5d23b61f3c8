import dataclasses

import pytest
import tensorflow as tf

import graphtrain
from graphtrain.session import inputs, loop

tf1 = tf.compat.v1


class StopsAtRun(tf1.train.SessionRunHook):
    def __init__(self, run):
        self._left = run

    def after_run(self, run_context, run_values):
        self._left -= 1
        if self._left == 0:
            run_context.request_stop()


class Raises(tf1.train.SessionRunHook):
    def __init__(self, error):
        self._error = error

    def before_run(self, run_context):
        raise self._error


def descent(*, global_step=True, loss_input=1.0):
    """A train step on w^2 from w=1 with rate 0.25, so w halves in each step."""
    weight = tf1.get_variable("w", initializer=1.0)
    loss = tf.square(weight) * tf.cast(loss_input, tf.float32)
    step = tf1.train.get_or_create_global_step() if global_step else None
    train_op = tf1.train.GradientDescentOptimizer(0.25).minimize(loss, global_step=step)
    return train_op, loss


def run(train_step, *, hooks=(), **limits):
    with graphtrain.MonitoredTrainingSession(hooks=hooks) as session:
        return loop.run(session, train_step, **limits)


def test_stops_at_max_steps(graph_mode):
    result = run(loop.prepare(*descent()), max_steps=3)
    assert result == loop.TrainResult(3, loss=1 / 16, reason="max_steps")
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.reason = "other"


def test_makes_so_many_more_steps(graph, tmp_path):
    train_step = loop.prepare(*descent())
    for expected in (2, 4):
        with graphtrain.MonitoredTrainingSession(checkpoint_dir=str(tmp_path)) as session:
            assert loop.run(session, train_step, steps=2).global_step == expected


def test_makes_no_step_beyond_max_steps(graph, tmp_path):
    train_step = loop.prepare(*descent())
    for max_steps, loss in ((2, 0.25), (2, None), (1, None)):
        with graphtrain.MonitoredTrainingSession(checkpoint_dir=str(tmp_path)) as session:
            result = loop.run(session, train_step, max_steps=max_steps)
        assert result == loop.TrainResult(2, loss, "max_steps")


def test_stops_at_the_end_of_data(flow_mode):
    ones, _ = inputs.features_and_labels(tf.data.Dataset.from_tensors(1.0).repeat(2))
    result = run(loop.prepare(*descent(loss_input=ones)), max_steps=5)
    assert result == loop.TrainResult(2, loss=0.25, reason="end_of_data")


def test_stops_when_a_hook_asks(flow_mode):
    result = run(loop.prepare(*descent()), hooks=[StopsAtRun(2)], max_steps=5)
    assert result == loop.TrainResult(2, loss=0.25, reason="stop_requested")


def test_the_step_limit_counts_before_the_request(flow_mode):
    assert run(loop.prepare(*descent()), hooks=[StopsAtRun(2)], max_steps=2).reason == "max_steps"


def test_a_step_that_does_not_rise(graph_mode):
    train_step = loop.prepare(*descent(global_step=False))
    with pytest.raises(graphtrain.UsageError, match="from 0 to 0; .* Give it to the optimizer"):
        run(train_step, max_steps=3)


def test_a_step_that_rises_twice(graph_mode):
    train_op, loss = descent()
    both = tf.group(train_op, tf1.assign_add(tf1.train.get_global_step(), 1))
    with pytest.raises(graphtrain.UsageError, match="from 0 to 2; .* Let only one op advance it"):
        run(loop.prepare(both, loss), max_steps=3)


def test_another_variable_taken_for_the_step_is_named(graph):
    tf1.train.create_global_step()
    own = tf.Variable(0, name="my_global_step", trainable=False)
    weight = tf1.get_variable("w", initializer=1.0)
    train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(weight, global_step=own)
    with pytest.raises(graphtrain.UsageError, match="step is global_step:0, .* my_global_step:0"):
        run(loop.prepare(train_op, weight), max_steps=3)


def test_an_error_in_the_model_is_no_end_of_data(flow_mode):
    def fails():
        raise StopIteration

    ones, _ = inputs.features_and_labels(tf.data.Dataset.from_tensors(1.0).repeat())
    broken = tf.cast(tf1.py_func(fails, [], tf.float64, name="broken"), tf.float32)
    train_op, loss = descent(loss_input=ones * broken)
    with pytest.raises(tf.errors.OutOfRangeError, match="broken"):
        run(loop.prepare(train_op, loss), max_steps=5)


def test_an_error_of_a_hook_is_no_end_of_data(graph):
    train_step = loop.prepare(*descent())
    with pytest.raises(RuntimeError, match="A hook raised StopIteration"):
        run(train_step, hooks=[Raises(StopIteration())], max_steps=5)
    with pytest.raises(KeyError):
        run(train_step, hooks=[Raises(KeyError("mine"))], max_steps=5)
