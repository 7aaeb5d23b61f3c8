"""Steps per second."""

import time

import tensorflow as tf

from graphtrain.hooks._periodic import PeriodicHook

tf1 = tf.compat.v1


class StepRateHook(PeriodicHook):
    """Logs the steps per second, and writes them as the summary `global_step/sec`.

    Args:
      every_steps: int >= 1, how many steps a figure is over.
      output_dir: str, the directory of the event file; None writes none.
      clock: function that gives the time in seconds.

    Raises:
      UsageError: `every_steps` is no whole number >= 1.

    Example:
      >>> train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
      >>> hook = StepRateHook(every_steps=10)
      >>> with tf1.train.MonitoredTrainingSession(hooks=[hook]) as session:
      ...     _ = session.run(train_op)
    """

    def __init__(self, *, every_steps=100, output_dir=None, clock=time.monotonic):
        super().__init__({}, every_steps=every_steps, clock=clock)
        self._output_dir = output_dir

    def begin(self):
        """Opens the event file."""
        super().begin()
        self._writer = self._output_dir and tf1.summary.FileWriterCache.get(self._output_dir)

    def after_create_session(self, session, coord):
        """Begins to time."""
        super().after_create_session(session, coord)
        self._timed_step, self._timed_at = self._step, self._clock()

    def report(self, step, values):
        """Logs and writes the rate since the last report."""
        del values
        now = self._clock()
        rate = (step - self._timed_step) / max(now - self._timed_at, 1e-9)
        self._timed_step, self._timed_at = step, now
        tf1.logging.info("global_step/sec: %g", rate)
        if self._writer:
            summary = tf1.Summary()
            summary.value.add(tag="global_step/sec", simple_value=rate)
            self._writer.add_summary(summary, step)
