import pytest
import tensorflow as tf
import tiny_curve

import graphtrain
from graphtrain.estimator import experimental
from graphtrain.experimental.early_stopping import DecidingHook, FollowingHook

tf1 = tf.compat.v1


def test_it_stops_where_the_function_says_so(flow_mode, tmp_path):
    estimator = tiny_curve.estimator(tmp_path)
    answers = iter([False, False, False, True])
    hook = experimental.make_early_stopping_hook(
        estimator, lambda: next(answers), run_every_secs=None, run_every_steps=5
    )
    # Asked before the first step, after it, and at 5 and 10.
    result = estimator.train(tiny_curve.input_fn, hooks=[hook], max_steps=100).last_train_result
    assert (result.global_step, result.reason) == (10, "stop_requested")
    assert result.stop_reason == "should_stop_fn said so"
    assert estimator.get_variable_value("signal_early_stopping/STOP")


def test_a_stopped_run_stays_stopped_until_the_function_changes_its_mind(tmp_path):
    estimator = tiny_curve.estimator(tmp_path)

    def train(should_stop_fn):
        hook = experimental.make_early_stopping_hook(
            estimator, should_stop_fn, run_every_secs=None, run_every_steps=1
        )
        return estimator.train(tiny_curve.input_fn, hooks=[hook], steps=3).last_train_result

    assert train(lambda: False).global_step == 3
    assert train(lambda: "enough").stop_reason == "enough"
    assert train(lambda: "enough").global_step == 3
    assert train(lambda: False).global_step == 6
    assert not estimator.get_variable_value("signal_early_stopping/STOP")


def test_it_can_be_switched_on_in_the_middle_of_a_run(tmp_path):
    estimator = tiny_curve.estimator(tmp_path)
    estimator.train(tiny_curve.input_fn, max_steps=2)
    hook = experimental.make_early_stopping_hook(
        estimator, lambda: False, run_every_secs=None, run_every_steps=1
    )
    result = estimator.train(tiny_curve.input_fn, hooks=[hook], max_steps=4).last_train_result
    assert result.global_step == 4
    estimator.train(tiny_curve.input_fn, max_steps=5)


def test_by_the_clock(graph):
    now = [0.0]
    asked = []
    hook = DecidingHook(lambda: asked.append(now[0]), every_secs=60, clock=lambda: now[0])
    train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
    with graphtrain.MonitoredTrainingSession(hooks=[hook]) as session:
        for seconds in (0, 30, 59, 60, 61, 121):
            now[0] = seconds
            session.run(train_op)
    assert asked == [0, 0, 60, 121]


def test_a_worker_follows_the_flag_of_the_chief():
    """Two sessions of one server share its variables, as chief and worker share a ps."""
    server = tf1.train.Server.create_local_server()
    decision = []
    with tf.Graph().as_default():
        step = tf1.train.get_or_create_global_step()
        chief_op = tf1.assign_add(step, 1, use_locking=True)
        hook = DecidingHook(lambda: bool(decision), every_steps=1)
        chief = graphtrain.MonitoredTrainingSession(server.target, hooks=[hook])
    with tf.Graph().as_default():
        step = tf1.train.get_or_create_global_step()
        worker_op = tf1.assign_add(step, 1, use_locking=True)
        worker = graphtrain.MonitoredTrainingSession(
            server.target, is_chief=False, hooks=[FollowingHook()]
        )
    with chief, worker:
        worker.run(worker_op)
        chief.run(chief_op)
        worker.run(worker_op)
        assert not worker.should_stop()
        decision.append(True)
        chief.run(chief_op)
        assert chief.should_stop()
        worker.run(worker_op)
        assert worker.should_stop()


def test_each_process_gets_the_hook_of_its_task(tmp_path, monkeypatch):
    chief = experimental.make_early_stopping_hook(tiny_curve.estimator(tmp_path), lambda: False)
    tiny_curve.as_worker(monkeypatch)
    worker = experimental.make_early_stopping_hook(tiny_curve.estimator(tmp_path), lambda: False)
    assert (type(chief), type(worker)) == (DecidingHook, FollowingHook)


def test_it_works_in_tensorflows_session(graph):
    train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
    answers = iter([False, False, True])
    hook = DecidingHook(lambda: next(answers), every_steps=1)
    with tf1.train.MonitoredTrainingSession(hooks=[hook]) as session:
        while not session.should_stop():
            step = session.run(train_op)
    assert step == 2


@pytest.mark.parametrize("interval", [(60, 10), (None, None)])
def test_one_interval(interval, tmp_path):
    with pytest.raises(graphtrain.UsageError, match="give one of them"):
        experimental.make_early_stopping_hook(
            tiny_curve.estimator(tmp_path), lambda: False, *interval
        )


def test_wrong_types(tmp_path):
    with pytest.raises(TypeError, match="estimator must be a graphtrain.Estimator"):
        experimental.make_early_stopping_hook("estimator", lambda: False)
    with pytest.raises(TypeError, match="should_stop_fn must be callable"):
        experimental.make_early_stopping_hook(tiny_curve.estimator(tmp_path), True)
