"""The search takes the steps that were recorded from the second article's own algorithm."""

import pathlib

import numpy as np
import tensorflow as tf

import graphtrain
from graphtrain.models.cnn import cnn_logits
from graphtrain.models.mlp import mlp_logits

tf1 = tf.compat.v1
GOLDEN = pathlib.Path(__file__).parents[1] / "golden"
SAMPLE = pathlib.Path(graphtrain.__file__).parent / "datasets" / "mnist_sample.npz"


def recorded(name):
    with np.load(GOLDEN / name, allow_pickle=False) as trace:
        return {key: trace[key] for key in trace.files}


def clipped_cross_entropy(labels, logits):
    """The article's loss: probabilities are kept in [1e-7, 1 - 1e-7]."""
    probabilities = tf.clip_by_value(tf.nn.softmax(logits), 1e-7, 1 - 1e-7)
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=tf.math.log(probabilities)
        )
    )


def searched(build_logits, trace, steps):
    """Runs the search over the first batches of 32; returns its report and the last weights."""
    dtype = trace["loss_before"].dtype
    images = tf1.placeholder(dtype, [None, 28, 28, 1])
    labels = tf1.placeholder(tf.int64, [None])
    loss = clipped_cross_entropy(labels, build_logits(images))
    rate = float(trace["start_learning_rate"])
    optimizer = graphtrain.LineSearchOptimizer(
        tf1.train.GradientDescentOptimizer(tf.constant(rate, dtype)),
        shrink=float(trace["factor"]),
        min_scale=float(trace["min_learning_rate"]) / rate,
        on_failure="keep_last",
    )
    train_op = optimizer.minimize(loss)
    names = ("loss_before", "loss_after", "learning_rate", "trials")
    told = {name: [] for name in names}
    with np.load(SAMPLE, allow_pickle=False) as sample, tf1.Session() as session:
        pixels, digits = sample["x_train"], sample["y_train"]
        for variable in tf1.global_variables():
            key = "init." + variable.op.name.replace("/", ".")
            session.run(tf1.assign(variable, trace[key]))
        for start in range(0, 32 * steps, 32):
            batch = slice(start, start + 32)
            feed = {images: pixels[batch, ..., None].astype(dtype) / 255, labels: digits[batch]}
            values = session.run([getattr(optimizer, name) for name in names] + [train_op], feed)
            for name, value in zip(names, values, strict=False):
                told[name].append(value)
        weights = {v.op.name: session.run(v) for v in tf1.trainable_variables()}
    return told, weights


def test_mlp_all_sixty_steps_in_float64(flow_mode):
    trace = recorded("seed_trace_mlp_float64.npz")
    told, weights = searched(lambda images: mlp_logits(images, hidden_units=[32]), trace, 60)
    np.testing.assert_array_equal(told["trials"], trace["trials"])
    for name in ("loss_before", "loss_after", "learning_rate"):
        np.testing.assert_allclose(told[name], trace[name], rtol=1e-6)
    assert len(weights) == 4
    for name, value in weights.items():
        final = trace["final." + name.replace("/", ".")]
        # Small weights are the difference of large ones: the largest sets what 1e-6 means.
        np.testing.assert_allclose(value, final, rtol=0, atol=1e-6 * np.abs(final).max())


def test_cnn_twenty_steps_in_float32(flow_mode):
    trace = recorded("seed_trace_lr0.1.npz")
    # The recorded run had no fused batch norm; its rounding parts the two a little each step.
    told, _ = searched(lambda images: cnn_logits(images, training=True, fused=False), trace, 20)
    np.testing.assert_array_equal(told["trials"], trace["trials"][:20])
    for name in ("loss_before", "loss_after", "learning_rate"):
        np.testing.assert_allclose(told[name][:5], trace[name][:5], rtol=1e-4)
        np.testing.assert_allclose(told[name], trace[name][:20], rtol=3e-2)
