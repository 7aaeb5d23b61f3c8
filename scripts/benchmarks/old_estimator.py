"""Trains by TensorFlow 2.15's tf.estimator, and prints the seconds of a step.

It is run by the interpreter of an environment that has TensorFlow 2.15, and imports nothing of
graphtrain: `python old_estimator.py MODEL BATCH_SIZE STEPS SAMPLE.npz`.
"""

import sys
import tempfile
import time

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


def logits_of(model, images):
    layers = tf1.layers
    if model == "cnn":
        net = images
        for filters in (32, 128):
            net = layers.conv2d(net, filters, 3, padding="same", use_bias=False)
            net = tf.nn.relu(layers.batch_normalization(net, momentum=0.9, training=True))
            net = layers.average_pooling2d(net, 2, 2)
        net = layers.conv2d(net, 10, 7, use_bias=False)
        return layers.flatten(layers.batch_normalization(net, momentum=0.9, training=True))
    net = layers.flatten(images)
    if model == "mlp":
        net = layers.dense(net, 128, activation=tf.nn.relu)
    return layers.dense(net, 10)


class Timer(tf1.train.SessionRunHook):
    """Times the steps after the first tenth."""

    def __init__(self, steps):
        self._left, self._timed = steps // 10, steps - steps // 10

    def after_run(self, run_context, run_values):
        """Starts the clock when the first tenth is done."""
        self._left -= 1
        if self._left == 0:
            self._began = time.perf_counter()

    def end(self, session):
        """Takes the time."""
        self.secs = (time.perf_counter() - self._began) / self._timed


def main(model, batch_size, steps, sample):
    with np.load(sample, allow_pickle=False) as arrays:
        images = (arrays["x_train"][..., None] / 255).astype(np.float32)
        labels = arrays["y_train"].astype(np.int64)

    def input_fn():
        rows = tf.data.Dataset.from_tensor_slices((images, labels))
        return rows.shuffle(6000).repeat().batch(int(batch_size)).prefetch(tf.data.AUTOTUNE)

    def model_fn(features, labels, mode):
        logits = logits_of(model, features)
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
        with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
            train_op = tf1.train.GradientDescentOptimizer(0.01).minimize(
                loss, global_step=tf1.train.get_global_step()
            )
        return tf1.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    timer = Timer(int(steps))
    with tempfile.TemporaryDirectory() as directory:
        trained = tf1.estimator.Estimator(model_fn, directory)
        trained.train(input_fn, hooks=[timer], max_steps=int(steps))
    print(f"secs per step: {timer.secs}")


if __name__ == "__main__":
    main(*sys.argv[1:])
