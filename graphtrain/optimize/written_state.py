"""What a group of ops writes: found, copied, put back, and moved part of the way."""

import dataclasses

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.optimize import graph_walk

tf1 = tf.compat.v1

_ONLY_READ = frozenset(
    {
        *("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape"),
        *("VarIsInitializedOp", "IsVariableInitialized", "DisableCopyOnRead"),
    }
)
_KEEPS_ROWS = frozenset({"Unique", "UniqueV2", "Identity", "Cast", "Reshape"})
_ROWWISE_PREFIXES = ("ResourceScatter", "ResourceSparseApply", "Scatter", "SparseApply")


@dataclasses.dataclass(frozen=True)
class Cell:
    """A variable, or the rows of it that an op touches.

    Attributes:
      handle: the handle or the reference of the variable, as the op that made the variable
        returned it.
      indices: int tensor [n], the rows touched (a row may come twice); None for all of it.
    """

    handle: tf.Tensor
    indices: tf.Tensor | None = None

    @property
    def dtype(self):
        """The dtype of the variable's value."""
        if graph_walk.is_ref(self.handle):
            return self.handle.dtype.base_dtype
        return self.handle.op.get_attr("dtype")

    @property
    def is_ref(self):
        """Whether it is a ref variable."""
        return graph_walk.is_ref(self.handle)

    @property
    def key(self):
        """What two cells share that are the same."""
        return self.handle.ref(), None if self.indices is None else self.indices.ref()

    def read(self):
        """Returns a copy of the value, [n, ...] for n rows, that later writes do not change."""
        if self.is_ref:
            # The reference itself would follow the variable: its buffer is shared.
            value = tf.identity(self.handle)
            if self.indices is not None:
                return tf.gather(value, self.indices)
            return tf.raw_ops.DeepCopy(x=value)
        if self.indices is not None:
            return tf.raw_ops.ResourceGather(
                resource=self.handle, indices=self.indices, dtype=self.dtype
            )
        return tf.raw_ops.ReadVariableOp(resource=self.handle, dtype=self.dtype)

    def write(self, value):
        """Returns the op that writes `value`, shaped as `read` gave it."""
        if self.is_ref:
            if self.indices is not None:
                return tf.raw_ops.ScatterUpdate(
                    ref=self.handle, indices=self.indices, updates=value
                ).op
            return tf.raw_ops.Assign(ref=self.handle, value=value, validate_shape=False).op
        if self.indices is not None:
            return tf.raw_ops.ResourceScatterUpdate(
                resource=self.handle, indices=self.indices, updates=value
            )
        return tf.raw_ops.AssignVariableOp(resource=self.handle, value=value)


def writers(ops):
    """Returns those of `ops` that write a variable, or any other resource."""
    return [
        op
        for op in ops
        if op.type not in _ONLY_READ
        and any(
            tensor.dtype == tf.resource or (arg_is_ref and graph_walk.is_ref(tensor))
            for tensor, arg_is_ref in _inputs(op)
        )
        and not graph_walk.passes_handle_on(op)
    ]


def _inputs(op):
    args = op.op_def.input_arg
    if len(args) == len(op.inputs):
        return [(tensor, arg.is_ref) for tensor, arg in zip(op.inputs, args, strict=True)]
    return [(tensor, False) for tensor in op.inputs]


def cells_written(ops, *, rows=None):
    """Finds the variables, or the rows of them, that `ops` write.

    Args:
      ops: ops of one graph, each of which writes; see `writers`.
      rows: a dict from handles to int tensors, the rows that may be written of these variables and
        of their slots. An op that writes just these, or each of them once, is known to do so.

    Returns:
      A list of `Cell`, each once.

    Raises:
      UsageError: an op writes something that is not a variable (a queue, a table): it could not
        be put back.
    """
    known = list((rows or {}).values())
    whole, partial = {}, {}
    for op in ops:
        for tensor in op.inputs:
            if graph_walk.is_handle(tensor):
                cell = _cell_written(op, tensor, known)
                (whole if cell.indices is None else partial).setdefault(cell.key, cell)
    partial = {key: cell for key, cell in partial.items() if (key[0], None) not in whole}
    return [*whole.values(), *partial.values()]


def _cell_written(op, tensor, known_rows):
    handle = graph_walk.root_handle(tensor)
    if tensor.dtype == tf.resource and handle.op.type != "VarHandleOp":
        raise UsageError(
            f"The optimizer's op '{op.name}' ({op.type}) writes to '{handle.op.name}' "
            f"({handle.op.type}), which is not a variable: a line search could not put it back "
            "after a failed step. Wrap an optimizer that keeps its state in variables."
        )
    if op.type.startswith(_ROWWISE_PREFIXES) and "ScatterNd" not in op.type:
        names = [arg.name for arg in op.op_def.input_arg]
        indices = _same_rows(op.inputs[names.index("indices")], known_rows)
        return Cell(handle, indices)
    return Cell(handle)


def _same_rows(indices, known_rows):
    """The tensor of `known_rows` that `indices` was made from, or None for rows unknown."""
    while not any(indices is rows for rows in known_rows):
        if indices.op.type not in _KEEPS_ROWS:
            return None
        indices = indices.op.inputs[0]
    return indices


def part_of_the_way(old, new, scale):
    """Returns old + scale * (new - old), in the dtype of `old`.

    Args:
      old: the value before the step, any shape.
      new: the value after the whole step, same shape and dtype.
      scale: float scalar tensor, the part of the step to take.
    """
    return old + tf.cast(scale, old.dtype) * (new - old)
