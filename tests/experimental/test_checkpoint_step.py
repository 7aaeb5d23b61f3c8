import pytest
import tensorflow as tf
import tiny_curve

import graphtrain
from graphtrain.estimator import experimental
from graphtrain.experimental.checkpoint_step import StopAtCheckpointStepHook

tf1 = tf.compat.v1


def test_a_chief_stops_at_the_step(tmp_path):
    estimator = tiny_curve.estimator(tmp_path)
    hook = experimental.make_stop_at_checkpoint_step_hook(estimator, last_step=7)
    estimator.train(tiny_curve.input_fn, hooks=[hook], max_steps=20)
    assert estimator.last_train_result.global_step == 7


def test_a_worker_gets_a_hook_that_waits(tmp_path, monkeypatch):
    tiny_curve.as_worker(monkeypatch)
    hook = experimental.make_stop_at_checkpoint_step_hook(tiny_curve.estimator(tmp_path), 7)
    assert isinstance(hook, StopAtCheckpointStepHook)


def test_a_worker_waits_for_the_checkpoint(tmp_path):
    chief = tiny_curve.estimator(tmp_path)
    chief.train(tiny_curve.input_fn, max_steps=2)
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        if len(waits) == 2:  # The chief saves in the meantime.
            chief.train(tiny_curve.input_fn, max_steps=3)

    hook = StopAtCheckpointStepHook(str(tmp_path), last_step=3, wait_secs=30, sleep=sleep)
    with tf.Graph().as_default():
        train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
        with graphtrain.MonitoredTrainingSession(hooks=[hook]) as session:
            while not session.should_stop():
                step = session.run(train_op)
    assert waits == [30, 30]
    assert step == 5


def test_what_cannot_be_used(tmp_path):
    estimator = tiny_curve.estimator(tmp_path)
    with pytest.raises(TypeError, match="estimator must be a graphtrain.Estimator"):
        experimental.make_stop_at_checkpoint_step_hook(None, 1)
    with pytest.raises(graphtrain.UsageError, match="last_step=0"):
        experimental.make_stop_at_checkpoint_step_hook(estimator, 0)
    with pytest.raises(graphtrain.UsageError, match="wait_after_file_check_secs=-1"):
        experimental.make_stop_at_checkpoint_step_hook(estimator, 1, -1)
