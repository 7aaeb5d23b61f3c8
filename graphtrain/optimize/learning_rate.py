"""The learning rate of an optimizer somebody else made."""

import tensorflow as tf


def learning_rate_of(optimizer):
    """Returns the learning rate that a `tf.compat.v1.train` optimizer was made with, or None.

    Args:
      optimizer: a `tf.compat.v1.train.Optimizer`.

    Returns:
      A number or a scalar tensor; None for an optimizer that keeps it under a name of its own.

    Example:
      >>> learning_rate_of(tf1.train.AdamOptimizer(0.5))
      0.5
    """
    # TensorFlow's optimizers have no public accessor, and two private spellings.
    for name in ("_learning_rate", "_lr", "learning_rate"):
        rate = getattr(optimizer, name, None)
        if rate is not None:
            return rate() if callable(rate) and not isinstance(rate, tf.Variable) else rate
    return None
