"""A worker's look at its chief: without one nobody saves."""

import time

import tensorflow as tf

from graphtrain import checks
from graphtrain.distribute import peers

tf1 = tf.compat.v1

_LOOK_EVERY_SECS = 10


class ChiefWatchHook(tf1.train.SessionRunHook):
    """Ends the training of a worker whose chief is gone for too long.

    Args:
      chief: str, the chief's address.
      timeout_secs: seconds >= 0 that it may be gone for.
      connect: function from an address to whether it answers.
      clock: function that gives the time in seconds.

    Example:
      >>> watch = ChiefWatchHook("localhost:2222", timeout_secs=60)
    """

    def __init__(self, chief, *, timeout_secs, connect=peers.accepts, clock=time.monotonic):
        self._chief = chief
        self._timeout_secs = checks.real("timeout_secs", timeout_secs, at_least=0)
        self._connect, self._clock = connect, clock

    def after_create_session(self, session, coord):
        """Begins to look."""
        del session, coord
        self._looked_at = self._clock()
        self._gone_since = None

    def after_run(self, run_context, run_values):
        """Looks, if it is time to.

        Raises:
          PeersMissingError: the chief is gone for too long.
        """
        del run_context, run_values
        now = self._clock()
        if now - self._looked_at < _LOOK_EVERY_SECS:
            return
        self._looked_at = now
        if self._connect(self._chief):
            self._gone_since = None
        elif self._gone_since is None:
            self._gone_since = now
            tf1.logging.warning("the chief, %s, is gone: nobody saves", self._chief)
        elif now - self._gone_since >= self._timeout_secs:
            raise peers.PeersMissingError(
                [self._chief], self._timeout_secs, setting="end_timeout_secs"
            )
