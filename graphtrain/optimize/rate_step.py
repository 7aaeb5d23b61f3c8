"""The step that learning rate schedules are functions of: counted from where they began."""

import tensorflow as tf

from graphtrain.optimize.saved_scalar import SavedScalar

tf1 = tf.compat.v1

ORIGIN = SavedScalar("learning_rate_origin", tf.int64, 0)


def learning_rate_step():
    """Returns the global step, counted from where the learning rate's schedule began.

    It is the global step itself, until a run is resumed with
    `SafetyConfig(learning_rate_on_resume="restart")`: then it is 0 there. Checkpoints hold where
    that was. The schedules of our models are functions of it, in a graph of your own you see to
    that.

    Returns:
      int64 scalar tensor.

    Example:
      >>> rate = tf1.train.exponential_decay(0.1, learning_rate_step(), 100, 0.5)
      >>> with graphtrain.MonitoredTrainingSession() as session:
      ...     print(f"{session.run(rate):.1f}")
      0.1
    """
    return tf.cast(tf1.train.get_or_create_global_step(), tf.int64) - ORIGIN.variable()
