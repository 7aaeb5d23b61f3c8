"""A model whose loss and score at each step are what a test says they are."""

import json

import tensorflow as tf

import graphtrain

tf1 = tf.compat.v1


def estimator(model_dir, values=(0.0,), **config):
    """An Estimator whose "score", and whose loss, at step n is values[n // 10]."""

    def model_fn(features, labels, mode):
        step = tf1.train.get_global_step()
        index = tf.minimum(step // 10, len(values) - 1)
        score = tf.gather(tf.constant(values), index) * tf.reduce_mean(features)
        train_op = tf.group(tf1.assign_add(step, 1))
        metrics = {"score": tf1.metrics.mean(score)}
        return graphtrain.EstimatorSpec(mode, features, score, train_op, metrics)

    return graphtrain.Estimator(model_fn, str(model_dir), graphtrain.RunConfig(**config))


def input_fn():
    """One batch without end."""
    return tf.data.Dataset.from_tensors([1.0]).repeat()


def one_batch():
    """One batch."""
    return tf.data.Dataset.from_tensors([1.0])


def train_and_evaluate(trained, hooks, *, max_steps=200):
    """Trains, and evaluates each checkpoint; returns how the training ended."""
    graphtrain.train_and_evaluate(
        trained,
        graphtrain.TrainSpec(input_fn, max_steps=max_steps, hooks=hooks),
        graphtrain.EvalSpec(one_batch),
    )
    return trained.last_train_result


def as_worker(monkeypatch):
    """Makes this process the second worker of a cluster with a parameter server."""
    cluster = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}
    task = {"type": "worker", "index": 1}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
