"""What a model_fn returns, and what `train_and_evaluate` is told: validated, immutable."""

import collections
import math

import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError
from graphtrain.export import outputs

tf1 = tf.compat.v1


class ModeKeys:
    """What a model_fn is called for.

    Example:
      >>> (graphtrain.ModeKeys.TRAIN, graphtrain.ModeKeys.EVAL, graphtrain.ModeKeys.PREDICT)
      ('train', 'eval', 'infer')
    """

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


_MODES = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)


class EstimatorSpec(
    collections.namedtuple(
        "EstimatorSpec",
        "mode predictions loss train_op eval_metric_ops export_outputs training_chief_hooks "
        "training_hooks scaffold evaluation_hooks prediction_hooks",
    )
):
    """The ops of a model, as its model_fn built them in the default graph.

    TRAIN needs `loss` and `train_op`, EVAL needs `loss`, PREDICT needs `predictions`; what
    a mode does not need may be given all the same and is not run.

    Args:
      mode: a `ModeKeys` value.
      predictions: tensor or dict of name to tensor, the first dimension the batch.
      loss: scalar tensor, or one of shape [1].
      train_op: op or tensor that makes one training step and advances the global step by 1.
      eval_metric_ops: dict of name to `(value, update_op)`, as `tf.compat.v1.metrics` returns, or
        to a metric object of `tf_keras` that has been called once.
      export_outputs: dict of signature name to `ExportOutput`; by default the predictions.
      training_chief_hooks: iterable of session hooks for the chief in training.
      training_hooks: iterable of session hooks for every worker in training.
      scaffold: `tf.compat.v1.train.Scaffold`, to choose the initialization or the saver.
      evaluation_hooks: iterable of session hooks for evaluation.
      prediction_hooks: iterable of session hooks for prediction.

    Raises:
      UsageError: something that the mode needs is missing, the loss is not a scalar, or a
        tensor belongs to another graph.
      TypeError: an argument has the wrong type.

    Example:
      >>> predictions = {"class": tf.constant([3])}
      >>> spec = graphtrain.EstimatorSpec(graphtrain.ModeKeys.PREDICT, predictions)
      >>> sorted(spec.export_outputs)
      ['serving_default']
    """

    __slots__ = ()

    def __new__(
        cls,
        mode,
        predictions=None,
        loss=None,
        train_op=None,
        eval_metric_ops=None,
        export_outputs=None,
        training_chief_hooks=None,
        training_hooks=None,
        scaffold=None,
        evaluation_hooks=None,
        prediction_hooks=None,
    ):
        """Validates the arguments; see the class."""
        checks.one_of("mode", mode, _MODES)
        train_op = _checked_train_op(train_op, mode)
        loss = _checked_loss(loss, mode)
        predictions = _checked_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = outputs.with_default_signature(export_outputs, predictions)
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=_checked_metrics(eval_metric_ops),
            export_outputs=export_outputs,
            training_chief_hooks=checked_hooks("training_chief_hooks", training_chief_hooks),
            training_hooks=checked_hooks("training_hooks", training_hooks),
            scaffold=_checked_scaffold(scaffold),
            evaluation_hooks=checked_hooks("evaluation_hooks", evaluation_hooks),
            prediction_hooks=checked_hooks("prediction_hooks", prediction_hooks),
        )

    def _replace(self, **fields):
        """Returns a validated copy with some fields changed; the mode cannot be."""
        if fields.get("mode", self.mode) != self.mode:
            raise UsageError(
                f"The mode of an EstimatorSpec cannot be changed from {self.mode!r} to "
                f"{fields['mode']!r}."
            )
        return EstimatorSpec(**{**self._asdict(), **fields})


class TrainSpec(collections.namedtuple("TrainSpec", "input_fn max_steps hooks saving_listeners")):
    """The training part of `train_and_evaluate`.

    Args:
      input_fn: callable that builds the training input, as for `Estimator.train`.
      max_steps: number > 0, the global step to train up to (a fraction is rounded up); None
        trains until the input ends.
      hooks: iterable of session hooks.
      saving_listeners: iterable of `tf.compat.v1.train.CheckpointSaverListener`.

    Raises:
      UsageError: `max_steps` is not > 0.
      TypeError: an argument has the wrong type.

    Example:
      >>> graphtrain.TrainSpec(input_fn=lambda: None, max_steps=100).max_steps
      100
    """

    __slots__ = ()

    def __new__(cls, input_fn, max_steps=None, hooks=None, saving_listeners=None):
        """Validates the arguments; see the class."""
        if max_steps is not None:
            max_steps = math.ceil(checks.real("max_steps", max_steps, above=0))
        return super().__new__(
            cls,
            input_fn=checked_input_fn(input_fn),
            max_steps=max_steps,
            hooks=checked_hooks("hooks", hooks),
            saving_listeners=checked_saving_listeners(saving_listeners),
        )


class EvalSpec(
    collections.namedtuple(
        "EvalSpec", "input_fn steps name hooks exporters start_delay_secs throttle_secs"
    )
):
    """The evaluation and export part of `train_and_evaluate`.

    Args:
      input_fn: callable that builds the evaluation input, as for `Estimator.evaluate`.
      steps: number of batches > 0 to evaluate; None evaluates until the input ends.
      name: str or None; results go to `eval_NAME` instead of `eval`.
      hooks: iterable of session hooks.
      exporters: one exporter, or an iterable of them: objects with a `name` and a method
        `export(estimator, export_path, checkpoint_path, eval_result,
        is_the_final_export)`.
      start_delay_secs: seconds that an evaluator process waits before it starts.
      throttle_secs: seconds that pass at least between the starts of two evaluations; checkpoints
        saved in between are left out. None evaluates every checkpoint. The last one is evaluated
        always.

    Raises:
      UsageError: a number out of range, or exporters' names that are not unique.
      TypeError: an argument has the wrong type.

    Example:
      >>> graphtrain.EvalSpec(input_fn=lambda: None).steps
      100
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn,
        steps=100,
        name=None,
        hooks=None,
        exporters=None,
        start_delay_secs=120,
        throttle_secs=None,
    ):
        """Validates the arguments; see the class."""
        if steps is not None:
            steps = math.ceil(checks.real("steps", steps, above=0))
        if throttle_secs is not None:
            throttle_secs = checks.real("throttle_secs", throttle_secs, at_least=0)
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name must be a str, got {name!r}.")
        return super().__new__(
            cls,
            input_fn=checked_input_fn(input_fn),
            steps=steps,
            name=name,
            hooks=checked_hooks("hooks", hooks),
            exporters=_checked_exporters(exporters),
            start_delay_secs=checks.real("start_delay_secs", start_delay_secs, at_least=0),
            throttle_secs=throttle_secs,
        )


def checked_saving_listeners(saving_listeners):
    """Returns the listeners as a tuple; a TypeError names one that is not a listener."""
    saving_listeners = tuple(saving_listeners or ())
    for listener in saving_listeners:
        if not isinstance(listener, tf1.train.CheckpointSaverListener):
            raise TypeError(
                f"saving_listeners must be CheckpointSaverListener instances, got {listener!r}."
            )
    return saving_listeners


def checked_input_fn(input_fn):
    """Returns `input_fn`; a TypeError says if it cannot be called."""
    if not callable(input_fn):
        raise TypeError(f"input_fn must be callable, got {input_fn!r}.")
    return input_fn


def checked_hooks(name, hooks):
    """Returns the hooks as a tuple; a TypeError names one that is not a session hook."""
    hooks = tuple(hooks or ())
    for hook in hooks:
        if not isinstance(hook, tf1.train.SessionRunHook):
            raise TypeError(f"{name} must be SessionRunHook instances, got {hook!r}.")
    return hooks


def _checked_scaffold(scaffold):
    if scaffold is None:
        return tf1.train.Scaffold()
    if not isinstance(scaffold, tf1.train.Scaffold):
        raise TypeError(f"scaffold must be a tf.compat.v1.train.Scaffold, got {scaffold!r}.")
    return scaffold


def _checked_train_op(train_op, mode):
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise UsageError(f"Missing train_op: mode {mode!r} needs one.")
        return None
    if isinstance(train_op, tf.Variable):
        train_op = train_op.op
    _check_op_or_tensor("train_op", train_op)
    return train_op


def _checked_loss(loss, mode):
    if loss is None:
        if mode != ModeKeys.PREDICT:
            raise UsageError(f"Missing loss: mode {mode!r} needs one.")
        return None
    _check_tensor("loss", loss)
    if loss.shape.num_elements() not in (None, 1):
        raise UsageError(
            f"The loss must be a scalar, got shape {loss.shape} of {loss.name!r}: "
            "reduce it over the batch, for example by tf.reduce_mean."
        )
    return loss if loss.shape.is_compatible_with([]) else tf.reshape(loss, [])


def _checked_predictions(predictions, mode):
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise UsageError(f"Missing predictions: mode {mode!r} needs them.")
        return {}
    if not isinstance(predictions, dict):
        _check_tensor("predictions", predictions)
        return predictions
    for key, value in predictions.items():
        _check_tensor(f"predictions[{key!r}]", value)
    return dict(predictions)


def _checked_metrics(eval_metric_ops):
    if eval_metric_ops is None:
        return {}
    if not isinstance(eval_metric_ops, dict):
        raise TypeError(f"eval_metric_ops must be a dict, got {eval_metric_ops!r}.")
    metrics = {key: _metric_ops(key, value) for key, value in eval_metric_ops.items()}
    for key, value in metrics.items():
        for part in tf.nest.flatten(value):
            _check_op_or_tensor(f"eval_metric_ops[{key!r}]", part)
    return metrics


def _metric_ops(key, metric):
    """Returns (value, update_op) of a pair or of a metric object, whose variables become local."""
    if isinstance(metric, tuple) and len(metric) == 2:
        return metric
    if not getattr(metric, "updates", None):
        raise TypeError(
            f"eval_metric_ops[{key!r}] must be a tuple (value, update_op), as "
            f"tf.compat.v1.metrics returns, or a metric object of tf_keras that has been called "
            f"once, got {metric!r}. Metric objects of Keras 3 do not work in graphs."
        )
    for variable in metric.variables:
        for collection in (tf1.GraphKeys.LOCAL_VARIABLES, tf1.GraphKeys.METRIC_VARIABLES):
            if all(variable is not known for known in tf1.get_collection(collection)):
                tf1.add_to_collection(collection, variable)
    return metric.result(), tf.group(*metric.updates)


def _checked_exporters(exporters):
    if not exporters:
        return ()
    if callable(getattr(exporters, "export", None)):
        exporters = [exporters]
    exporters = tuple(exporters)
    names = [getattr(exporter, "name", None) for exporter in exporters]
    for exporter, name in zip(exporters, names, strict=True):
        if not callable(getattr(exporter, "export", None)):
            raise TypeError(f"exporters must have a method export(...), got {exporter!r}.")
        if not name or not isinstance(name, str):
            raise UsageError(f"An exporter's name must be a non-empty str, got {name!r}.")
    if len(set(names)) < len(names):
        raise UsageError(f"Exporters must have unique names, got {names}.")
    return exporters


def _check_op_or_tensor(name, value):
    if not isinstance(value, tf.Operation):
        _check_tensor(name, value, kind="an operation or a tensor")
    elif value.graph is not tf1.get_default_graph():
        _raise_wrong_graph(name, value)


def _check_tensor(name, value, *, kind="a tensor"):
    if not tf.is_tensor(value):
        raise TypeError(f"{name} must be {kind}, got {value!r}.")
    graph = getattr(value, "graph", None)
    if graph is not None and graph is not tf1.get_default_graph():
        _raise_wrong_graph(name, value)


def _raise_wrong_graph(name, value):
    raise UsageError(
        f"{name} ({value.name!r}) belongs to another graph than the default one: it must be made "
        "inside this call of the model_fn, not outside or in an earlier call."
    )
