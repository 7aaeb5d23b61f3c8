"""Summaries of the graph, written now and then to an event file."""

import tensorflow as tf

from graphtrain.hooks._periodic import PeriodicHook

tf1 = tf.compat.v1


class SummaryHook(PeriodicHook):
    """Writes the graph's summaries at the first step and at each multiple of `every_steps`.

    At all other steps the summary op is not run.

    Args:
      output_dir: str, the directory of the event file.
      scaffold: `tf.compat.v1.train.Scaffold`, whose summary op is run; None for the graph's
        merged summaries.
      every_steps: int >= 1; or else `every_secs`.
      every_secs: seconds > 0 from one summary to the next.

    Raises:
      UsageError: both intervals are given, or none.

    Example:
      >>> step = tf1.train.get_or_create_global_step()
      >>> _ = tf1.summary.scalar("step", step)
      >>> hook = SummaryHook("run", every_steps=10)
      >>> with tf1.train.MonitoredTrainingSession(hooks=[hook]) as session:
      ...     _ = session.run(step)
    """

    def __init__(self, output_dir, *, scaffold=None, every_steps=None, every_secs=None):
        super().__init__({}, every_steps=every_steps, every_secs=every_secs, first_step=True)
        self._output_dir = output_dir
        self._scaffold = scaffold

    def begin(self):
        """Opens the event file."""
        super().begin()
        self._summary_op = None if self._scaffold else tf1.summary.merge_all()
        self._writer = tf1.summary.FileWriterCache.get(self._output_dir)

    def after_create_session(self, session, coord):
        """Finds the summary op: a scaffold has it only now."""
        super().after_create_session(session, coord)
        summary_op = self._scaffold.summary_op if self._scaffold else self._summary_op
        self._tensors = {} if summary_op is None else {"summary": summary_op}

    def report(self, step, values):
        """Writes the summaries of this step."""
        if values:
            self._writer.add_summary(values["summary"], step)

    def end(self, session):
        """Flushes the event file."""
        del session
        self._writer.flush()
