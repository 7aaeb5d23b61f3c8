"""Which ops of a loss are copied to evaluate it again, and what is handed to the copy."""

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.optimize import graph_walk
from graphtrain.optimize.repeatable import Repeatable

tf1 = tf.compat.v1

_ASKS_SHAPE = frozenset({"Shape", "ShapeN", "Size", "Rank", "VariableShape"})
# Ops whose result has a shape that the values of their inputs decide.
_VALUE_SETS_SHAPE = frozenset(
    {
        *("Where", "Unique", "UniqueV2", "UniqueWithCounts", "DynamicPartition", "ListDiff"),
        *("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3"),
        *("Range", "Fill", "Tile", "Slice", "StridedSlice", "BroadcastTo", "Pad", "PadV2"),
    }
)
_LARGEST_COPIED_CONSTANT = 1024


class ReplayPlan:
    """Splits the graph above a loss into ops to copy and tensors to hand over.

    Args:
      loss: the loss, a float tensor.
      variables: the variables whose new values the copy is to see.

    Attributes:
      ops: the ops to copy, in the order of the graph.
      inputs: a dict from the names of tensors that the copied ops use, and that are not copied, to
        the tensors to hand over for them.
      variables: the variables, of those given, that the loss depends on.

    Raises:
      UsageError: the loss depends on no variable, or on one through an op that cannot be repeated.
    """

    def __init__(self, loss, variables):
        self._graph = loss.graph
        self._loss_op = loss.op
        self._around = graph_walk.enclosing_contexts(loss.op)
        self._repeatable = Repeatable(self._graph)
        self._anchors = {}
        handles = {graph_walk.handle_of(v).ref(): v for v in variables}
        self._find_dependent_ops(handles)
        names = self._copied_names()
        self.ops = [op for op in self._graph.get_operations() if op.name in names]
        used = {t.name: t for op in self.ops for t in op.inputs if t.op.name not in names}
        roots = {graph_walk.root_handle(t).ref() for t in used.values() if graph_walk.is_handle(t)}
        self.variables = [v for handle, v in handles.items() if handle in roots]
        self._check_sees_whole_loss(names, used)
        if not self.ops:
            raise _no_path(loss, variables)
        self.inputs = {name: self._always_alive(t) for name, t in used.items()}

    def control_inputs(self, op):
        """Returns the names of the copied ops that the copy of `op` waits for."""
        return self._anchors.get(op.name, ())

    def _find_dependent_ops(self, handles):
        entries = [t for h in handles for t in graph_walk.entry_points(h.deref(), self._graph)]
        written = self._repeatable.must_not_repeat
        shape_only = graph_walk.downstream(
            entries, stop=lambda op: written(op) or op.type in _ASKS_SHAPE
        )
        operation = self._graph.get_operation_by_name
        resizing = [op for op in map(operation, shape_only) if op.type in _VALUE_SETS_SHAPE]
        resized = graph_walk.downstream([t for op in resizing for t in op.outputs])
        self._by_value = graph_walk.downstream(
            entries,
            stop=lambda op: (
                written(op) or (op.type in _ASKS_SHAPE and op.inputs[0].op.name not in resized)
            ),
        )
        self._dependent = graph_walk.downstream(entries, stop=self._is_handed_over)

    def _is_handed_over(self, op):
        """Whether the outputs of `op` are taken as they are: made again, they could differ."""
        if self._repeatable.must_not_repeat(op):
            return True
        draws_by_seed = op.type.startswith("Stateless") and "Random" in op.type
        return draws_by_seed and op.name not in self._by_value

    def _is_nested(self, op):
        return graph_walk.control_flow_context(op) not in self._around

    def _belongs(self, op):
        """Whether `op` is copied if a copied op uses it."""
        if graph_walk.passes_handle_on(op) and not self._is_nested(op):
            return False
        return op.name in self._dependent and not self._is_handed_over(op)

    def _copied_names(self):
        names = set()
        stack = [self._loss_op] if self._belongs(self._loss_op) else []
        while stack:
            op = stack.pop()
            if op.name not in names:
                names.add(op.name)
                stack.extend(self._needed_by(op))
        return names

    def _needed_by(self, op):
        nested = self._is_nested(op)
        handed_over = 0
        for source in {t.op.name: t.op for t in op.inputs}.values():
            inside = (nested or op.type == "Merge") and self._is_nested(source)
            if inside and self._is_handed_over(source):
                handed_over += 1
            elif (
                inside
                or self._belongs(source)
                or (_is_pivot(op) and source.type == "Switch")
                or _is_small_constant(source)
                or _is_array_in_the_making(source)
            ):
                yield source
        if nested and (handed_over or not op.inputs):
            pivots = self._pivots(op)
            self._anchors[op.name] = [pivot.name for pivot in pivots]
            yield from pivots

    def _pivots(self, op):
        """The ops by which the copy of `op` knows that its loop or conditional runs it.

        Only ops of which no input says so need them: they have none, or are handed all of them.
        """
        sources = [c for c in op.control_inputs if self._is_nested(c) or _is_pivot(c)]
        sources = [c for c in sources if c.outputs and not self._is_handed_over(c)]
        return sources or [graph_walk.pivot(op)]

    def _check_sees_whole_loss(self, names, used):
        above = graph_walk.ancestors([self._loss_op], follow_control=False) - names
        above = [self._graph.get_operation_by_name(name) for name in sorted(above)]
        for op in above:
            if op.name in self._by_value and self._is_handed_over(op):
                raise self._not_repeatable(op)
        for op in self.ops:
            if op.type == "Enter" and not self._is_nested(op):
                raise self._read_outside(op)
        for tensor in used.values():
            if self._is_nested(tensor.op) and graph_walk.enclosing_loop(tensor.op, self._around):
                raise self._not_repeatable(tensor.op)
        self._check_no_detour(names, above)

    def _check_no_detour(self, names, above):
        """Refuses a value that goes from a variable to the loss through the state of another."""
        ran_before_loss = graph_walk.ancestors([self._loss_op])
        for name in sorted((self._by_value & ran_before_loss) - names):
            writer = self._graph.get_operation_by_name(name)
            if self._repeatable.must_not_repeat(writer):
                written = _state_used(writer)
                for reader in above:
                    if _state_used(reader) & written and name in graph_walk.ancestors([reader]):
                        raise self._not_repeatable(writer)

    def _always_alive(self, tensor):
        """Makes a tensor of a v1 conditional's branch fit to be used when the other branch ran."""
        context = graph_walk.output_context(tensor.op)
        while context not in self._around:
            filler = tf.zeros([], tensor.dtype)
            other = tf.raw_ops.Switch(data=filler, pred=context.pred)[1 - context.branch]
            tensor = tf.raw_ops.Merge(inputs=[tensor, other]).output
            context = context.outer_context
        return tensor

    def _names_above(self, op):
        """The variables that `op` depends on, for a message."""
        names = [
            v.name
            for v in self.variables
            if op.name
            in graph_walk.downstream(graph_walk.entry_points(graph_walk.handle_of(v), self._graph))
        ]
        return ", ".join(names) or "a variable"

    def _read_outside(self, op):
        return UsageError(
            f"The loss '{self._loss_op.name}' is inside a loop, and reads {self._names_above(op)} "
            f"outside of it (the op '{op.name}' brings the value in), where a trial cannot read "
            "again. Read the weights inside the loop; only resource variables can be."
        )

    def _not_repeatable(self, op):
        return UsageError(
            f"The loss '{self._loss_op.name}' depends on {self._names_above(op)} "
            f"through the op '{op.name}' ({self._repeatable.what(op)}), which writes state or "
            "draws random numbers, and so cannot be evaluated again for a trial: the search would "
            "see a part of the loss only. Take the op out of the loss; if it draws random numbers, "
            "draw them by tf.random.stateless_* from a seed."
        )


def _no_path(loss, variables):
    return UsageError(
        f"The loss '{loss.name}' does not depend on any of {[v.name for v in variables]}: there is "
        "nothing to search over. Pass the loss of this graph and the variables it is made from. "
        "(Inside a tf.function, or a loop or conditional of control flow v2, they must be resource "
        "variables, and be read there.)"
    )


def _state_used(op):
    return {graph_walk.root_handle(t).ref() for t in op.inputs if graph_walk.is_handle(t)}


def _is_pivot(op):
    return op.type == "Identity" and op.inputs[0].op.type == "Switch"


def _is_small_constant(op):
    if op.type != "Const":
        return False
    size = op.outputs[0].shape.num_elements()
    return size is not None and size <= _LARGEST_COPIED_CONSTANT


def _is_array_in_the_making(op):
    """Whether `op` gives the handle or the flow of a v1 TensorArray, which is read only once."""
    return op.type in (
        "TensorArrayV3",
        "TensorArrayWriteV3",
        "TensorArrayScatterV3",
        "TensorArraySplitV3",
    )
