"""The state of a graph's optimizers: slots, powers, what a line search remembers."""

import tensorflow as tf

from graphtrain.optimize import graph_walk, written_state

tf1 = tf.compat.v1

_CALLS = frozenset({"If", "While", "Case", "PartitionedCall", "StatefulPartitionedCall"})
_AVERAGE = "/ExponentialMovingAverage"


def optimizer_variables(graph):
    """Returns the variables that the train ops of a graph write beside its weights.

    Weights, the global step, averages of weights, and what `UPDATE_OPS` write (the averages of
    batch norm) are left out.

    Args:
      graph: `tf.Graph`, with its train ops in the collection `TRAIN_OP`, where optimizers put them.

    Returns:
      List of variables.

    Example:
      >>> w = tf1.get_variable("w", initializer=1.0)
      >>> step = tf1.train.get_or_create_global_step()
      >>> _ = tf1.train.MomentumOptimizer(0.1, 0.9).minimize(w * w, global_step=step)
      >>> [variable.op.name for variable in optimizer_variables(tf1.get_default_graph())]
      ['w/Momentum']
    """
    kept = _used_by(graph, tf1.GraphKeys.UPDATE_OPS)
    for key in (tf1.GraphKeys.TRAINABLE_VARIABLES, tf1.GraphKeys.GLOBAL_STEP):
        kept |= {graph_walk.handle_of(variable).ref() for variable in graph.get_collection(key)}
    used = _used_by(graph, tf1.GraphKeys.TRAIN_OP) - kept
    return [
        variable
        for variable in graph.get_collection(tf1.GraphKeys.GLOBAL_VARIABLES)
        if graph_walk.handle_of(variable).ref() in used and not variable.op.name.endswith(_AVERAGE)
    ]


def _used_by(graph, key):
    """The handles of what the ops of a collection write, themselves or through other ops."""
    ops = [getattr(item, "op", item) for item in graph.get_collection(key)]
    ran = [graph.get_operation_by_name(name) for name in graph_walk.ancestors(ops)]
    return {
        graph_walk.root_handle(tensor).ref()
        for op in written_state.writers(ran)
        # What a function is given it may only read.
        if op.type not in _CALLS
        for tensor in op.inputs
        if graph_walk.is_handle(tensor)
    }
