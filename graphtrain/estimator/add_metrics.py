"""add_metrics: an Estimator that reports more metrics than its model_fn."""

from graphtrain.errors import UsageError
from graphtrain.estimator import model
from graphtrain.estimator.estimator import Estimator
from graphtrain.estimator.spec import ModeKeys

_METRIC_FN_ARGUMENTS = {"features", "labels", "predictions", "config"}


def add_metrics(estimator, metric_fn):
    """Returns an Estimator like another one, whose evaluation reports more metrics.

    Args:
      estimator: `Estimator`.
      metric_fn: callable with any of the arguments `features`, `labels`, `predictions` and
        `config`, which returns a dict like `EstimatorSpec.eval_metric_ops`. Its metrics take
        the place of the model_fn's of the same names.

    Returns:
      A new `Estimator` with the same `model_dir`.

    Raises:
      UsageError: the metric_fn has an unknown argument.
      TypeError: `estimator` is no Estimator.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     loss = tf.reduce_mean(tf.abs(labels - features))
      ...     return graphtrain.EstimatorSpec(mode, features, loss, tf.no_op())
      >>> def metric_fn(labels, predictions):
      ...     return {"worst": tf1.metrics.mean(tf.reduce_max(labels - predictions))}
      >>> estimator = add_metrics(graphtrain.Estimator(model_fn, "run"), metric_fn)
      >>> results = estimator.evaluate(lambda: (tf.constant([1.0, 2.0]), [2.0, 5.0]), steps=1)
      >>> float(results["loss"]), float(results["worst"])
      (2.0, 3.0)
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(f"estimator must be a graphtrain.Estimator, got {estimator!r}.")
    wanted = model.arguments_of(metric_fn)
    unknown = sorted(set(wanted) - _METRIC_FN_ARGUMENTS)
    if unknown:
        raise UsageError(
            f"The metric_fn {metric_fn!r} has arguments that are not known: {', '.join(unknown)}; "
            "known are features, labels, predictions and config."
        )

    def model_fn(features, labels, mode, params, config):
        del params  # The other Estimator has them; these are for the input_fns.
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        offered = {
            "features": features,
            "labels": labels,
            "predictions": spec.predictions,
            "config": config,
        }
        more = metric_fn(**{name: offered[name] for name in offered if name in wanted})
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **more})

    return Estimator(
        model_fn,
        config=estimator.config,
        params=estimator.params,
        warm_start_from=estimator.warm_start_settings,
    )
