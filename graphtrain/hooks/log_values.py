"""Values of tensors in the log."""

import tensorflow as tf

from graphtrain.hooks._periodic import PeriodicHook

tf1 = tf.compat.v1


class LogValuesHook(PeriodicHook):
    """Logs tensors at the first step and at each multiple of `every_steps`.

    Args:
      tensors: dict from a name of your choice to a scalar tensor, to its name in the graph, or
        to the tag of its scalar summary.
      every_steps: int >= 1.

    Raises:
      UsageError: `every_steps` is no whole number >= 1.

    Example:
      >>> train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
      >>> hook = LogValuesHook({"loss": tf.constant(0.5)}, every_steps=10)
      >>> with tf1.train.MonitoredTrainingSession(hooks=[hook]) as session:
      ...     _ = session.run(train_op)
    """

    def __init__(self, tensors, *, every_steps=100):
        super().__init__(tensors, every_steps=every_steps, first_step=True)

    def report(self, step, values):
        """Logs the values of this step."""
        shown = ", ".join(f"{name} = {value}" for name, value in values.items())
        tf1.logging.info("%s, step = %d", shown, step)
