"""Estimator.evaluate: metrics over the batches of an input, from a checkpoint."""

import numpy as np
import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError
from graphtrain.estimator import spec as specs
from graphtrain.session import checkpoint_files, checkpoints, inputs, monitored, restore, signals
from graphtrain.session.prepared_run import prepared_run

tf1 = tf.compat.v1

_LOSS = "loss"
_GLOBAL_STEP = "global_step"


def evaluate(model, input_fn, eval_dir, *, steps=None, hooks=None, checkpoint_path=None):
    """Evaluates a model and writes the metrics into `eval_dir`; see `Estimator.evaluate`.

    A trainer beside it may delete the newest checkpoint while it is read: then the one that is
    the newest by then is evaluated.

    Returns:
      Dict of metric name to numpy value, `loss` and `global_step` included.
    """
    specs.checked_input_fn(input_fn)
    hooks = specs.checked_hooks("hooks", hooks)
    steps = None if steps is None else checks.whole("steps", steps)
    if checkpoint_path is not None:
        return _evaluate(model, input_fn, eval_dir, steps, hooks, checkpoint_path)
    while True:
        newest = checkpoints.newest(model.model_dir)
        if newest is None:
            tf1.logging.info("no checkpoint in %s, evaluating initial values", model.model_dir)
        try:
            return _evaluate(model, input_fn, eval_dir, steps, hooks, newest)
        except (UsageError, tf.errors.OpError):
            if newest is None or checkpoint_files.exists(newest):
                raise
            tf1.logging.info("%s was deleted before it was evaluated", newest)


def _evaluate(model, input_fn, eval_dir, steps, hooks, checkpoint_path):
    with model.watch.timing("evaluation"), tf.Graph().as_default():
        model.start_graph()
        features, labels = model.call_input_fn(input_fn, specs.ModeKeys.EVAL)
        spec = model.call_model_fn(features, labels, specs.ModeKeys.EVAL)
        values, updates = _metrics(spec)
        creator = restore.RestoringSessionCreator(
            _with_metric_variables(spec.scaffold),
            config=model.session_config,
            checkpoint_path=checkpoint_path,
        )
        all_hooks = [*hooks, *spec.evaluation_hooks]
        with monitored.MonitoredSession(creator, all_hooks) as session:
            batches = _update(session, updates, steps)
            results = session.run_step_fn(lambda step_context: step_context.session.run(values))
        if batches == 0:
            raise UsageError("The input of the evaluation is empty: its first batch did not come.")
        _write(eval_dir, results)
    return results


def _metrics(spec):
    """Returns the metrics' values and the op that takes a batch into them."""
    for reserved in (_LOSS, _GLOBAL_STEP):
        if reserved in spec.eval_metric_ops:
            raise UsageError(
                f"A metric cannot be named {reserved!r}: the Estimator reports one of that name."
            )
    metrics = {**spec.eval_metric_ops, _LOSS: tf1.metrics.mean(spec.loss)}
    values = {name: value for name, (value, _) in metrics.items()}
    values[_GLOBAL_STEP] = tf1.train.get_global_step()
    # A model that does not look at its input must come to the input's end all the same.
    batch = inputs.sources(tf1.get_default_graph())
    return values, tf.group(*(update for _, update in metrics.values()), *batch)


def _with_metric_variables(scaffold):
    """Lets a user's own local_init_op initialize the metrics' variables too."""
    if scaffold.local_init_op is None:
        return scaffold
    local_init_op = tf.group(scaffold.local_init_op, tf1.train.Scaffold.default_local_init_op())
    return tf1.train.Scaffold(local_init_op=local_init_op, copy_from_scaffold=scaffold)


def _update(session, updates, steps):
    """Takes batches into the metrics until there are `steps` or no more; returns how many."""
    run = prepared_run(session, updates)
    batches = 0
    while batches != steps and not session.should_stop():
        signals.raise_if_stop_is_requested("the evaluation")
        try:
            run()
        except tf.errors.OutOfRangeError as error:
            if not inputs.is_end_of_input(error, session.graph):
                raise
            break
        batches += 1
    return batches


def _write(eval_dir, results):
    step = int(results[_GLOBAL_STEP])
    shown = ", ".join(f"{name} = {value}" for name, value in sorted(results.items()))
    tf1.logging.info("evaluated step %d: %s", step, shown)
    summary = tf1.Summary()
    for name, value in results.items():
        if name != _GLOBAL_STEP:
            _add(summary, name, value)
    writer = tf1.summary.FileWriterCache.get(eval_dir)
    writer.add_summary(summary, step)
    writer.flush()


def _add(summary, name, value):
    if isinstance(value, bytes):
        # A summary op as a metric: images, for example.
        for index, part in enumerate(tf1.Summary.FromString(value).value):
            summary.value.add().CopyFrom(part)
            summary.value[-1].tag = f"{name}/{index}"
    elif np.ndim(value) == 0 and np.issubdtype(np.asarray(value).dtype, np.number):
        summary.value.add(tag=name, simple_value=float(value))
    elif isinstance(value, np.ndarray):
        summary.value.add(tag=name, node_name=name, tensor=tf.make_tensor_proto(value))
    else:
        tf1.logging.warning("metric %s of type %s has no summary", name, type(value).__name__)
