import pytest
import tensorflow as tf
from lost_sessions import LosesSessions

import graphtrain
from graphtrain.session.recovery import TooManyRecoveriesError

tf1 = tf.compat.v1


class Raises(tf1.train.SessionRunHook):
    def __init__(self, error, after_create=False):
        self._error, self._after_create = error, after_create
        self.calls = 0

    def after_create_session(self, session, coord):
        if self._after_create:
            self._fail()

    def after_run(self, run_context, run_values):
        if not self._after_create:
            self._fail()

    def _fail(self):
        self.calls += 1
        raise self._error


def train(directory, *hooks, to_step=12, **safety):
    """Counts to a step, saving every 5; returns the steps that the loop saw."""
    with tf.Graph().as_default():
        train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
        seen = [0]
        with graphtrain.MonitoredTrainingSession(
            checkpoint_dir=str(directory),
            save_checkpoint_steps=5,
            hooks=list(hooks),
            safety=graphtrain.SafetyConfig(**safety),
        ) as session:
            while seen[-1] < to_step:
                seen.append(int(session.run(train_op)))
        return seen[1:]


def test_a_lost_session_is_told_of_with_its_cause_and_the_steps_lost(tmp_path, caplog):
    assert train(tmp_path, LosesSessions(7, 1)) == [1, 2, 3, 4, 5, 6, 7, *range(6, 13)]
    (warning,) = [r.getMessage() for r in caplog.records if "was lost" in r.getMessage()]
    assert warning == (
        "the session was lost (the machine went away) and made anew, recovery 1 of at most 10: "
        "going on from step 5, 2 steps lost"
    )


def test_not_without_end(tmp_path):
    with pytest.raises(TooManyRecoveriesError, match="lost 3 times.*the machine went away"):
        train(tmp_path, LosesSessions(5, 99), max_recoveries=2)


@pytest.mark.parametrize("after_create", [False, True])
def test_errors_of_hooks_are_not_retried(tmp_path, after_create):
    error = tf.errors.UnavailableError(None, None, "mine")
    hook = Raises(error, after_create)
    with pytest.raises(tf.errors.UnavailableError) as caught:
        train(tmp_path, hook)
    assert caught.value is error
    assert hook.calls == 1


def test_nor_those_of_code_that_runs_hooks(graph):
    hook = Raises(tf.errors.AbortedError(None, None, "mine"))
    nothing = tf.no_op()
    with pytest.raises(tf.errors.AbortedError, match="mine"):
        with graphtrain.MonitoredTrainingSession(hooks=[hook]) as session:
            session.run_step_fn(lambda step_context: step_context.run_with_hooks(nothing))
    assert hook.calls == 1
