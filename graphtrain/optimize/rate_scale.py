"""A factor of the learning rate that is saved: what changes the rate while a run goes on."""

import tensorflow as tf

from graphtrain.optimize.saved_scalar import SavedScalar

SCALE = SavedScalar("learning_rate_scale", tf.float32, 1.0)


def learning_rate_scale():
    """Returns the factor by which the learning rate of the default graph is multiplied.

    It is 1 until `graphtrain.hooks.PlateauHook`, or a roll-back after numbers that are not finite,
    makes it smaller; a resumed run goes on with it. The rates of our models are multiplied by it,
    in a graph of your own you do that.

    Returns:
      Float32 scalar variable `learning_rate_scale`, made if there is none.

    Example:
      >>> step = tf1.train.get_or_create_global_step()
      >>> rate = tf1.train.exponential_decay(0.1, step, 100, 0.5) * learning_rate_scale()
      >>> learning_rate_scale() is learning_rate_scale()
      True
    """
    return SCALE.variable()
