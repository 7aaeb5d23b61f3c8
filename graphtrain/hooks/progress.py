"""How far a run is: a bar on a terminal, plain lines elsewhere."""

import datetime
import sys
import time

from graphtrain.hooks._periodic import PeriodicHook

_BAR = "step {n_fmt}/{total_fmt} |{bar:20}| {remaining} left{postfix}"


class ProgressHook(PeriodicHook):
    """Shows step of total, loss, learning rate, examples/s and time left.

    On a terminal it is a bar, drawn by tqdm. Elsewhere (a log file, a pipe) it is one line
    every `every_steps` steps and one at the last step. Loss and learning rate are fetched at
    those steps only.

    >>> step = tf1.train.get_or_create_global_step()
    >>> train_op = tf1.assign_add(step, 1)
    >>> hook = graphtrain.hooks.ProgressHook(
    ...     tf.constant(0.25), tf.constant(0.1), batch_size=32, total_steps=3, every_steps=2,
    ...     stream=sys.stdout)
    >>> with tf1.train.MonitoredTrainingSession(hooks=[hook]) as session:
    ...     for _ in range(3):
    ...         _ = session.run(train_op)
    step 2/3, loss 0.25, learning rate 0.1, ... examples/s, 0:00:00 left
    step 3/3, loss 0.25, learning rate 0.1, ... examples/s, 0:00:00 left
    """

    def __init__(
        self,
        loss,
        learning_rate=None,
        *,
        batch_size,
        total_steps=None,
        every_steps=100,
        stream=None,
        clock=time.monotonic,
    ):
        """Makes the hook.

        Args:
          loss: scalar tensor, its name in the graph, or the tag of its summary.
          learning_rate: the same, or None to show none.
          batch_size: int, examples in one step.
          total_steps: int or None, the global step at which the run ends, if known.
          every_steps: int >= 1, how often the figures are taken.
          stream: where to write, by default `sys.stderr`; a bar is drawn if its `isatty()`.
          clock: function that gives the time in seconds.

        Raises:
          UsageError: if `every_steps` or `total_steps` is not a whole number >= 1.
        """
        tensors = {"loss": loss}
        if learning_rate is not None:
            tensors["learning rate"] = learning_rate
        super().__init__(tensors, every_steps=every_steps, total_steps=total_steps)
        self._batch_size = batch_size
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._bar = None

    def after_create_session(self, session, coord):
        """Starts the bar, or resumes it after a recovery of the session."""
        super().after_create_session(session, coord)
        self._timed_step, self._timed_at = self._step, self._clock()
        if self._stream.isatty():
            self._close_bar()
            self._bar = self._make_bar()

    def after_run(self, run_context, run_values):
        """Moves the bar on; reports, if the step is one to be reported."""
        super().after_run(run_context, run_values)
        if self._bar is not None:
            self._bar.update(self._step - self._bar.n)

    def report(self, step, values):
        """Shows the figures of this step."""
        now = self._clock()
        steps_per_sec = (step - self._timed_step) / max(now - self._timed_at, 1e-9)
        self._timed_step, self._timed_at = step, now
        figures = {name: f"{value:.4g}" for name, value in values.items()}
        rate = f"{self._batch_size * steps_per_sec:.0f} examples/s"
        shown = ", ".join([*(f"{name} {value}" for name, value in figures.items()), rate])
        if self._bar is not None:
            self._bar.set_postfix_str(shown, refresh=False)
        else:
            self.write(self._line(step, shown, steps_per_sec))

    def end(self, session):
        """Leaves the finished bar on the screen."""
        del session
        self._close_bar()

    def write(self, line):
        """Writes a line above the bar, or as it is where there is no bar."""
        if self._bar is not None:
            self._bar.write(line, file=self._stream)
        else:
            print(line, file=self._stream, flush=True)

    def _line(self, step, shown, steps_per_sec):
        if self._total_steps is None:
            return f"step {step}, {shown}"
        left = datetime.timedelta(seconds=round((self._total_steps - step) / steps_per_sec))
        return f"step {step}/{self._total_steps}, {shown}, {left} left"

    def _make_bar(self):
        import tqdm  # Only a terminal needs it.

        return tqdm.tqdm(
            total=self._total_steps,
            initial=self._step,
            bar_format=_BAR,
            dynamic_ncols=True,
            file=self._stream,
        )

    def _close_bar(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None
