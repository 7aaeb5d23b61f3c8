"""train_and_evaluate: one training session, and an evaluation of each checkpoint it saves."""

import math
import time

import tensorflow as tf

from graphtrain.distribute.cluster_settings import EVALUATOR
from graphtrain.distribute.modes import PARAMETER_SERVER
from graphtrain.estimator.continuous_evaluation import ContinuousEvaluation, export
from graphtrain.estimator.estimator import Estimator
from graphtrain.estimator.spec import EvalSpec, TrainSpec
from graphtrain.session import signals

tf1 = tf.compat.v1


def train_and_evaluate(estimator, train_spec, eval_spec):
    """Trains in one session, evaluates each checkpoint that it saves, and exports.

    How often is `RunConfig.save_checkpoints_steps` or `save_checkpoints_secs`, unless
    `EvalSpec.throttle_secs` makes it less often. The last checkpoint is evaluated always, and
    given to the exporters as the final one. Started again after it had reached `max_steps`, it
    changes no file.

    In a cluster each process calls it, with the same arguments, and does what its task is: the
    evaluator evaluates and exports, if there is one; the others train, or hold variables.

    Args:
      estimator: `Estimator`.
      train_spec: `TrainSpec`.
      eval_spec: `EvalSpec`.

    Returns:
      (metrics of the last evaluation, list of what the exporters returned after it); (None,
      None) if there was nothing to train, and in the processes that do not evaluate.

    Raises:
      TypeError: an argument is of another type.
      UsageError: the RunConfig saves no checkpoint.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     weight = tf1.get_variable("w", initializer=0.0)
      ...     loss = tf.reduce_mean(tf.square(labels - weight * features))
      ...     optimizer = tf1.train.GradientDescentOptimizer(0.25)
      ...     train_op = optimizer.minimize(loss, global_step=tf1.train.get_global_step())
      ...     return graphtrain.EstimatorSpec(mode, weight * features, loss, train_op)
      >>> def input_fn():
      ...     return tf.data.Dataset.from_tensors(([1.0], [2.0])).repeat(20)
      >>> metrics, _ = graphtrain.train_and_evaluate(
      ...     graphtrain.Estimator(model_fn, "run"),
      ...     graphtrain.TrainSpec(input_fn, max_steps=2),
      ...     graphtrain.EvalSpec(input_fn))
      >>> float(metrics["loss"]), int(metrics["global_step"])
      (0.25, 2)
    """
    for name, value, kind in (
        ("estimator", estimator, Estimator),
        ("train_spec", train_spec, TrainSpec),
        ("eval_spec", eval_spec, EvalSpec),
    ):
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be a graphtrain.{kind.__name__}, got {value!r}.")
    config, max_steps = estimator.config, train_spec.max_steps
    if config.task_type == EVALUATOR:
        return ContinuousEvaluation(estimator, eval_spec, max_steps).run()
    listener = _EvaluationListener(estimator, eval_spec, max_steps)
    listeners = [listener]
    if config.has_evaluator or config.distribution == PARAMETER_SERVER:
        listeners = []
        if config.is_chief and not config.has_evaluator:
            tf1.logging.info(
                "no checkpoint is evaluated here: beside parameter servers that is the task of an "
                'evaluator, a process of its own with the task "evaluator"'
            )
    estimator.train(
        train_spec.input_fn,
        hooks=train_spec.hooks,
        max_steps=max_steps,
        saving_listeners=(*train_spec.saving_listeners, *listeners),
    )
    return listener.metrics, listener.export_results


class _EvaluationListener(tf1.train.CheckpointSaverListener):
    """Evaluates and exports each checkpoint after the one that the session starts with."""

    def __init__(self, estimator, eval_spec, max_steps):
        self._estimator = estimator
        self._eval_spec = eval_spec
        self._max_steps = max_steps
        self._next_evaluation = -math.inf
        self.metrics = None
        self.export_results = None

    def begin(self):
        self._is_first_save = True
        self._evaluated_step = None
        self._was_final = False

    def after_save(self, session, global_step_value):
        if self._is_first_save:
            self._is_first_save = False
            return
        reached = self._max_steps is not None and global_step_value >= self._max_steps
        if not reached and time.monotonic() < self._next_evaluation:
            tf1.logging.info(
                "checkpoint %d is not evaluated, by throttle_secs=%s",
                global_step_value,
                self._eval_spec.throttle_secs,
            )
            return
        self._evaluate_and_export(global_step_value, is_final=reached)

    def end(self, session, global_step_value):
        if not self._was_final:
            self._evaluate_and_export(global_step_value, is_final=True)

    def _evaluate(self, step):
        spec = self._eval_spec
        self._next_evaluation = time.monotonic() + (spec.throttle_secs or 0)
        self.metrics = self._estimator.evaluate(
            spec.input_fn, steps=spec.steps, hooks=spec.hooks, name=spec.name
        )
        self._evaluated_step = step

    def _evaluate_and_export(self, step, *, is_final):
        """Evaluates, if it has not been done, and exports, unless a signal has asked to end."""
        try:
            signals.raise_if_stop_is_requested("the evaluation")
            if self._evaluated_step != step:
                self._evaluate(step)
            self._export(is_final=is_final)
        except signals.Interrupted as error:
            tf1.logging.warning("%s", error)

    def _export(self, *, is_final):
        self.export_results = export(
            self._estimator,
            self._eval_spec,
            self._estimator.latest_checkpoint(),
            self.metrics,
            is_final=is_final,
        )
        self._was_final = is_final
