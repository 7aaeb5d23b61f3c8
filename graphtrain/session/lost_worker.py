"""Which worker of a synchronous training is missing, when a step cannot be made."""

import contextlib
import threading

import tensorflow as tf

from graphtrain.distribute import peers
from graphtrain.errors import WorkerLostError
from graphtrain.session.error_text import in_one_line

_LOOK_EVERY_SECS = 2.0
_MEANT_BY = (
    tf.errors.UnavailableError,
    tf.errors.DeadlineExceededError,
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.InternalError,
)


def error_meant_by(error, group, *, missing=peers.missing):
    """Returns the `WorkerLostError` that an error of a step means, or None.

    Args:
      error: the exception that `session.run` raised.
      group: the `WorkerGroup`.
      missing: function from addresses to those that do not answer.
    """
    if not isinstance(error, _MEANT_BY):
        return None
    gone = missing(group.other_addresses)
    if gone:
        what = f"{', '.join(_named(group, address) for address in gone)} does not answer any more"
    elif isinstance(error, tf.errors.DeadlineExceededError):
        what = (
            f"a worker has not come to the step within stall_timeout_secs="
            f"{group.stall_timeout_secs:g} seconds, though all ports answer: see what it waits for"
        )
    else:
        what = "another worker has broken off, though all ports answer: see its log"
    return WorkerLostError(
        f"Worker {group.index} cannot make a step: {what} ({in_one_line(error)}). Start all "
        "workers again: they go on from the last checkpoint."
    )


class StallWatch:
    """Breaks a step off that waits for a worker which is gone.

    A collective that has asked a worker for its part, and the worker dies then, is told so at once;
    one that waits to be asked is not, and would wait for `stall_timeout_secs`.

    Args:
      session: `tf.compat.v1.Session`, which is closed to break its step off.
      group: the `WorkerGroup`.
      every_secs: seconds between two looks at the others, as long as one step goes on.
      missing: function from addresses to those that do not answer.
    """

    def __init__(self, session, group, *, every_secs=_LOOK_EVERY_SECS, missing=peers.missing):
        self._session, self._group = session, group
        self._every_secs, self._missing = every_secs, missing
        self._step_is_over = threading.Event()

    @contextlib.contextmanager
    def step(self):
        """Looks after the others as long as the `with` block goes on."""
        timer = threading.Timer(self._every_secs, self._look)
        timer.daemon = True
        self._step_is_over.clear()
        timer.start()
        try:
            yield
        finally:
            self._step_is_over.set()
            timer.cancel()

    def _look(self):
        while not self._step_is_over.is_set():
            if self._missing(self._group.other_addresses) and not self._step_is_over.is_set():
                self._session.close()
                return
            self._step_is_over.wait(self._every_secs)


def _named(group, address):
    return f"worker {group.addresses.index(address)} at {address}"
