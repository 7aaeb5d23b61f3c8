"""A part of a graph as a GraphDef, to be imported a second time."""

import tensorflow as tf

tf1 = tf.compat.v1


def graph_def_of(ops, *, control_inputs):
    """Returns ops as a GraphDef; what they use besides each other is left to an input map.

    Args:
      ops: ops of one graph, in its order.
      control_inputs: a function of an op that returns the names of the ops its copy waits for.

    Returns:
      A `GraphDef`, with the functions that the ops call.
    """
    graph_def = tf1.GraphDef()
    for op in ops:
        node = graph_def.node.add()
        node.CopyFrom(op.node_def)
        # A copy need not be where the variable is that its original was put beside.
        node.attr.pop("_class", None)
        del node.input[:]
        node.input.extend(tensor.name for tensor in op.inputs)
        node.input.extend(f"^{name}" for name in control_inputs(op))
    if any(_calls_functions(node) for node in graph_def.node):
        graph_def.library.CopyFrom(ops[0].graph.as_graph_def().library)
    return graph_def


def _calls_functions(node):
    return any(attr.HasField("func") or attr.list.func for attr in node.attr.values())
