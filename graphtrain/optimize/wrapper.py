"""What optimizers that wrap another one have in common."""

import contextlib

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.optimize import search_state

tf1 = tf.compat.v1


class OptimizerWrapper(tf1.train.Optimizer):
    """An optimizer whose gradients, slots and variables are those of the one that it wraps.

    Args:
      optimizer: the `tf.compat.v1.train.Optimizer`.
      name: a name for the wrapper.

    Attributes:
      why_not_searched: str, why no line search can be made over it.

    Raises:
      UsageError: it is no such optimizer.
    """

    why_not_searched = None

    def __init__(self, optimizer, name):
        super().__init__(use_locking=False, name=name)
        if not isinstance(optimizer, tf1.train.Optimizer):
            raise UsageError(
                f"optimizer={optimizer!r} cannot be wrapped: give a tf.compat.v1.train.Optimizer, "
                "such as tf.compat.v1.train.AdamOptimizer(1e-3)"
            )
        self._optimizer = optimizer

    def compute_gradients(self, *args, **kwargs):
        """Returns the (gradient, variable) pairs of the wrapped optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def get_slot(self, var, name):
        """Returns the slot `name` of the variable `var`: the wrapper's, the wrapped's, or None."""
        own = super().get_slot(var, name)
        return self._optimizer.get_slot(var, name) if own is None else own

    def get_slot_names(self):
        """Returns the names of the slots of both."""
        return sorted({*super().get_slot_names(), *self._optimizer.get_slot_names()})

    def variables(self):
        """Returns the variables of both."""
        return [*super().variables(), *self._optimizer.variables()]

    def _slot(self, variable, slot_name, suffix, value=None):
        """Makes a saved variable `<variable>/<suffix>`, as TensorFlow's optimizers make slots.

        Only their own methods for it, whose names begin with an underscore because they are for
        subclasses, make a slot that is saved as a part where its variable is a part.

        Args:
          variable: the variable.
          slot_name: what `get_slot` is given.
          suffix: the end of the name.
          value: function that returns the first value; None for zeros.
        """
        with tf.init_scope():
            known = super().get_slot(variable, slot_name)
            if known is not None:
                return known
            if value is None:
                slot = self._zeros_slot(variable, slot_name, suffix)
            else:
                slot = self._get_or_make_slot(variable, value(), slot_name, suffix)
        # So that a run can go on with the wrapper put around its optimizer.
        tf1.add_to_collection(search_state.COLLECTION, slot)
        return slot


def with_gradients(grads_and_vars):
    """Returns the pairs that have a gradient.

    Args:
      grads_and_vars: iterable of (gradient or None, variable).

    Raises:
      UsageError: there are none.
    """
    grads_and_vars = list(grads_and_vars)
    pairs = [(gradient, variable) for gradient, variable in grads_and_vars if gradient is not None]
    if not pairs:
        raise UsageError(
            f"There is no gradient for any of {[v.name for _, v in grads_and_vars]}: the loss does "
            "not depend on them, or only through ops that have no gradient"
        )
    return pairs


def read_now(variable):
    """Returns the value of a variable as it is once the ops that are waited for have run."""
    # What a ref variable converts to was read when the variable was made.
    return variable.read_value() if hasattr(variable, "read_value") else tf.identity(variable)


def train_op(op, global_step):
    """Returns the train op: `op`, then the global step is raised by one, if there is one.

    Args:
      op: the op that makes the step.
      global_step: integer scalar variable, or None.
    """
    if global_step is not None:
        with tf.control_dependencies([op]):
            one = tf.ones([], global_step.dtype.base_dtype)
            op = tf.group(tf1.assign_add(global_step, one))
    tf1.add_to_collection(tf1.GraphKeys.TRAIN_OP, op)
    return op


@contextlib.contextmanager
def wrapped_train_ops_left_out():
    """Keeps what is built meanwhile out of the collection `TRAIN_OP`: it is a part of a step."""
    before = tf1.get_collection(tf1.GraphKeys.TRAIN_OP)
    yield
    tf1.get_collection_ref(tf1.GraphKeys.TRAIN_OP)[:] = before
