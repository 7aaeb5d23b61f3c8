"""The global step: one integer variable of the graph, made here if nobody made it."""

import tensorflow as tf

from graphtrain.errors import UsageError

tf1 = tf.compat.v1

_REMEDY = "make it by tf.compat.v1.train.get_or_create_global_step(), and only once"


def get_or_create():
    """Returns the global step of the default graph, made if the graph has none.

    Returns:
      The integer scalar variable (or, in an imported graph, its tensor).

    Raises:
      UsageError: the graph has two global steps, or one that is no integer scalar.

    Example:
      >>> get_or_create().dtype
      tf.int64
    """
    steps = tf1.get_collection(tf1.GraphKeys.GLOBAL_STEP)
    if len(steps) > 1:
        names = " and ".join(f"{step.name!r} ({step.dtype.base_dtype.name})" for step in steps)
        raise UsageError(f"The graph has more than one global step: {names}; {_REMEDY}.")
    step = steps[0] if steps else _step_by_name()
    if step is None:
        return tf1.train.create_global_step()
    if not step.dtype.base_dtype.is_integer or not step.shape.is_compatible_with([]):
        raise UsageError(
            f"The global step {step.name!r} must be an integer scalar, got "
            f"{step.dtype.base_dtype.name} of shape {step.shape}; {_REMEDY}."
        )
    return step


def value_after(op):
    """Returns the global step as it is once `op` has run in the same `session.run`.

    Args:
      op: an operation or tensor of the default graph.

    Returns:
      Integer scalar tensor.

    Example:
      >>> step = get_or_create()
      >>> after = value_after(tf1.assign_add(step, 1))
      >>> with tf1.train.MonitoredSession() as session:
      ...     int(session.run(after))
      1
    """
    step = get_or_create()
    with tf.control_dependencies([op]):
        # The tensor that a ref variable converts to was read when the variable was made.
        value = step.read_value() if hasattr(step, "read_value") else step
        return tf.identity(value)


def _step_by_name():
    try:
        return tf1.get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
