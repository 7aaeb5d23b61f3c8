"""Contenders of one session.run a step: the forward pass, plain SGD, and our search over it."""

import tensorflow as tf

import graphtrain
from benchmarks import contender

tf1 = tf.compat.v1


def forward(batch_size):
    """The loss and nothing else."""
    with tf.Graph().as_default():
        loss, _ = contender.cnn_loss(batch_size)
        return contender.Contender(contender.started_session().make_callable(loss.op))


def sgd(batch_size):
    """A step of plain gradient descent."""
    with tf.Graph().as_default():
        optimizer = tf1.train.GradientDescentOptimizer(contender.RATE)
        train_op = _minimize(optimizer, batch_size)
        return contender.Contender(contender.started_session().make_callable(train_op))


def searched(batch_size, trials, **settings):
    """A step of our search over gradient descent.

    Args:
      batch_size: images in the batch.
      trials: how many trials the search makes.
      **settings: more arguments of `LineSearchOptimizer`.
    """
    with tf.Graph().as_default():
        optimizer = graphtrain.LineSearchOptimizer(
            tf1.train.GradientDescentOptimizer(contender.first_rate(trials)),
            shrink=contender.SHRINK,
            min_scale=contender.least_scale(trials),
            **settings,
        )
        train_op = _minimize(optimizer, batch_size)
        session = contender.started_session()
        return contender.Contender(
            session.make_callable(train_op),
            lambda: int(session.run([train_op, optimizer.trials])[1]),
        )


def _minimize(optimizer, batch_size):
    loss, update_ops = contender.cnn_loss(batch_size)
    with tf.control_dependencies(update_ops):
        return optimizer.minimize(loss)
