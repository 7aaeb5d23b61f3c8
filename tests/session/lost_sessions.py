"""Sessions that fail as if their machine had gone away."""

import tensorflow as tf

tf1 = tf.compat.v1


class LosesSessions(tf1.train.SessionRunHook):
    """Makes the session itself fail at its first run from a step on, so many times."""

    def __init__(self, step, times):
        self._step, self._times = step, times

    def before_run(self, run_context):
        session = run_context.session
        step = int(session.run(tf1.train.get_global_step()))
        if step == self._step and self._times:
            self._times -= 1
            loses_sessions(session)


def loses_sessions(session):
    """Lets the next run of a session fail as if its machine had gone away."""
    call = session._call_tf_sessionrun

    def fails(*args):
        session._call_tf_sessionrun = call
        raise tf.errors.UnavailableError(None, None, "the machine went away")

    session._call_tf_sessionrun = fails
