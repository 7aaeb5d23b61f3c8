"""Early stopping by the metrics of the evaluations so far.

The metrics are read from the event files of the evaluations, so that they count across restarts.
"""

import math
import operator

from graphtrain import checks, evaluation_events
from graphtrain.errors import UsageError
from graphtrain.experimental.early_stopping import make_early_stopping_hook


def stop_if_higher_hook(
    estimator,
    metric_name,
    threshold,
    eval_dir=None,
    min_steps=0,
    run_every_secs=60,
    run_every_steps=None,
):
    """Makes a hook that ends the training when a metric is higher than a threshold.

    Args:
      estimator: the `Estimator` that is trained.
      metric_name: str, the name of the metric, such as "accuracy".
      threshold: number; a metric above it ends the training.
      eval_dir: str, the directory of the event files; by default `estimator.eval_dir()`.
      min_steps: int >= 0; evaluations at earlier global steps do not count.
      run_every_secs: seconds > 0 from one look at the metrics to the next; None if
        `run_every_steps` is given.
      run_every_steps: int >= 1; the metrics are looked at at multiples of it.

    Returns:
      A session hook; see `make_early_stopping_hook`.

    Raises:
      TypeError: the estimator is no `Estimator`.
      UsageError: both intervals are given, or none; or a number cannot be used.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     step = tf1.train.get_global_step()
      ...     loss = 1.0 / tf.cast(step + 1, tf.float32)
      ...     return graphtrain.EstimatorSpec(mode, features, loss, tf1.assign_add(step, 1))
      >>> def input_fn():
      ...     return tf.data.Dataset.from_tensors(1.0)
      >>> estimator = graphtrain.Estimator(
      ...     model_fn, "stopped_run", graphtrain.RunConfig(save_checkpoints_steps=1))
      >>> hook = stop_if_lower_hook(
      ...     estimator, "loss", 0.3, run_every_secs=None, run_every_steps=1)
      >>> _ = graphtrain.train_and_evaluate(
      ...     estimator,
      ...     graphtrain.TrainSpec(lambda: tf.constant(1.0), max_steps=9, hooks=[hook]),
      ...     graphtrain.EvalSpec(input_fn))
      >>> estimator.last_train_result.stop_reason
      'loss = 0.25 at step 3 is lower than 0.3'
    """
    condition = _threshold_condition("higher", operator.gt, metric_name, threshold)
    return _hook(estimator, condition, eval_dir, min_steps, run_every_secs, run_every_steps)


def stop_if_lower_hook(
    estimator,
    metric_name,
    threshold,
    eval_dir=None,
    min_steps=0,
    run_every_secs=60,
    run_every_steps=None,
):
    """Makes a hook that ends the training when a metric is lower than a threshold.

    Args:
      estimator: the `Estimator` that is trained.
      metric_name: str, the name of the metric, such as "loss".
      threshold: number; a metric below it ends the training.
      eval_dir: as for `stop_if_higher_hook`, like those that follow.
      min_steps: int >= 0.
      run_every_secs: seconds > 0, or None.
      run_every_steps: int >= 1, or None.

    Returns:
      A session hook; see `make_early_stopping_hook`.

    Raises:
      TypeError: the estimator is no `Estimator`.
      UsageError: both intervals are given, or none; or a number cannot be used.
    """
    condition = _threshold_condition("lower", operator.lt, metric_name, threshold)
    return _hook(estimator, condition, eval_dir, min_steps, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(
    estimator,
    metric_name,
    max_steps_without_increase,
    eval_dir=None,
    min_steps=0,
    run_every_secs=60,
    run_every_steps=None,
):
    """Makes a hook that ends the training when a metric has not risen for some steps.

    Args:
      estimator: the `Estimator` that is trained.
      metric_name: str, the name of the metric, such as "accuracy".
      max_steps_without_increase: int >= 1; an evaluation so many steps after that with the
        highest metric ends the training.
      eval_dir: as for `stop_if_higher_hook`, like those that follow.
      min_steps: int >= 0.
      run_every_secs: seconds > 0, or None.
      run_every_steps: int >= 1, or None.

    Returns:
      A session hook; see `make_early_stopping_hook`.

    Raises:
      TypeError: the estimator is no `Estimator`.
      UsageError: both intervals are given, or none; or a number cannot be used.
    """
    steps = checks.whole("max_steps_without_increase", max_steps_without_increase)
    condition = _improvement_condition("increase", operator.gt, metric_name, steps)
    return _hook(estimator, condition, eval_dir, min_steps, run_every_secs, run_every_steps)


def stop_if_no_decrease_hook(
    estimator,
    metric_name,
    max_steps_without_decrease,
    eval_dir=None,
    min_steps=0,
    run_every_secs=60,
    run_every_steps=None,
):
    """Makes a hook that ends the training when a metric has not fallen for some steps.

    Args:
      estimator: the `Estimator` that is trained.
      metric_name: str, the name of the metric, such as "loss".
      max_steps_without_decrease: int >= 1; an evaluation so many steps after that with the
        lowest metric ends the training.
      eval_dir: as for `stop_if_higher_hook`, like those that follow.
      min_steps: int >= 0.
      run_every_secs: seconds > 0, or None.
      run_every_steps: int >= 1, or None.

    Returns:
      A session hook; see `make_early_stopping_hook`.

    Raises:
      TypeError: the estimator is no `Estimator`.
      UsageError: both intervals are given, or none; or a number cannot be used.
    """
    steps = checks.whole("max_steps_without_decrease", max_steps_without_decrease)
    condition = _improvement_condition("decrease", operator.lt, metric_name, steps)
    return _hook(estimator, condition, eval_dir, min_steps, run_every_secs, run_every_steps)


def _hook(estimator, condition, eval_dir, min_steps, run_every_secs, run_every_steps):
    min_steps = checks.whole("min_steps", min_steps, at_least=0)

    def should_stop_fn():
        evaluations = evaluation_events.read_metrics(eval_dir or estimator.eval_dir())
        counted = {step: values for step, values in evaluations.items() if step >= min_steps}
        return condition(counted)

    return make_early_stopping_hook(estimator, should_stop_fn, run_every_secs, run_every_steps)


def _threshold_condition(name, is_beyond, metric_name, threshold):
    """Returns a function of the evaluations that gives a reason to stop, or None."""
    threshold = checks.real("threshold", threshold)

    def condition(evaluations):
        for step, value in _values(evaluations, metric_name):
            if is_beyond(value, threshold):
                return f"{metric_name} = {value:g} at step {step} is {name} than {threshold:g}"
        return None

    return condition


def _improvement_condition(name, is_better, metric_name, max_steps):
    """Returns a function of the evaluations that gives a reason to stop, or None."""

    def condition(evaluations):
        best_step, best = None, math.nan
        for step, value in _values(evaluations, metric_name):
            if best_step is None or is_better(value, best) or math.isnan(best):
                best_step, best = step, value
            elif step - best_step >= max_steps:
                return (
                    f"no {name} of {metric_name} for {step - best_step} steps, up to step {step}: "
                    f"the best is {best:g} at step {best_step}"
                )
        return None

    return condition


def _values(evaluations, metric_name):
    for step, metrics in evaluations.items():
        if metric_name not in metrics:
            raise UsageError(
                f"metric_name={metric_name!r} cannot be used: the evaluation of step {step} has "
                f"{', '.join(sorted(metrics))}."
            )
        yield step, metrics[metric_name]
