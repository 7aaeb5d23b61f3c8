"""Exponential moving averages of the weights, kept beside them while they are trained."""

import tensorflow as tf

from graphtrain import checks
from graphtrain.optimize import graph_walk, wrapper
from graphtrain.optimize.control_flow import control_flow_v2

tf1 = tf.compat.v1

# The end of the names that tf.train.ExponentialMovingAverage gives, too.
SUFFIX = "ExponentialMovingAverage"


class MovingAverageOptimizer(wrapper.OptimizerWrapper):
    """Keeps an exponential moving average of each weight that it changes.

    After each step average := decay * average + (1 - decay) * weight; the first average is the
    weight's first value. Averages are variables named `<weight>/ExponentialMovingAverage`, as
    those of `tf.train.ExponentialMovingAverage`, and are in the checkpoints. Training goes on
    with the weights; evaluation, prediction and export use the averages where the model_fn says
    so, by a scaffold of `graphtrain.averages_scaffold()`.

    Around a `LineSearchOptimizer` it averages the weights that the search has settled on; the
    other way round is refused, as the averages would be of weights that were only tried. Inside
    a `GradientAccumulationOptimizer` it averages at the steps that change the weights; around
    one, at each batch.

    Args:
      optimizer: the `tf.compat.v1.train.Optimizer` that makes the step.
      average_decay: number in [0, 1), usually 0.99 to 0.9999.
      num_updates: None, or an integer scalar tensor or variable n, such as the global step: then
        the decay is min(average_decay, (1 + n) / (10 + n)), less at first.
      name: a name for the optimizer.

    Raises:
      UsageError: the decay is out of range, or the optimizer cannot be wrapped.

    Example:
      >>> w = tf1.get_variable("w", initializer=1.0)
      >>> optimizer = MovingAverageOptimizer(
      ...     tf1.train.GradientDescentOptimizer(1.0), average_decay=0.75)
      >>> train_op = optimizer.minimize(w)
      >>> with tf1.train.MonitoredSession() as session:
      ...     _ = session.run(train_op)
      ...     [float(value) for value in session.run([w, optimizer.get_slot(w, "average")])]
      [0.0, 0.75]
    """

    why_not_searched = (
        "the averages would be of weights that were only tried; put it around the search instead: "
        "MovingAverageOptimizer(LineSearchOptimizer(...), ...)"
    )

    def __init__(self, optimizer, average_decay=0.9999, num_updates=None, *, name="MovingAverage"):
        super().__init__(optimizer, name)
        self._decay = checks.real("average_decay", average_decay, at_least=0, below=1)
        self._num_updates = num_updates

    def apply_gradients(self, grads_and_vars, global_step=None, name=None, **settings):
        """Returns the train op: the wrapped optimizer's step, then the averages.

        Args:
          grads_and_vars: (gradient, variable) pairs, from `compute_gradients`, changed or not.
          global_step: the variable to raise by one.
          name: passed on to the wrapped optimizer.
          **settings: passed on too, such as the loss of a `LineSearchOptimizer`.

        Raises:
          UsageError: no variable has a gradient.
        """
        pairs = wrapper.with_gradients(grads_and_vars)
        with wrapper.wrapped_train_ops_left_out():
            step = self._optimizer.apply_gradients(pairs, name=name, **settings)
        with tf.control_dependencies([step]):
            decay = self._decay_now()
            moved = [self._move(variable, decay) for _, variable in pairs]
        return wrapper.train_op(tf.group(*moved), global_step)

    def _decay_now(self):
        if self._num_updates is None:
            return tf.constant(self._decay)
        updates = self._num_updates
        if isinstance(updates, tf.Variable):
            updates = wrapper.read_now(updates)
        updates = tf.cast(updates, tf.float32)
        return tf.minimum(self._decay, (1 + updates) / (10 + updates))

    def _move(self, variable, decay):
        # A v2 conditional, which the first value is, cannot take a ref variable in.
        with control_flow_v2(not graph_walk.is_ref(graph_walk.handle_of(variable))):
            average = self._slot(variable, "average", SUFFIX, lambda: _first_value(variable))
        distance = wrapper.read_now(average) - wrapper.read_now(variable)
        return tf1.assign_sub(average, tf.cast(1 - decay, distance.dtype) * distance)


def _first_value(variable):
    """The variable's value: its initial one, or what has been restored."""
    return tf1.cond(
        tf1.is_variable_initialized(variable),
        variable.read_value,
        lambda: tf.convert_to_tensor(variable.initial_value),
    )
