"""The evaluator of a cluster: evaluates each checkpoint that the chief saves, until the last."""

import math
import os
import time

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.estimator import end_of_training
from graphtrain.session import checkpoint_files, checkpoints, signals, writer_lock

tf1 = tf.compat.v1

_POLL_SECS = 1.0
_SETTLED_SECS = 10.0


class ContinuousEvaluation:
    """Evaluates and exports what another process trains; it reads files and connects to nobody.

    The training is over when the chief has said so in the directory. If what it said is from an
    earlier training that did not reach `max_steps`, the next one has `start_timeout_secs` to
    begin. It is also over if the newest checkpoint has reached `max_steps` for a while and nobody
    trains.

    Args:
      estimator: `Estimator`.
      eval_spec: `EvalSpec`.
      max_steps: int >= 1, the step that the training ends at, or None.
      clock: function that gives the time in seconds.
      sleep: function that waits so many seconds.
    """

    def __init__(self, estimator, eval_spec, max_steps, *, clock=time.monotonic, sleep=time.sleep):
        self._estimator = estimator
        self._spec = eval_spec
        self._max_steps = math.inf if max_steps is None else max_steps
        self._clock, self._sleep = clock, sleep
        self._metrics = self._exported = None
        self._seen_step, self._evaluated_path = 0, None
        self._reached_at = None

    def run(self):
        """Evaluates until the last checkpoint has been evaluated.

        Returns:
          (metrics of the last evaluation, list of what the exporters returned after it); (None,
          None) if the training left no checkpoint.

        Raises:
          graphtrain.session.signals.Interrupted: a signal has asked the process to end.
        """
        directory = self._estimator.model_dir
        tf1.logging.info("evaluating the checkpoints of %s as they come", directory)
        self._began = self._next_at = self._clock()
        self._stale = end_of_training.announced(directory)
        self._next_at += self._spec.start_delay_secs
        while True:
            signals.raise_if_stop_is_requested("the evaluation")
            # Asked first: what is saved before the training is over is found below.
            is_over = self._is_over()
            newest = checkpoints.newest(directory)
            if is_over or self._clock() >= self._next_at:
                self._evaluate_new(newest, is_over=is_over)
            if is_over and newest in (None, self._evaluated_path):
                return self._metrics, self._exported
            self._sleep(_POLL_SECS)

    def _is_over(self):
        directory = self._estimator.model_dir
        said = end_of_training.announced(directory)
        now = self._clock()
        if said is not None and said != self._stale:
            return True
        is_training = tf.io.gfile.exists(os.path.join(directory, writer_lock.FILE_NAME))
        newest = None if is_training else checkpoints.newest(directory)
        reached = newest is not None and checkpoints.global_step_of(newest) >= self._max_steps
        if said is not None and not is_training:
            return reached or now - self._began >= self._estimator.config.start_timeout_secs
        if not reached:
            self._reached_at = None
            return False
        self._reached_at = now if self._reached_at is None else self._reached_at
        return now - self._reached_at >= _SETTLED_SECS

    def _evaluate_new(self, newest, *, is_over):
        """Evaluates the checkpoints that are new, the oldest first; with a throttle the newest."""
        if newest is None:
            return
        paths = [newest]
        if not self._spec.throttle_secs:
            paths = checkpoints.kept(self._estimator.model_dir)
            paths = [*paths[: paths.index(newest)], newest] if newest in paths else [newest]
        for path in paths:
            signals.raise_if_stop_is_requested("the evaluation")
            is_last = is_over and path == newest
            if path != self._evaluated_path and (is_last or self._is_new(path)):
                self._evaluate(path, is_last=is_last)
            elif is_last:
                self._export(path, is_last=True)

    def _is_new(self, path):
        step = checkpoint_files.step_in_name(path)
        return step is None or step > self._seen_step

    def _evaluate(self, path, *, is_last):
        spec = self._spec
        self._next_at = self._clock() + (spec.throttle_secs or 0)
        try:
            self._metrics = self._estimator.evaluate(
                spec.input_fn,
                steps=spec.steps,
                hooks=spec.hooks,
                name=spec.name,
                checkpoint_path=path,
            )
            self._evaluated_path = path
            self._seen_step = checkpoint_files.step_in_name(path) or 0
            self._export(path, is_last=is_last)
        except (UsageError, tf.errors.OpError):
            if checkpoint_files.exists(path):
                raise
            tf1.logging.info("%s was deleted before it was evaluated", path)

    def _export(self, path, *, is_last):
        self._exported = export(self._estimator, self._spec, path, self._metrics, is_final=is_last)


def export(estimator, eval_spec, path, metrics, *, is_final):
    """Gives an evaluated checkpoint to the exporters.

    Args:
      estimator: `Estimator`.
      eval_spec: `EvalSpec`.
      path: str, the checkpoint.
      metrics: dict, what the evaluation found.
      is_final: bool, whether it is the training's last checkpoint.

    Returns:
      List of what the exporters returned.
    """
    return [
        exporter.export(
            estimator=estimator,
            export_path=os.path.join(estimator.model_dir, "export", exporter.name),
            checkpoint_path=path,
            eval_result=metrics,
            is_the_final_export=is_final,
        )
        for exporter in eval_spec.exporters
    ]
