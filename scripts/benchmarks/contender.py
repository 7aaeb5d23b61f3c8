"""What all contenders have in common: the network, its batch, and how far a search goes."""

import dataclasses
import typing

import numpy as np
import tensorflow as tf

from graphtrain import datasets
from graphtrain.models.cnn import cnn_logits

tf1 = tf.compat.v1

# So short a step that the network is the same after hundreds of them, and long enough for the
# loss to fall by more than rounding.
RATE = 1e-4
# So slow that the last trial is no shorter than that.
SHRINK = 0.9


@dataclasses.dataclass(frozen=True)
class Contender:
    """A way to make a training step.

    Args:
      run: makes the step; a function without arguments.
      trials: makes a step and returns how many trials it took; None if that is not to be checked.
    """

    run: typing.Callable
    trials: typing.Callable | None = None

    def repeated(self, times):
        """The contender whose step is that many steps of this one."""

        def run():
            for _ in range(times):
                self.run()

        return Contender(run)


def first_rate(trials):
    """The learning rate at which a search makes that many trials, given `least_scale`.

    Downhill the first trial is accepted; uphill none is, so that the floor ends the search.
    """
    return RATE if trials == 1 else -RATE


def least_scale(trials):
    """The least part of the first rate that a search may try, to make that many trials."""
    return 1e-5 if trials == 1 else SHRINK ** (trials - 0.5)


def check_trials(contenders):
    """Makes sure that searches do the work that they are timed for.

    Args:
      contenders: dict of (name, trials) to `Contender`.

    Raises:
      RuntimeError: one of them makes another number of trials.
    """
    for (name, trials), contender in contenders.items():
        if contender.trials is not None and (made := contender.trials()) != trials:
            raise RuntimeError(f"{name} made {made} trials instead of {trials}")


def cnn_loss(batch_size):
    """Builds the article's network in training mode and its loss on a batch of the sample.

    The batch is in variables, so that no contender has to bring it. Called again, in a loop as
    well, it builds the network again over the same variables.

    Returns:
      The loss, a float scalar tensor; and the list of ops that move the averages of batch norm.
    """
    data = datasets.load("sample")
    with tf1.variable_scope("batch", reuse=tf1.AUTO_REUSE):
        images = _constant("images", data.train_images[:batch_size, ..., None] / np.float32(255))
        labels = _constant("labels", data.train_labels[:batch_size])
    built_before = len(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS))
    with tf1.variable_scope("model", reuse=tf1.AUTO_REUSE):
        logits = cnn_logits(tf.identity(images), training=True, seed=0)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    update_ops = tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)[built_before:]
    return tf.reduce_mean(losses), update_ops


def _constant(name, values):
    # A variable, because TensorFlow would compute with a constant when the graph is optimized.
    return tf1.get_variable(name, dtype=values.dtype, initializer=values, trainable=False)


def started_session():
    """Starts a session of the default graph, its variables initialized."""
    session = tf1.Session(graph=tf1.get_default_graph())
    session.run(tf1.global_variables_initializer())
    return session
