"""Questions about a graph: who uses what, which variable is meant, which loop is around."""

import tensorflow as tf

tf1 = tf.compat.v1

_PASSES_HANDLE_ON = frozenset(
    {"Identity", "Enter", "RefEnter", "Switch", "RefSwitch", "RefIdentity"}
)


def is_ref(tensor):
    """Says whether `tensor` is the reference of a ref variable."""
    return tensor.dtype != tensor.dtype.base_dtype


def is_handle(tensor):
    """Says whether `tensor` stands for a variable (or another resource), not for its value."""
    return tensor.dtype == tf.resource or is_ref(tensor)


def passes_handle_on(op):
    """Says whether `op` only hands its first input, a variable's handle, on."""
    return op.type in _PASSES_HANDLE_ON and is_handle(op.inputs[0]) and is_handle(op.outputs[0])


def writes_by_ref(op):
    """Says whether `op` takes a ref variable to write it (such ops are not marked stateful)."""
    return any(arg.is_ref for arg in op.op_def.input_arg) and not passes_handle_on(op)


def handle_of(variable):
    """Returns the handle (resource variable) or the reference (ref variable) of `variable`."""
    return variable.op.outputs[0]


def root_handle(tensor):
    """Follows a handle through loops, conditionals and function graphs to the op that made it."""
    while True:
        if passes_handle_on(tensor.op):
            tensor = tensor.op.inputs[0]
        elif (outer := _captured_from(tensor)) is not None:
            tensor = outer
        else:
            return tensor


def _captured_from(tensor):
    for outer, inner in getattr(tensor.graph, "captures", ()):
        if inner is tensor:
            return outer
    return None


def entry_points(handle, graph):
    """Returns the tensors by which `handle` is seen in `graph`: itself, or its captured copies."""
    if handle.graph is graph:
        return [handle]
    return [
        inner
        for outer, inner in getattr(graph, "captures", ())
        if is_handle(outer) and root_handle(outer) is handle
    ]


def downstream(tensors, *, stop=lambda op: False):
    """Returns the names of the ops that use one of `tensors`, directly or through other ops.

    Args:
      tensors: the tensors to begin at.
      stop: a function of an op; where it is true the op is included, but not what follows it.
    """
    seen = set()
    stack = list(tensors)
    while stack:
        for op in stack.pop().consumers():
            if op.name not in seen:
                seen.add(op.name)
                if not stop(op):
                    stack.extend(op.outputs)
    return seen


def ancestors(ops, *, within=None, follow_control=True):
    """Returns the names of `ops` and of the ops that they wait for.

    Args:
      ops: the ops to begin at.
      within: the names that the walk is kept to; None for the whole graph.
      follow_control: whether control edges count, beside data edges.
    """
    seen = set()
    stack = list(ops)
    while stack:
        op = stack.pop()
        if op.name in seen or (within is not None and op.name not in within):
            continue
        seen.add(op.name)
        stack.extend(t.op for t in op.inputs)
        if follow_control:
            stack.extend(op.control_inputs)
    return seen


def control_flow_context(op):
    """Returns the v1 loop or conditional that `op` was built in, or None.

    TensorFlow has no public way to ask; without it a v1 loop cannot be told from its surroundings.
    """
    return op._get_control_flow_context()


def output_context(op):
    """Returns the v1 loop or conditional that the outputs of `op` belong to, or None."""
    context = control_flow_context(op)
    return context.outer_context if context is not None and op.type == "Exit" else context


def enclosing_contexts(op):
    """Returns the v1 loops and conditionals around the outputs of `op`, then None."""
    contexts = []
    context = output_context(op)
    while context is not None:
        contexts.append(context)
        context = context.outer_context
    return [*contexts, None]


def pivot(op):
    """Returns the op that runs whenever the v1 loop or conditional around `op` runs it."""
    context = control_flow_context(op)
    return (context.GetControlPivot() if context.IsWhileContext() else context.pivot).op


def enclosing_loop(op, around):
    """Returns the innermost v1 loop that `op` is in and that is not one of `around`, or None."""
    context = output_context(op)
    while context not in around:
        if context.IsWhileContext():
            return context
        context = context.outer_context
    return None


def wait_for(op, earlier_ops):
    """Makes an existing `op` wait for `earlier_ops`.

    Control edges can publicly be given only to ops that are yet to be made; here the earlier ops
    are known only after the later one exists (what an optimizer writes is seen once it is built).
    """
    op._add_control_inputs(earlier_ops)
