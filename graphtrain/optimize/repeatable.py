"""Which ops may run again in the same step without changing the outcome."""

from graphtrain.optimize import graph_walk

# Marked stateful by TensorFlow, but a second run only reads, or works on arrays of its own.
_READS = frozenset(
    {
        *("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape"),
        *("Print", "PrintV2", "Assert", "CheckNumerics", "CheckNumericsV2"),
        *("PyFunc", "EagerPyFunc", "VarHandleOp"),
        *("TensorArrayV3", "TensorArrayWriteV3", "TensorArrayReadV3", "TensorArraySizeV3"),
        *("TensorArrayGatherV3", "TensorArrayScatterV3", "TensorArrayConcatV3"),
        *("TensorArraySplitV3", "Placeholder"),
    }
)


class Repeatable:
    """Tells, of the ops of one graph, which must not run twice.

    Ops that call functions are looked into: a `While` is marked stateful as soon as it reads a
    variable.

    Args:
      graph: the graph of the ops.
    """

    def __init__(self, graph):
        self._graph = graph
        self._answers = {}
        self._functions = None

    def must_not_repeat(self, op):
        """Says whether `op` writes state or draws random numbers that a second run would change."""
        if op.name not in self._answers:
            self._answers[op.name] = graph_walk.writes_by_ref(op) or bool(self._culprit(op))
        return self._answers[op.name]

    def what(self, op):
        """Returns the type of `op`, with the type of the op inside it that is not repeatable."""
        culprit = self._culprit(op)
        return op.type if culprit in (None, op.type) else f"{op.type} with {culprit} inside"

    def _culprit(self, op):
        if not op.op_def.is_stateful or op.type in _READS:
            return None
        called = _called(op.node_def)
        if not called:
            return op.type
        return self._culprit_in(called, seen=set())

    def _culprit_in(self, names, seen):
        for name in names:
            if name in seen:
                continue
            seen.add(name)
            for node in self._function(name).node_def:
                called = _called(node)
                if called:
                    culprit = self._culprit_in(called, seen)
                elif node.op in _READS or not self._graph.op_def_for_type(node.op).is_stateful:
                    culprit = None
                else:
                    culprit = node.op
                if culprit:
                    return culprit
        return None

    def _function(self, name):
        if self._functions is None:
            library = self._graph.as_graph_def().library.function
            self._functions = {function.signature.name: function for function in library}
        return self._functions[name]


def _called(node):
    names = []
    for attr in node.attr.values():
        if attr.HasField("func"):
            names.append(attr.func.name)
        names.extend(function.name for function in attr.list.func)
    return names
