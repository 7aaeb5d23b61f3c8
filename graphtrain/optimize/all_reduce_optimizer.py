"""Synchronous training by several workers: each step is made with the mean of their gradients."""

import tensorflow as tf

from graphtrain.optimize import over_workers, wrapper

tf1 = tf.compat.v1


class AllReduceOptimizer(wrapper.OptimizerWrapper):
    """Makes the steps of another optimizer with the mean of all workers' gradients.

    Every worker of a synchronous training holds all weights, and makes the same step. For a loss
    that is a mean over the batch, N workers with batches of B / N examples make the steps of one
    process with a batch of B. Where a process trains alone, nothing is changed, so that one
    model_fn serves both.

    A `LineSearchOptimizer` takes the means by itself: it need not be wrapped, nor what it wraps.

    Args:
      optimizer: the `tf.compat.v1.train.Optimizer` that is applied.
      name: a name for the optimizer.

    Raises:
      UsageError: the optimizer cannot be wrapped.

    Example:
      >>> w = tf1.get_variable("w", initializer=1.0)
      >>> optimizer = AllReduceOptimizer(tf1.train.GradientDescentOptimizer(0.5))
      >>> train_op = optimizer.minimize(w * w)
      >>> with tf1.train.MonitoredSession() as session:
      ...     _ = session.run(train_op)
      ...     print(session.run(w))
      0.0
    """

    def __init__(self, optimizer, *, name="AllReduce"):
        super().__init__(optimizer, name)

    def compute_gradients(self, loss, *args, **kwargs):
        """Returns (mean gradient, variable) pairs; see `tf.compat.v1.train.Optimizer`."""
        pairs = self._optimizer.compute_gradients(loss, *args, **kwargs)
        return over_workers.gradients_over_workers(pairs, loss if tf.is_tensor(loss) else None)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Returns the train op of the wrapped optimizer.

        Args:
          grads_and_vars: (gradient, variable) pairs, from `compute_gradients`, changed or not; of
            others, such as those of `tf.gradients`, the means are taken here.
          global_step: the variable to raise by one.
          name: passed on to the wrapped optimizer.
        """
        pairs = over_workers.gradients_over_workers(grads_and_vars)
        return self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
