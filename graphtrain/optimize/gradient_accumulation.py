"""Gradient accumulation: one step by the mean of the gradients of several batches."""

import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError
from graphtrain.optimize import graph_walk, search_state, wrapper
from graphtrain.optimize.control_flow import control_flow_v2
from graphtrain.optimize.line_search import LineSearchOptimizer

tf1 = tf.compat.v1


class GradientAccumulationOptimizer(wrapper.OptimizerWrapper):
    """Applies the mean of the gradients of `steps` batches, once for all of them.

    For a loss that is a mean over the batch, N batches of size B make the step that one batch of
    size N B would make, in the memory of one of size B. (What looks at a whole batch, such as
    batch norm, still sees B examples.)

    Each run of the train op takes one batch and raises the global step by one; at each N-th run
    the wrapped optimizer is applied. So steps are counted in batches, as `max_steps`, intervals
    and learning rate schedules are; a schedule is read at the runs that apply.

    Sums and their count are variables that checkpoints hold, so that a resumed run equals an
    unbroken one. A sparse gradient (`IndexedSlices`) is added up in a variable as large as the
    table, and applied to the rows whose sum is not zero.

    Args:
      optimizer: the `tf.compat.v1.train.Optimizer` that is applied.
      steps: int >= 1, how many batches make one step of it.
      name: a name for the optimizer.

    Raises:
      UsageError: `steps` is no whole number >= 1, or the optimizer cannot be wrapped. A
        `LineSearchOptimizer` cannot: it judges a step by the loss of one batch; nor can a line
        search be made over accumulation.

    Example:
      >>> w = tf1.get_variable("w", initializer=0.0)
      >>> gradient = tf1.placeholder(tf.float32, [])
      >>> optimizer = GradientAccumulationOptimizer(
      ...     tf1.train.GradientDescentOptimizer(1.0), steps=2)
      >>> train_op = optimizer.minimize(gradient * w)
      >>> with tf1.train.MonitoredSession() as session:
      ...     for value in (1.0, 2.0):
      ...         _ = session.run(train_op, {gradient: value})
      ...         print(session.run(w, {gradient: 0.0}))
      0.0
      -1.5
    """

    why_not_searched = "most of its steps change no weight, so that no loss falls"

    def __init__(self, optimizer, steps, *, name="GradientAccumulation"):
        super().__init__(optimizer, name)
        if isinstance(optimizer, LineSearchOptimizer):
            raise UsageError(
                f"optimizer={optimizer!r} cannot be applied to gradients of several batches: a "
                "line search judges a step by the loss of one batch. Accumulate without it."
            )
        self._steps = checks.whole("steps", steps)
        self._count = None

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Returns the train op: adds the gradients up, and applies their mean when it is time.

        Args:
          grads_and_vars: (gradient, variable) pairs, from `compute_gradients`, changed or not.
          global_step: the variable to raise by one at each run.
          name: passed on to the wrapped optimizer.

        Raises:
          UsageError: no variable has a gradient.
        """
        pairs = wrapper.with_gradients(grads_and_vars)
        sums = [self._slot(variable, "sum", self._name) for _, variable in pairs]
        count = self._counter()
        added = [_add(total, gradient) for total, (gradient, _) in zip(sums, pairs, strict=True)]
        with tf.control_dependencies(added):
            counted = tf1.assign_add(count, 1)
        with tf.control_dependencies([counted]):
            is_due = wrapper.read_now(count) >= self._steps
        name_scope = tf1.get_default_graph().get_name_scope()

        def apply():
            # So that what the optimizer makes has the name it would have without us.
            with tf1.name_scope(f"{name_scope}/" if name_scope else None):
                return self._apply(pairs, sums, count, name)

        # A v2 conditional nests in every other construct, but cannot write a ref variable.
        refs = any(graph_walk.is_ref(graph_walk.handle_of(variable)) for _, variable in pairs)
        with wrapper.wrapped_train_ops_left_out(), control_flow_v2(not refs):
            applied = tf1.cond(is_due, apply, tf.no_op)
        return wrapper.train_op(tf.group(applied), global_step)

    def _apply(self, pairs, sums, count, name):
        """The op that applies the means and starts the sums over."""
        means, zeroed = [], []
        for total, (gradient, variable) in zip(sums, pairs, strict=True):
            value = wrapper.read_now(total)
            if isinstance(gradient, tf.IndexedSlices):
                rows = _nonzero_rows(value)
                part = tf.gather(value, rows)
                means.append((tf.IndexedSlices(part / self._steps, rows), variable))
                zeroed.append(lambda t=total, r=rows, p=part: tf1.scatter_sub(t, r, p))
            else:
                means.append((value / self._steps, variable))
                zeroed.append(lambda t=total, v=value: tf1.assign(t, tf.zeros_like(v)))
        applied = self._optimizer.apply_gradients(means, name=name)
        with tf.control_dependencies([applied]):
            return tf.group(tf1.assign(count, 0), *(zero() for zero in zeroed))

    def _counter(self):
        if self._count is None or self._count.graph is not tf1.get_default_graph():
            with tf.init_scope(), tf1.variable_scope(None, default_name="gradient_accumulation"):
                self._count = tf1.get_variable(
                    "count", [], tf.int64, tf1.zeros_initializer(), trainable=False
                )
            tf1.add_to_collection(search_state.COLLECTION, self._count)
        return self._count


def _add(total, gradient):
    if isinstance(gradient, tf.IndexedSlices):
        return tf1.scatter_add(total, gradient.indices, gradient.values)
    return tf1.assign_add(total, gradient)


def _nonzero_rows(value):
    """The rows of a [n, ...] tensor that hold anything but zeros, int64."""
    is_there = tf.not_equal(value, tf.zeros([], value.dtype))
    return tf.where(tf.reduce_any(tf.reshape(is_there, [tf.shape(value)[0], -1]), axis=1))[:, 0]
