"""Which worker of a synchronous training is missing, when a step cannot be made."""

import contextlib
import threading

import tensorflow as tf

from graphtrain.distribute import peers
from graphtrain.errors import WorkerLostError
from graphtrain.session.error_text import in_one_line

_LOOK_EVERY_SECS = 2.0
# What TensorFlow raises if a worker does not answer, and if the session was closed meanwhile.
_SAID_OF_A_LOSS = (
    tf.errors.UnavailableError,
    tf.errors.DeadlineExceededError,
    tf.errors.CancelledError,
)
# And where it says that a collective is meant.
_OF_A_COLLECTIVE = (tf.errors.AbortedError, tf.errors.InternalError)


def error_meant_by(error, group, *, missing=peers.missing):
    """Returns the `WorkerLostError` that an error of a step means, or None.

    Args:
      error: the exception that `session.run` raised.
      group: the `WorkerGroup`.
      missing: function from addresses to those that do not answer.
    """
    is_of_a_collective = isinstance(error, _OF_A_COLLECTIVE) and "ollective" in error.message
    if not (isinstance(error, _SAID_OF_A_LOSS) or is_of_a_collective):
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
      missing: function from addresses to those that do not answer.
    """

    def __init__(self, session, group, *, missing=peers.missing):
        self._session, self._group, self._missing = session, group, missing
        self._step, self._is_in_step = 0, False
        self._looked_in_step, self._suspects = None, set()
        self._is_stopped = threading.Event()

    def start(self, *, every_secs=_LOOK_EVERY_SECS):
        """Looks, in a thread of its own, every so many seconds until `stop` is called."""

        def look_again_and_again():
            while not self._is_stopped.wait(every_secs):
                self.look()

        threading.Thread(target=look_again_and_again, daemon=True, name="stall watch").start()

    def stop(self):
        """Looks no more."""
        self._is_stopped.set()

    @contextlib.contextmanager
    def step(self):
        """Holds what happens in the `with` block for a step."""
        self._is_in_step = True
        try:
            yield
        finally:
            self._is_in_step = False
            self._step += 1

    def look(self):
        """Closes the session if a worker is missing at two looks within one step."""
        step = self._step if self._is_in_step else None
        is_same, self._looked_in_step = step == self._looked_in_step, step
        if step is None or not is_same:
            self._suspects = set()
            return
        gone = set(self._missing(self._group.other_addresses))
        # One look may fail by chance.
        is_sure = bool(gone & self._suspects)
        self._suspects = gone
        if is_sure and self._is_in_step and self._step == step and not self._is_stopped.is_set():
            self.stop()
            self._session.close()


def _named(group, address):
    return f"worker {group.addresses.index(address)} at {address}"
