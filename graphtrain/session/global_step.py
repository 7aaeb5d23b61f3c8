"""The global step: one integer variable of the graph, made here if nobody made it."""

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.optimize import graph_walk
from graphtrain.session import several_steps

tf1 = tf.compat.v1

# TensorFlow's hooks look here for the tensor by which they read the step; it has no public name.
_READ_BY_HOOKS = "global_step_read_op_cache"
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
        return tf.identity(_read(step))


def let_hooks_read_before_increments():
    """Makes the increments of the step wait for the read that TensorFlow's hooks make.

    Those hooks fetch the step beside the train op and take it for the step before. Without an
    order it is now and then the step after: a summary comes a step early, and the step counter
    warns of a step that does not advance.

    Example:
      >>> increment = tf1.assign_add(get_or_create(), 1)
      >>> let_hooks_read_before_increments()
      >>> [op.name for op in increment.op.control_inputs]
      ['global_step_read']
    """
    graph = tf1.get_default_graph()
    if graph.get_collection(_READ_BY_HOOKS):
        return
    step = get_or_create()
    handle = graph_walk.handle_of(step)
    increments = [
        op
        for op in graph.get_operations()
        if op.type in ("AssignAdd", "AssignAddVariableOp")
        and graph_walk.root_handle(op.inputs[0]) is handle
        and graph_walk.control_flow_context(op) is None
    ]
    value = _read(step)
    read = tf.add(value, tf.zeros([], value.dtype), name="global_step_read")
    several_steps.read_before_last_step(read)
    graph.add_to_collection(_READ_BY_HOOKS, read)
    for op in increments:
        graph_walk.wait_for(op, [read.op])


def _read(step):
    # The tensor that a ref variable converts to was read when the variable was made.
    return step.read_value() if hasattr(step, "read_value") else tf.identity(step)


def _step_by_name():
    try:
        return tf1.get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
