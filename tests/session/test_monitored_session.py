import os
import threading

import pytest
import tensorflow as tf

import graphtrain
from graphtrain.session import checkpoints

tf1 = tf.compat.v1


class Counts(tf1.train.SessionRunHook):
    def __init__(self):
        self.runs = self.sessions = 0

    def after_create_session(self, session, coord):
        self.sessions += 1

    def after_run(self, run_context, run_values):
        self.runs += 1


class ActsAtRun(tf1.train.SessionRunHook):
    def __init__(self, run, act):
        self._left, self._act = run, act

    def on_session(self, session):
        self._session = session

    def after_run(self, run_context, run_values):
        self._left -= 1
        if self._left == 0:
            self._act(self._session)


def counter():
    return tf1.assign_add(tf1.train.get_or_create_global_step(), 1)


def test_what_runs_without_hooks_is_not_counted(graph):
    train_op, numbers = counter(), tf1.data.make_initializable_iterator(tf.data.Dataset.range(2))
    number, hook = numbers.get_next(), Counts()
    with graphtrain.MonitoredTrainingSession(hooks=[hook]) as session:
        session.run_without_hooks(numbers.initializer)
        for step in range(10):
            session.run(train_op)
            if step % 3 == 2:
                session.run_without_hooks(number)
            if step == 5:
                session.run_without_hooks(numbers.initializer)
    assert hook.runs == 10


def test_feeds_without_hooks(graph):
    value = tf1.placeholder(tf.float32, [])
    twice = 2 * value
    with graphtrain.MonitoredTrainingSession() as session:
        assert session.run_without_hooks(twice, {value: 3.0}) == 6.0


def test_a_lost_session_is_made_anew_without_hooks_too(graph):
    hook, value = Counts(), tf.constant(7)

    def lost(fetches, feed_dict=None):
        raise tf.errors.UnavailableError(None, None, "gone")

    with graphtrain.MonitoredTrainingSession(hooks=[hook]) as session:
        session._tf_sess().run = lost
        assert session.run_without_hooks(value) == 7
    assert hook.sessions == 2


def test_a_hook_requests_a_stop(graph, tmp_path):
    train_op = counter()
    hook = ActsAtRun(4, lambda session: session.request_stop("enough"))
    with graphtrain.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), hooks=[hook]) as session:
        assert session.stop_reason is None
        while not session.should_stop():
            session.run(train_op)
    assert session.stop_reason == "enough"
    assert checkpoints.newest(str(tmp_path)) == f"{tmp_path}/model.ckpt-4"


def test_another_thread_requests_a_stop(graph):
    train_op = counter()
    with graphtrain.MonitoredTrainingSession() as session:
        session.run(train_op)
        thread = threading.Thread(target=session.request_stop)
        thread.start()
        thread.join()
        assert session.should_stop()
    assert session.stop_reason == "no reason was given"


def test_a_hook_saves_now(graph_mode, tmp_path):
    train_op = counter()
    hook = ActsAtRun(3, lambda session: session.save_now())
    scaffold = tf1.train.Scaffold(saver=tf1.train.Saver(max_to_keep=2))
    with graphtrain.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path), scaffold=scaffold, hooks=[hook]
    ) as session:
        for _ in range(3):
            session.run(train_op)
        names = [os.path.basename(path) for path in checkpoints.kept(str(tmp_path))]
        assert names == ["model.ckpt-0", "model.ckpt-3"]
        session.run(train_op)
        assert session.save_now() == f"{tmp_path}/model.ckpt-4"
    names = [os.path.basename(path) for path in checkpoints.kept(str(tmp_path))]
    assert names == ["model.ckpt-3", "model.ckpt-4"]
    assert not (tmp_path / "model.ckpt-0.index").exists()


def test_save_now_needs_a_directory(graph):
    with graphtrain.MonitoredTrainingSession() as session:
        with pytest.raises(graphtrain.UsageError, match="with a checkpoint_dir"):
            session.save_now()


def test_the_session_inside_and_eval(graph):
    train_op = counter()
    step = tf1.train.get_global_step()
    with graphtrain.MonitoredTrainingSession() as session:
        session.run(train_op)
        assert isinstance(session._tf_sess(), tf1.Session)
        assert session._tf_sess().run(step) == 1
        assert step.eval(session=session) == 1
        assert train_op.eval(session=session) == 2
        assert tf1.train.global_step(session, step) == 2
