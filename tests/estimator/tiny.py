"""Models whose numbers can be worked out by hand, and what tests of Estimators share."""

import pathlib

import tensorflow as tf
from tensorboard.backend.event_processing import event_accumulator

import graphtrain

tf1 = tf.compat.v1


def halving_model_fn(features, labels, mode, params):
    """Loss mean((w * x - y)^2); with x=1, y=0 and rate 0.25, w halves in each step from 1."""
    weight = tf1.get_variable("w", initializer=1.0)
    predictions = {"product": weight * features, "twice": 2 * weight * features}
    if mode == graphtrain.ModeKeys.PREDICT:
        return graphtrain.EstimatorSpec(mode, predictions=predictions)
    errors = predictions["product"] - labels
    loss = tf.reduce_mean(tf.square(errors))
    optimizer = tf1.train.GradientDescentOptimizer(params.get("learning_rate", 0.25))
    return graphtrain.EstimatorSpec(
        mode,
        predictions=predictions,
        loss=loss,
        train_op=optimizer.minimize(loss, global_step=tf1.train.get_global_step()),
        eval_metric_ops={"error": tf1.metrics.mean(tf.abs(errors))},
    )


def softmax_model_fn(features, labels, mode, params):
    """Softmax regression by Adam, its weights drawn from the graph's seed, with dropout."""
    if mode == graphtrain.ModeKeys.TRAIN and params.get("dropout"):
        features = tf.nn.dropout(features, rate=params["dropout"])
    weights = tf1.get_variable(
        "weights", [2, 3], initializer=tf1.truncated_normal_initializer(stddev=0.5)
    )
    logits = tf.matmul(features, weights)
    predictions = {"class": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}
    if mode == graphtrain.ModeKeys.PREDICT:
        return graphtrain.EstimatorSpec(mode, predictions=predictions)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf1.train.AdamOptimizer(0.1).minimize(loss, tf1.train.get_global_step())
    metrics = {"accuracy": tf1.metrics.accuracy(labels, predictions["class"])}
    return graphtrain.EstimatorSpec(mode, predictions, loss, train_op, metrics)


def ones(batches=None):
    """An input_fn of so many batches (None: without end) of one x=1, y=0."""
    return lambda: tf.data.Dataset.from_tensors(([1.0], [0.0])).repeat(batches)


def points(batches=None):
    """An input_fn of the same three points in each batch, for `softmax_model_fn`."""
    features = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    return lambda: tf.data.Dataset.from_tensors((features, [0, 1, 2])).repeat(batches)


def halving(model_dir, *, params=None, **config):
    """An Estimator of `halving_model_fn`; the keywords are those of RunConfig."""
    return graphtrain.Estimator(
        halving_model_fn, str(model_dir), graphtrain.RunConfig(**config), params or {}
    )


def snapshot(directory):
    """Every file below a directory, with its time of change and its bytes."""
    files = (path for path in pathlib.Path(directory).rglob("*") if path.is_file())
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def scalars(directory, tag):
    """The (step, value) pairs that TensorBoard sees under a tag."""
    events = event_accumulator.EventAccumulator(str(directory)).Reload()
    return [(event.step, event.value) for event in events.Scalars(tag)]


class Recorder:
    """An exporter that only notes what it is told."""

    name = "recorder"

    def __init__(self):
        self.calls = []

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        self.calls.append((int(eval_result["global_step"]), is_the_final_export))
        self.last = (export_path, checkpoint_path)
        return f"export {len(self.calls)}"
