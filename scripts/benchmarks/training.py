"""Trains a network for a given time, then evaluates it."""

import dataclasses
import time
import typing

import numpy as np
import tensorflow as tf

from graphtrain.models.cnn import cnn_logits
from graphtrain.models.mlp import mlp_logits

tf1 = tf.compat.v1

MODELS = {"mlp": mlp_logits, "cnn": cnn_logits}
# As many training images tell the training loss.
EVALUATED_IMAGES = 5000
EVAL_BATCH_SIZE = 500


class Trained(typing.NamedTuple):
    """What came of a training.

    Attributes:
      steps: how many steps there was time for.
      train_loss: the mean loss over training images, in evaluation mode.
      test_accuracy: the part of the test images whose class was found.
    """

    steps: int
    train_loss: float
    test_accuracy: float


@dataclasses.dataclass(frozen=True)
class Training:
    """How to train, whatever the optimizer.

    Args:
      model: a name in `MODELS`.
      data: a `graphtrain.datasets.ImageData`.
      batch_size: images in a batch, at most as many as there are.
      budget_secs: how long to train. Neither the building of the graph nor the first step, which
        sets TensorFlow up, nor the evaluation is counted.
      clock: returns seconds.
    """

    model: str
    data: typing.Any
    batch_size: int
    budget_secs: float
    clock: typing.Callable = time.perf_counter

    @property
    def steps_per_epoch(self):
        """How many whole batches there are in an epoch."""
        return len(self.data.train_images) // self.batch_size

    def run(self, make_optimizer, seed):
        """Trains once.

        Args:
          make_optimizer: a function of the number of steps in an epoch.
          seed: an int that fixes the first weights and the order of the images.

        Returns:
          A `Trained`.
        """
        data = self.data
        with tf.Graph().as_default(), tf1.Session() as session:
            optimizer = make_optimizer(self.steps_per_epoch)
            step, initialize = self._train_step(session, optimizer, seed)
            evaluate = self._evaluation(session)
            initialize()
            step(np.arange(self.batch_size))
            initialize()
            steps = self._train(step, self._batches(seed))
            loss, _ = evaluate(
                data.train_images[:EVALUATED_IMAGES], data.train_labels[:EVALUATED_IMAGES]
            )
            return Trained(steps, loss, evaluate(data.test_images, data.test_labels)[1])

    def _train_step(self, session, optimizer, seed):
        """A function that makes the step of given images, and one that starts anew."""
        positions = tf1.placeholder(tf.int64, [self.batch_size])
        feed, held = {}, []
        for array in (self.data.train_images, self.data.train_labels):
            placeholder = tf1.placeholder(array.dtype, array.shape)
            feed[placeholder] = array
            held.append(tf1.Variable(placeholder, trainable=False))
        images, labels = (tf.gather(variable, positions) for variable in held)
        loss = tf.reduce_mean(_losses(self._logits(images, training=True, seed=seed), labels))
        with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
            train_op = optimizer.minimize(loss)
        initializer = tf1.global_variables_initializer()
        step = session.make_callable(train_op, feed_list=[positions])
        return step, lambda: session.run(initializer, feed)

    def _evaluation(self, session):
        """A function of images and labels that returns mean loss and accuracy."""
        images = tf1.placeholder(tf.uint8, [None, *self.data.train_images.shape[1:]])
        labels = tf1.placeholder(tf.int64, [None])
        logits = self._logits(images, training=False)
        right = tf.equal(tf.argmax(logits, axis=-1), labels)
        each = session.make_callable([_losses(logits, labels), right], feed_list=[images, labels])

        def evaluate(images, labels):
            parts = [
                each(
                    images[start : start + EVAL_BATCH_SIZE], labels[start : start + EVAL_BATCH_SIZE]
                )
                for start in range(0, len(images), EVAL_BATCH_SIZE)
            ]
            losses, right = (np.concatenate(part) for part in zip(*parts, strict=True))
            return float(losses.mean(dtype=np.float64)), float(right.mean())

        return evaluate

    def _logits(self, images, **settings):
        with tf1.variable_scope("model", reuse=tf1.AUTO_REUSE):
            pixels = tf.cast(images, tf.float32)[..., tf.newaxis] / 255
            return MODELS[self.model](pixels, **settings)

    def _batches(self, seed):
        draw = np.random.default_rng(seed)
        while True:
            order = draw.permutation(len(self.data.train_images))
            yield from order[: self.steps_per_epoch * self.batch_size].reshape(-1, self.batch_size)

    def _train(self, step, batches):
        steps, start = 0, self.clock()
        while self.clock() - start < self.budget_secs:
            try:
                step(next(batches))
            except tf.errors.InvalidArgumentError as error:
                if "is not finite" not in error.message:
                    raise
                break  # A search has nowhere to go from here.
            steps += 1
        return steps


def _losses(logits, labels):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
