"""A trace of some steps, for TensorBoard's profiler."""

import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError
from graphtrain.hooks.quiet import NEVER, QuietHook, steps_of_run

tf1 = tf.compat.v1


class ProfileHook(QuietHook):
    """Records what TensorFlow does in the steps from `first_step` to `last_step`.

    The trace is put under `output_dir`/plugins/profile, where TensorBoard's profiler finds it (the
    package `tensorboard-plugin-profile`).

    Args:
      output_dir: str, the directory of the run.
      first_step: int >= 1, the first global step recorded.
      last_step: int >= first_step, the last.

    Raises:
      UsageError: the steps are no whole numbers, or in the wrong order.

    Example:
      >>> ProfileHook("run", first_step=100, last_step=110).steps_until_due.__name__
      'steps_until_due'
    """

    def __init__(self, output_dir, *, first_step, last_step):
        self._output_dir = output_dir
        self._first_step = checks.whole("first_step", first_step)
        self._last_step = checks.whole("last_step", last_step)
        if self._last_step < self._first_step:
            raise UsageError(
                f"last_step={last_step!r} cannot be used: it is before first_step={first_step!r}"
            )
        self._is_recording = False

    def after_create_session(self, session, coord):
        """Reads the step at which this session starts."""
        del coord
        self._step = int(session.run(tf1.train.get_global_step(session.graph)))

    def steps_until_due(self):
        """Returns in how many steps a recorded step comes."""
        if self._step >= self._last_step:
            return NEVER
        return max(self._first_step - self._step, 1)

    def pass_over(self, steps):
        """Counts steps that were made without the hook."""
        self._step += steps

    def before_run(self, run_context):
        """Begins to record, if the run makes the first step to be recorded."""
        self._coming = self._step + steps_of_run(run_context)
        if not self._is_recording and self._first_step <= self._coming <= self._last_step:
            tf.profiler.experimental.start(self._output_dir)
            self._is_recording = True

    def after_run(self, run_context, run_values):
        """Writes the trace after the last step to be recorded."""
        del run_context, run_values
        self._step = self._coming
        if self._step >= self._last_step:
            self._stop()

    def end(self, session):
        """Writes the trace of a run that ended early."""
        del session
        self._stop()

    def _stop(self):
        if self._is_recording:
            tf.profiler.experimental.stop()
            self._is_recording = False
            tf1.logging.info("wrote a trace of the steps to %s", self._output_dir)
