"""What the line search does: scalars and a histogram for TensorBoard, a table at the end."""

import time

import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError
from graphtrain.hooks.scale_counts import ScaleCounts

tf1 = tf.compat.v1

_FETCHED = ("trials", "scale", "learning_rate", "accepted", "searched", "ascent", "search_secs")
_QUANTILES = (0.05, 0.5, 0.95)


class LineSearchHook(tf1.train.SessionRunHook):
    """Counts the trials of a `LineSearchOptimizer`, and reports them.

    Every `every_steps` steps it writes, over the steps since: `line_search/trials_per_step`,
    `line_search/rejected_share`, `line_search/ascent_share`, `line_search/time_share`, the last
    `line_search/learning_rate`, and the histogram `line_search/scales`. At the end it prints a
    table of the whole run.

    Args:
      optimizer: a `LineSearchOptimizer` whose `minimize` or `apply_gradients` has been called.
      every_steps: int >= 1, how many steps a summary is over.
      output_dir: str, the directory of the event file; None writes no summaries.
      write: function of one line of text, for the table.
      clock: function that gives the time in seconds.

    Raises:
      UsageError: `every_steps` is no whole number >= 1, or the optimizer has made no step yet.

    Example:
      >>> w = tf1.get_variable("w", initializer=1.0)
      >>> optimizer = graphtrain.LineSearchOptimizer(
      ...     tf1.train.GradientDescentOptimizer(4.0), shrink=0.25)
      >>> train_op = optimizer.minimize(w * w, tf1.train.get_or_create_global_step())
      >>> hook = LineSearchHook(optimizer)
      >>> with tf1.train.MonitoredTrainingSession(hooks=[hook]) as session:
      ...     for _ in range(2):
      ...         session.run(train_op)
      line search: 2 steps, 2 searched, 0 rejected, 0 led uphill
        trials per step: 3
        scale (5 %, median, 95 %): 0.0625, 0.0625, 0.0625
        learning rate (5 %, median, 95 %): 0.25, 0.25, 0.25
        time in the search: ... % of the steps
    """

    def __init__(
        self, optimizer, *, every_steps=100, output_dir=None, write=print, clock=time.monotonic
    ):
        if not hasattr(optimizer, "search_secs"):
            raise UsageError(
                f"optimizer={optimizer!r} has made no searched step yet: call minimize of a "
                "LineSearchOptimizer, then make the hook"
            )
        self._fetches = {name: getattr(optimizer, name) for name in _FETCHED}
        self._every_steps = checks.whole("every_steps", every_steps)
        self._output_dir = output_dir
        self._write = write
        self._clock = clock
        self._whole_run, self._recent = _Totals(), _Totals()

    def begin(self):
        """Opens the event file."""
        self._global_step = tf1.train.get_global_step()
        if self._output_dir is not None:
            if self._global_step is None:
                raise UsageError(
                    "LineSearchHook needs a global step to write summaries: call "
                    "tf.compat.v1.train.get_or_create_global_step() and give it to minimize"
                )
            self._writer = tf1.summary.FileWriterCache.get(self._output_dir)

    def before_run(self, run_context):
        """Asks for what the step did, if the run makes a step."""
        self._began = self._clock()
        return tf1.train.SessionRunArgs(self._fetches)

    def after_run(self, run_context, run_values):
        """Counts; writes the summaries that are due."""
        secs = self._clock() - self._began
        for totals in (self._whole_run, self._recent):
            totals.add(run_values.results, secs)
        if self._recent.steps == self._every_steps:
            if self._output_dir is not None:
                step = int(run_context.session.run(self._global_step))
                self._writer.add_summary(self._recent.summary(), step)
            self._recent = _Totals()

    def end(self, session):
        """Prints the table."""
        if self._output_dir is not None:
            self._writer.flush()
        if self._whole_run.steps:
            for line in self._whole_run.table():
                self._write(line)


class _Totals:
    """Sums over some steps."""

    def __init__(self):
        self.steps = self._searched = self._rejected = self._ascents = self._trials = 0
        self._search_secs = self._secs = 0.0
        self._scales, self._learning_rates = ScaleCounts(), ScaleCounts()
        self._last_learning_rate = 0.0

    def add(self, did, secs):
        self.steps += 1
        self._searched += bool(did["searched"])
        self._rejected += not did["accepted"]
        self._ascents += bool(did["ascent"])
        self._trials += int(did["trials"])
        self._search_secs += float(did["search_secs"])
        self._secs += secs
        self._scales.add(float(did["scale"]))
        self._last_learning_rate = float(did["learning_rate"])
        self._learning_rates.add(self._last_learning_rate)

    def summary(self):
        values = {
            "trials_per_step": self._trials / self.steps,
            "rejected_share": self._rejected / self.steps,
            "ascent_share": self._ascents / self.steps,
            "time_share": self._time_share,
            "learning_rate": self._last_learning_rate,
        }
        summary = tf1.Summary()
        for name, value in values.items():
            summary.value.add(tag=f"line_search/{name}", simple_value=value)
        summary.value.add(tag="line_search/scales", histo=self._scales.to_proto())
        return summary

    def table(self):
        def quantiles(counts):
            return ", ".join(f"{counts.quantile(part):.3g}" for part in _QUANTILES)

        return [
            f"line search: {self.steps} steps, {self._searched} searched, {self._rejected} "
            f"rejected, {self._ascents} led uphill",
            f"  trials per step: {self._trials / self.steps:.3g}",
            f"  scale (5 %, median, 95 %): {quantiles(self._scales)}",
            f"  learning rate (5 %, median, 95 %): {quantiles(self._learning_rates)}",
            f"  time in the search: {100 * self._time_share:.0f} % of the steps",
        ]

    @property
    def _time_share(self):
        return min(self._search_secs / self._secs, 1.0) if self._secs else 0.0
