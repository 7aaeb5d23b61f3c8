"""Signals that ask a process to end: the step is finished and saved first.

A Python handler does not run while TensorFlow runs a step, so the signals are heard by a thread,
which the operating system wakes.
"""

import contextlib
import contextvars
import os
import signal
import threading

import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError

tf1 = tf.compat.v1

EXIT_CODE = 75

_STOPPING = (signal.SIGTERM, signal.SIGINT)
_SAVING = signal.SIGUSR1
_listener = contextvars.ContextVar("graphtrain_signal_listener", default=None)


class Interrupted(Exception):
    """Something other than training, which has nothing to save, was ended by a signal."""


@contextlib.contextmanager
def saving_on_signals(*, patience_secs=20):
    """Lets signals end the training within the `with` block, instead of the process.

    SIGTERM and SIGINT (Ctrl-C): the step is finished, a checkpoint saved, the hooks' `end` run;
    the training returns. An evaluation is broken off. A second one ends the process at once,
    with code 128 + its number. SIGUSR1: a checkpoint is saved after the step, and training goes
    on. On leaving the block the handlers are those of before.

    A step that is not finished after `patience_secs` waits for its input, perhaps for ever: then
    the variables are saved as they are, without the input's position, and the process ends.

    Args:
      patience_secs: seconds > 0.

    Yields:
      A `SignalListener`: a script ends with its `exit_code`.

    Raises:
      UsageError: it is not the main thread of the process, or `patience_secs` makes no sense.

    Example:
      >>> train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
      >>> with saving_on_signals() as signals:
      ...     with graphtrain.MonitoredTrainingSession(checkpoint_dir="run") as session:
      ...         while not session.should_stop():
      ...             step = session.run(train_op)
      ...             if step == 3:
      ...                 os.kill(os.getpid(), 15)
      >>> signals.received, signals.exit_code
      ('SIGTERM', 75)
    """
    patience_secs = checks.real("patience_secs", patience_secs, above=0)
    if threading.current_thread() is not threading.main_thread():
        raise UsageError("saving_on_signals() works in the main thread of a process only.")
    listener = SignalListener(patience_secs)
    handlers = {number: signal.signal(number, lambda *_: None) for number in (*_STOPPING, _SAVING)}
    wakeup_fd = signal.set_wakeup_fd(listener.start(), warn_on_full_buffer=False)
    token = _listener.set(listener)
    try:
        yield listener
    finally:
        _listener.reset(token)
        signal.set_wakeup_fd(wakeup_fd)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        listener.stop()


def requested_stop():
    """Returns the name of the signal that asked to end, or None.

    Example:
      >>> requested_stop() is None
      True
    """
    listener = _listener.get()
    return None if listener is None else listener.received


def stop_with_others():
    """Takes note that another process of the training was sent a signal to end.

    So this one ends as if it had been sent to it: the training is not at its end.
    """
    if _listener.get() is not None and _listener.get().received is None:
        _listener.get().received = "a signal to another worker"


def raise_if_stop_is_requested(what):
    """Breaks off something that has nothing to save.

    Args:
      what: str, what it is, for the message.

    Raises:
      Interrupted: a signal has asked to end.
    """
    if requested_stop() is not None:
        raise Interrupted(f"{what} was broken off by {requested_stop()}")


def is_save_requested():
    """Says whether a signal has asked for a checkpoint that is not saved yet."""
    listener = _listener.get()
    return listener is not None and listener.save_requested


def save_is_done():
    """Takes note that a checkpoint was saved."""
    if _listener.get() is not None:
        _listener.get().save_requested = False


def step_begins(rescue):
    """Takes note that the training loop makes its next step.

    Args:
      rescue: function without arguments that saves what can be saved, called in another thread
        if a signal comes and the step does not end.
    """
    if _listener.get() is not None:
        _listener.get().rescue = rescue


def step_is_done():
    """Takes note that the training loop is not stuck in a step."""
    step_begins(None)


class SignalListener:
    """Hears the signals of a `saving_on_signals` block.

    Attributes:
      received: str, the name of the signal that asked to end; None as long as none came.
      save_requested: whether a checkpoint was asked for that is not saved yet.
      rescue: function without arguments, called if a step does not end; None between steps.
    """

    def __init__(self, patience_secs):
        self.received = None
        self.save_requested = False
        self.rescue = None
        self._patience_secs = patience_secs
        self._stopped = threading.Event()

    @property
    def exit_code(self):
        """Int, the code for the process to end with: 75 after a signal, "try again", else 0."""
        return 0 if self.received is None else EXIT_CODE

    def start(self):
        """Begins to listen; returns the file descriptor that signals are to be written to."""
        self._heard, told = os.pipe()
        os.set_blocking(told, False)
        self._told = told
        threading.Thread(target=self._listen, daemon=True, name="signals").start()
        return told

    def stop(self):
        """Stops listening."""
        self._stopped.set()
        os.close(self._told)

    def _listen(self):
        while heard := os.read(self._heard, 1):
            number = signal.Signals(heard[0])
            if number == _SAVING:
                self.save_requested = True
            elif number in _STOPPING:
                self._stop_on(number)
        os.close(self._heard)

    def _stop_on(self, number):
        if self.received is not None:
            os._exit(128 + number)
        self.received = number.name
        tf1.logging.warning(
            "%s: ending after this step, and a checkpoint; once more ends it at once", number.name
        )
        threading.Thread(target=self._rescue_if_stuck, daemon=True, name="rescue").start()

    def _rescue_if_stuck(self):
        if self._stopped.wait(self._patience_secs) or self.rescue is None:
            return
        self.rescue()
        os._exit(EXIT_CODE)
