"""Summaries of the graph, written now and then to an event file."""

import tensorflow as tf

from graphtrain.hooks._periodic import PeriodicHook
from graphtrain.hooks.finite_histograms import without_bad_histograms
from graphtrain.stopwatch import Stopwatch

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
      watch: `Stopwatch` that counts the time it takes to write them, or None.

    Raises:
      UsageError: both intervals are given, or none.

    Example:
      >>> step = tf1.train.get_or_create_global_step()
      >>> _ = tf1.summary.scalar("step", step)
      >>> hook = SummaryHook("run", every_steps=10)
      >>> with tf1.train.MonitoredTrainingSession(hooks=[hook]) as session:
      ...     _ = session.run(step)
    """

    def __init__(self, output_dir, *, scaffold=None, every_steps=None, every_secs=None, watch=None):
        super().__init__({}, every_steps=every_steps, every_secs=every_secs, first_step=True)
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._watch = watch or Stopwatch()

    def begin(self):
        """Finds the summary op; opens the event file."""
        super().begin()
        summary_op = self._summary_op()
        if summary_op is not None:
            self._tensors["summary"], self._histograms = without_bad_histograms(summary_op)
        self._writer = tf1.summary.FileWriterCache.get(self._output_dir)

    def report(self, step, values):
        """Writes the summaries of this step."""
        if not values:
            return
        with self._watch.timing("summaries"):
            self._writer.add_summary(values["summary"], step)
        if self._histograms:
            written = {value.tag for value in tf1.Summary.FromString(values["summary"]).value}
            for tag in set(self._histograms) - written:
                tf1.logging.warning(
                    "no histogram of %s at step %d: its values are not finite", tag, step
                )

    def end(self, session):
        """Flushes the event file."""
        del session
        self._writer.flush()

    def _summary_op(self):
        if self._scaffold is not None and self._scaffold.summary_op is not None:
            return self._scaffold.summary_op
        given = tf1.get_collection(tf1.GraphKeys.SUMMARY_OP)
        return given[0] if given else tf1.summary.merge_all()
