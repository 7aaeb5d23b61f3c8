import pytest
import tensorflow as tf

import graphtrain

tf1 = tf.compat.v1


class AddsAnOp(tf1.train.SessionRunHook):
    """Adds a summary op in one of the methods of a hook."""

    def __init__(self, method):
        setattr(self, method, self._add)

    def _add(self, *args):
        tf1.summary.scalar("accuracy", 0.5)


class Listens(tf1.train.SessionRunHook):
    def __init__(self):
        self.sessions, self.errors, self.ended = [], [], 0

    def on_session(self, session):
        self.sessions.append(session)

    def on_error(self, error):
        self.errors.append((error, self.sessions[0].graph is not None))

    def end(self, session):
        self.ended += 1


class Raises(tf1.train.SessionRunHook):
    def __init__(self, method, error):
        self._error = error
        setattr(self, method, self._raise)

    def _raise(self, *args):
        raise self._error


@pytest.mark.parametrize("method", ["after_create_session", "before_run", "after_run", "end"])
def test_a_hook_that_adds_an_op_is_named(graph, method):
    op = tf.no_op()
    with pytest.raises(RuntimeError, match=r"AddsAnOp tried to add .*build it in the hook's begin"):
        with graphtrain.MonitoredTrainingSession(hooks=[Listens(), AddsAnOp(method)]) as session:
            session.run(op)


def test_the_refused_op_is_described(graph):
    op = tf.no_op()
    with pytest.raises(RuntimeError, match=r"tried to add the op '.*' \(Const\)"):
        with graphtrain.MonitoredTrainingSession(hooks=[AddsAnOp("after_run")]) as session:
            session.run(op)


def test_a_loop_that_adds_an_op_is_told(graph):
    with pytest.raises(RuntimeError, match="build every op before the session is made"):
        with graphtrain.MonitoredTrainingSession():
            tf.constant(1.0)


def test_other_runtime_errors_go_through(graph):
    with pytest.raises(RuntimeError, match="^mine$"):
        with graphtrain.MonitoredTrainingSession(hooks=[Raises("after_run", RuntimeError("mine"))]):
            raise RuntimeError("mine")


@pytest.mark.parametrize("method", ["before_run", "after_run", "after_create_session"])
def test_an_error_is_told_to_each_hook_once(graph, method):
    op, listeners, error = tf.no_op(), [Listens(), Listens()], KeyError("mine")
    hooks = [listeners[0], Raises(method, error), listeners[1]]
    with pytest.raises(KeyError, match="mine"):
        with graphtrain.MonitoredTrainingSession(hooks=hooks) as session:
            session.run(op)
    assert [hook.errors for hook in listeners] == [[(error, True)], [(error, True)]]
    assert [hook.ended for hook in listeners] == [0, 0]


def test_the_end_of_data_is_no_error(graph):
    numbers = tf1.data.make_one_shot_iterator(tf.data.Dataset.range(2)).get_next()
    listener = Listens()
    with graphtrain.MonitoredTrainingSession(hooks=[listener]) as session:
        while True:
            session.run(numbers)
    assert (listener.errors, listener.ended) == ([], 1)


def test_what_on_error_raises_hides_nothing(graph, caplog):
    listener = Listens()
    hooks = [Raises("on_error", ValueError("worse")), listener]
    with pytest.raises(KeyError, match="mine"):
        with graphtrain.MonitoredTrainingSession(hooks=hooks):
            raise KeyError("mine")
    assert len(listener.errors) == 1
    assert "on_error of the hook Raises failed itself" in caplog.text


def test_a_hook_is_told_its_session(graph):
    listener = Listens()
    with graphtrain.MonitoredTrainingSession(hooks=[listener]) as session:
        assert listener.sessions == [session]
