"""Sessions that have to wait: for a chief to initialize them, or for what comes before them."""

import time

import tensorflow as tf

from graphtrain import session_values
from graphtrain.errors import UsageError
from graphtrain.session import inputs, signals
from graphtrain.session.recovery import Recoveries

tf1 = tf.compat.v1

_POLL_SECS = 0.5
_LOOK_EVERY_SECS = 5


class WaitingSessionCreator(tf1.train.SessionCreator):
    """Creates the sessions of a worker that waits for its chief to initialize the variables.

    Args:
      scaffold: `tf.compat.v1.train.Scaffold`.
      master: str, the TensorFlow master.
      config: `tf.compat.v1.ConfigProto` or None.
      max_wait_secs: seconds > 0 to wait.
      max_recoveries: int >= 0, how often a lost session is made anew.

    Attributes:
      recoveries: `Recoveries` of the sessions that it has made.
    """

    def __init__(self, scaffold, *, master, config, max_wait_secs, max_recoveries):
        self._scaffold = scaffold
        self._master = master
        self._config = config
        self._max_wait_secs = max_wait_secs
        self.recoveries = Recoveries(max_recoveries, 0)

    def create_session(self):
        """Returns a new session, its iterators initialized.

        Raises:
          UsageError: the chief has not initialized the variables in time.
          graphtrain.session.signals.Interrupted: a signal has asked the process to end.
        """
        self.recoveries.begin_session()
        session = self._ready_session()
        session_values.forget(session)
        inputs.initialize(session)
        self.recoveries.watch(session)
        global_step = tf1.train.get_global_step()
        if global_step is not None:
            step = int(session.run(global_step))
            self.recoveries.report(None, step)
            tf1.logging.info("joined the training at global step %d", step)
        return session

    def _ready_session(self):
        self._scaffold.finalize()
        # TensorFlow's own session creator looks every 30 seconds, and hears no signal meanwhile.
        manager = tf1.train.SessionManager(
            local_init_op=self._scaffold.local_init_op,
            ready_op=self._scaffold.ready_op,
            ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
            graph=tf1.get_default_graph(),
            recovery_wait_secs=_POLL_SECS,
        )
        began = time.monotonic()
        while True:
            left = self._max_wait_secs - (time.monotonic() - began)
            signals.raise_if_stop_is_requested("the wait for the chief")
            try:
                return manager.wait_for_session(
                    self._master, config=self._config, max_wait_secs=min(left, _LOOK_EVERY_SECS)
                )
            except tf.errors.DeadlineExceededError as error:
                if left > _LOOK_EVERY_SECS:
                    continue
                raise UsageError(
                    f"The chief has not initialized the variables within {self._max_wait_secs:g} "
                    "seconds: see what it waits for; session_creation_timeout_secs is how long is "
                    "waited."
                ) from error


class _PrecededCreator(tf1.train.SessionCreator):
    """Calls a function before each session of another creator is made."""

    def __init__(self, function, creator):
        self._function = function
        self._creator = creator

    def create_session(self):
        """Returns the other creator's new session."""
        self._function()
        return self._creator.create_session()


def preceded_by(function, creator):
    """Returns a session creator that calls a function before each session.

    Args:
      function: callable without arguments, or None for `creator` itself.
      creator: `tf.compat.v1.train.SessionCreator`.

    Returns:
      `tf.compat.v1.train.SessionCreator`.

    Example:
      >>> creator = preceded_by(lambda: print("now"), tf1.train.ChiefSessionCreator())
      >>> creator.create_session().close()
      now
    """
    return creator if function is None else _PrecededCreator(function, creator)
