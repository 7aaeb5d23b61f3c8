"""Stopping a worker only when the chief has saved the last step."""

import time

import tensorflow as tf

from graphtrain import checks
from graphtrain.estimator.estimator import Estimator
from graphtrain.session import checkpoints

tf1 = tf.compat.v1


def make_stop_at_checkpoint_step_hook(estimator, last_step, wait_after_file_check_secs=30):
    """Makes a hook that stops the training at a global step; workers wait for its checkpoint.

    A worker that left as soon as the step is reached would miss steps that are undone when the
    chief restarts from an older checkpoint.

    Args:
      estimator: the `Estimator` that is trained.
      last_step: int >= 1, the global step to stop at.
      wait_after_file_check_secs: seconds >= 0 that a worker waits before it looks for the
        checkpoint again.

    Returns:
      A session hook: for the chief a `tf.compat.v1.train.StopAtStepHook`.

    Raises:
      TypeError: the estimator is no `Estimator`.
      UsageError: a number cannot be used.

    Example:
      >>> estimator = graphtrain.Estimator(lambda features, mode: None, "run")
      >>> type(make_stop_at_checkpoint_step_hook(estimator, last_step=100)).__name__
      'StopAtStepHook'
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(f"estimator must be a graphtrain.Estimator, got {estimator!r}.")
    last_step = checks.whole("last_step", last_step)
    wait_secs = checks.real("wait_after_file_check_secs", wait_after_file_check_secs, at_least=0)
    if estimator.config.is_chief:
        return tf1.train.StopAtStepHook(last_step=last_step)
    return StopAtCheckpointStepHook(estimator.model_dir, last_step, wait_secs)


class StopAtCheckpointStepHook(tf1.train.SessionRunHook):
    """Stops a worker when a checkpoint of the last step is there.

    Args:
      model_dir: str, the directory of the checkpoints.
      last_step: int, the global step to stop at.
      wait_secs: seconds to wait before looking again.
      sleep: function that waits so many seconds.
    """

    def __init__(self, model_dir, last_step, wait_secs, *, sleep=time.sleep):
        self._model_dir = model_dir
        self._last_step = last_step
        self._wait_secs = wait_secs
        self._sleep = sleep

    def begin(self):
        """Finds the global step."""
        self._global_step = tf1.train.get_or_create_global_step()

    def before_run(self, run_context):
        """Asks for the global step."""
        del run_context
        return tf1.train.SessionRunArgs(self._global_step)

    def after_run(self, run_context, run_values):
        """Looks for the checkpoint once the last step is reached."""
        # What was fetched may be the step before the run.
        if run_values.results + 1 < self._last_step:
            return
        if run_context.session.run(self._global_step) < self._last_step:
            return
        path = checkpoints.newest(self._model_dir)
        if path is not None and checkpoints.global_step_of(path) >= self._last_step:
            run_context.request_stop()
            return
        tf1.logging.info("waiting for a checkpoint of step %d", self._last_step)
        self._sleep(self._wait_secs)
