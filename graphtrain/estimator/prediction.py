"""Estimator.predict: a generator of what the model says of each example."""

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.estimator import spec as specs
from graphtrain.session import checkpoints, inputs, monitored, restore
from graphtrain.session.prepared_run import prepared_run

tf1 = tf.compat.v1


def predict(
    model, input_fn, *, predict_keys=None, hooks=None, checkpoint_path=None, single_examples=True
):
    """Yields predictions; see `Estimator.predict`."""
    specs.checked_input_fn(input_fn)
    hooks = specs.checked_hooks("hooks", hooks)
    checkpoint_path = checkpoint_path or checkpoints.newest(model.model_dir)
    if checkpoint_path is None:
        tf1.logging.info("no checkpoint in %s, predicting by initial values", model.model_dir)
    graph = tf.Graph()
    with graph.as_default():
        predictions, session = _open(model, input_fn, predict_keys, hooks, checkpoint_path)
        run = prepared_run(session, predictions)
    # The caller runs code of its own between two examples: no graph may be the default then.
    try:
        while (values := _next_batch(graph, session, run)) is not None:
            if single_examples:
                yield from _examples(values)
            else:
                yield values
    finally:
        with graph.as_default():
            session.close()


def _open(model, input_fn, predict_keys, hooks, checkpoint_path):
    model.start_graph()
    features, _ = model.call_input_fn(input_fn, specs.ModeKeys.PREDICT)
    if not inputs.can_end(tf1.get_default_graph()):
        tf1.logging.warning(
            "the input_fn returned neither a tf.data.Dataset nor tensors of a queue: predict "
            "yields without end"
        )
    spec = model.call_model_fn(features, None, specs.ModeKeys.PREDICT)
    predictions = _chosen(spec.predictions, predict_keys)
    creator = restore.RestoringSessionCreator(
        spec.scaffold, config=model.session_config, checkpoint_path=checkpoint_path
    )
    return predictions, monitored.MonitoredSession(creator, [*hooks, *spec.prediction_hooks])


def _chosen(predictions, predict_keys):
    if not predict_keys:
        return predictions
    keys = [predict_keys] if isinstance(predict_keys, str) else list(predict_keys)
    if not isinstance(predictions, dict):
        raise UsageError(
            f"predict_keys={keys} cannot be used: the model_fn's predictions are not a dict, but "
            f"{predictions!r}."
        )
    chosen = {key: value for key, value in predictions.items() if key in keys}
    if not chosen:
        raise UsageError(
            f"predict_keys={keys} cannot be used: the model_fn's predictions are "
            f"{', '.join(map(repr, predictions))}."
        )
    return chosen


def _next_batch(graph, session, run):
    """Returns the values of the next batch, or None at the end of the input."""
    with graph.as_default():
        if session.should_stop():
            return None
        try:
            return run()
        except tf.errors.OutOfRangeError as error:
            if not inputs.is_end_of_input(error, graph):
                raise
            return None


def _examples(values):
    if not isinstance(values, dict):
        yield from values
        return
    lengths = {key: len(value) for key, value in values.items()}
    if len(set(lengths.values())) > 1:
        raise UsageError(
            f"The predictions of a batch must have one length, got {lengths}; "
            "yield_single_examples=False yields them as they are."
        )
    for index in range(min(lengths.values())):
        yield {key: value[index] for key, value in values.items()}
