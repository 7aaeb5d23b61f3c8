"""The networks give the losses recorded from the articles' own code (tests/golden)."""

import pathlib

import numpy as np
import pytest
import tensorflow as tf

import graphtrain
from graphtrain.models.cnn import cnn_logits
from graphtrain.models.mlp import mlp_logits

tf1 = tf.compat.v1
GOLDEN = pathlib.Path(__file__).parents[1] / "golden"
SAMPLE = pathlib.Path(graphtrain.__file__).parent / "datasets" / "mnist_sample.npz"


def batches(count, dtype):
    """The first batches of 32 training images, in order."""
    with np.load(SAMPLE, allow_pickle=False) as sample:
        images, labels = sample["x_train"], sample["y_train"]
    for start in range(0, 32 * count, 32):
        batch = slice(start, start + 32)
        yield images[batch, ..., np.newaxis].astype(dtype) / 255, labels[batch].astype(np.int64)


def set_to_recorded(session, trace):
    """Sets each variable to the recorded first value: `conv2d/kernel` to init.conv2d.kernel."""
    for variable in tf1.global_variables():
        name = "init." + variable.op.name.replace("/", ".")
        session.run(tf1.assign(variable, trace[name]))


def sgd_losses(build_logits, trace, steps, learning_rate):
    """The losses of each batch before and after its step of plain SGD."""
    dtype = trace["loss_before"].dtype
    images = tf1.placeholder(dtype, [None, 28, 28, 1])
    labels = tf1.placeholder(tf.int64, [None])
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=build_logits(images))
    )
    train_op = tf1.train.GradientDescentOptimizer(learning_rate).minimize(loss)
    losses = []
    with tf1.Session() as session:
        set_to_recorded(session, trace)
        for batch in batches(steps, dtype):
            feed = dict(zip((images, labels), batch, strict=True))
            # One after the other: in one run the loss could be that of either weights.
            before = session.run(loss, feed)
            session.run(train_op, feed)
            losses.append((before, session.run(loss, feed)))
    return np.transpose(losses)


# The recorded run had no fused batch norm; its own rounding parts them, a little each step.
@pytest.mark.parametrize(("fused", "tolerance"), [(False, 1e-4), (True, 3e-3)])
def test_cnn_in_float32(flow_mode, fused, tolerance):
    with np.load(GOLDEN / "seed_trace_lr0.1.npz", allow_pickle=False) as trace:
        before, after = sgd_losses(
            lambda images: cnn_logits(images, training=True, fused=fused),
            trace,
            steps=5,
            learning_rate=0.1,
        )
        np.testing.assert_allclose(before, trace["loss_before"][:5], rtol=tolerance)
        np.testing.assert_allclose(after, trace["loss_after"][:5], rtol=tolerance)


def test_mlp_in_float64(flow_mode):
    with np.load(GOLDEN / "seed_trace_mlp_float64.npz", allow_pickle=False) as trace:
        # The first step of the recorded search was accepted at 5.0 * 0.3.
        before, after = sgd_losses(
            lambda images: mlp_logits(images, hidden_units=[32]), trace, 1, learning_rate=1.5
        )
        assert before[0] == pytest.approx(2.39103989, rel=1e-6)
        assert after[0] == pytest.approx(trace["loss_after"][0], rel=1e-6)
