"""Several training steps in one `session.run`.

Each run of a session costs some hundred microseconds, which on a small model is more than its
step. So the graph of the train op is copied into the body of a while_loop; whatever reads state on
the way to the train op waits for that loop. One `session.run` of the train op then makes
`extra_steps` steps in the loop, and the last one in the graph as it was built: what hooks fetch
beside it belongs to that last step.
"""

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.hooks.quiet import EXTRA_STEPS
from graphtrain.optimize import graph_walk
from graphtrain.optimize.control_flow import control_flow_v2
from graphtrain.optimize.graph_copy import graph_def_of
from graphtrain.session import inputs

tf1 = tf.compat.v1

_DONE = "graphtrain_extra_steps_done"


def add_extra_steps(train_op):
    """Makes the default graph's train op able to make several steps in one run.

    Args:
      train_op: op of the default graph.

    Returns:
      int64 scalar placeholder, 0 unless it is fed: how many steps are made before the last.

    Raises:
      UsageError: the train op uses a ref variable, which a loop cannot write.

    Example:
      >>> step = tf1.train.get_or_create_global_step()
      >>> train_op = tf1.assign_add(step, 1).op
      >>> extra_steps = add_extra_steps(train_op)
      >>> with tf1.train.MonitoredSession() as session:
      ...     session.run(train_op, {extra_steps: 9})
      ...     int(session.run(step))
      10
    """
    graph = train_op.graph
    names = graph_walk.ancestors([train_op])
    ops = [op for op in graph.get_operations() if op.name in names]
    _check_no_refs(ops)
    copied = [op for op in ops if not _stays_outside(op)]
    with tf.name_scope("extra_steps"):
        extra_steps = tf1.placeholder_with_default(tf.constant(0, tf.int64), [], "count")
        done = _loop(train_op, copied, extra_steps)
    _let_readers_wait(copied, done)
    graph.add_to_collection(EXTRA_STEPS, extra_steps)
    graph.add_to_collection(_DONE, done)
    return extra_steps


def read_before_last_step(tensor):
    """Makes a tensor that reads state do so after the extra steps, if the graph can make any.

    Args:
      tensor: a tensor of the default graph.
    """
    names = graph_walk.ancestors([tensor.op])
    for done in tensor.graph.get_collection(_DONE):
        _let_readers_wait([tensor.graph.get_operation_by_name(name) for name in names], done)


def _check_no_refs(ops):
    for op in ops:
        if any(graph_walk.is_ref(tensor) for tensor in op.outputs):
            raise UsageError(
                f"steps_per_run > 1 cannot be had with the ref variable '{op.name}': a loop of "
                "several steps cannot write it. Use resource variables "
                "(tf.compat.v1.enable_resource_variables()), or steps_per_run=1."
            )


def _stays_outside(op):
    """Whether the copies use what the graph's own op gives: a handle, or what a run is fed with."""
    if op.type in ("Placeholder", "PlaceholderWithDefault"):
        return True
    return not op.inputs and bool(op.outputs) and op.outputs[0].dtype == tf.resource


def _loop(train_op, copied, extra_steps):
    names = {op.name for op in copied}
    graph_def = graph_def_of(
        copied, control_inputs=lambda op: [c.name for c in op.control_inputs if c.name in names]
    )
    _let_batches_be_awaited(graph_def, train_op.graph)
    used = {t.name: t for op in copied for t in op.inputs if t.op.name not in names}

    def one_step(count):
        input_map = {name: tf.identity(tensor) for name, tensor in used.items()}
        (step,) = tf.graph_util.import_graph_def(
            graph_def, input_map=input_map, return_elements=[train_op.name], name="step"
        )
        with tf.control_dependencies([step]):
            return count + 1

    with control_flow_v2(True):
        return tf1.while_loop(
            lambda count: count < extra_steps,
            one_step,
            [tf.constant(0, tf.int64)],
            parallel_iterations=1,
            return_same_structure=False,
        ).op


def _let_batches_be_awaited(graph_def, graph):
    """Lets the copies take a batch where they are, instead of sending a thread for it.

    That saves a tenth of a millisecond a step. A thread of the session waits meanwhile, so the
    dataset must not need one: there might be no other.
    """
    names = {op.name for op in graph.get_collection(inputs.SOURCES_OF_OWN_THREADS)}
    for node in graph_def.node:
        if node.name in names and node.op == "IteratorGetNext":
            node.op = "IteratorGetNextSync"


def _let_readers_wait(ops, done):
    for op in ops:
        if not _stays_outside(op) and _reads_state(op):
            graph_walk.wait_for(op, [done])


def _reads_state(op):
    """Whether `op` begins something that depends on state, and so on the steps before."""
    context = graph_walk.control_flow_context(op)
    if op.type in ("Enter", "RefEnter"):
        return True
    while context is not None:
        if context.IsWhileContext():
            return False
        context = context.outer_context
    return op.op_def.is_stateful or any(graph_walk.is_handle(tensor) for tensor in op.inputs)
