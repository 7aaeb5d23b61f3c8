"""The step that an optimizer took: known, scaled, undone."""

import tensorflow as tf

from graphtrain.optimize import graph_walk, written_state
from graphtrain.optimize.control_flow import control_flow_v2

tf1 = tf.compat.v1


class TakenStep:
    """Builds an optimizer's step so that it can be scaled or undone afterwards.

    The optimizer is applied once, so its slots move once. Whatever it writes is copied before, if
    it may be needed.

    Args:
      optimizer: a `tf.compat.v1.train.Optimizer`.
      grads_and_vars: list of (gradient, variable) for its `apply_gradients`.
      loss_gradients: list of (gradient, variable): the gradient of the loss, which may have been
        changed before it is applied.
      after: tensors and ops that must be done before anything is written.
      needed: bool scalar tensor, whether the step may be scaled or undone; None if it always may.
        Where it is false there are no copies, and the slope is 0. It is not heeded where a ref
        variable is written.
      name: passed on to `apply_gradients`.

    Attributes:
      op: the op that takes the whole step.
    """

    def __init__(self, optimizer, grads_and_vars, loss_gradients, *, after, needed=None, name=None):
        graph = tf1.get_default_graph()
        count = len(graph.get_operations())
        self.op = tf.group(optimizer.apply_gradients(grads_and_vars, name=name))
        built = graph.get_operations()[count:]
        ran = graph_walk.ancestors([self.op], within={op.name for op in built})
        writers = written_state.writers([op for op in built if op.name in ran])
        self._loss_gradients = _by_handle(loss_gradients)
        rows = _rows(_by_handle(grads_and_vars), self._loss_gradients)
        cells = written_state.cells_written(writers, rows=rows)
        self._needed = None if any(cell.is_ref for cell in cells) else needed
        values = self._if_needed(
            lambda: [cell.read() for cell in cells],
            lambda: [tf.zeros([0], cell.dtype) for cell in cells],
        )
        self._before = {cell.key: value for cell, value in zip(cells, values, strict=True)}
        reads = _plain_reads([cell.handle for cell in cells if cell.indices is None])
        with tf.control_dependencies([*after, *reads, *self._before.values()]):
            all_read = tf.no_op()
        for writer in writers:
            graph_walk.wait_for(writer, [all_read])
        weights = {graph_walk.handle_of(v).ref() for _, v in grads_and_vars}
        self._weights = [cell for cell in cells if cell.handle.ref() in weights]
        self._slots = [cell for cell in cells if cell.handle.ref() not in weights]
        with tf.control_dependencies([self.op]):
            self._after = {cell.key: cell.read() for cell in self._weights}

    def _if_needed(self, compute, otherwise):
        if self._needed is None:
            return compute()
        with control_flow_v2(True):
            return tf1.cond(self._needed, compute, otherwise)

    @property
    def is_measured(self):
        """Whether there is a slope, bool scalar tensor."""
        return tf.constant(True) if self._needed is None else self._needed

    @property
    def has_ref_variables(self):
        """Whether a ref variable is written, which only a v1 loop can do."""
        return any(cell.is_ref for cell in [*self._weights, *self._slots])

    @property
    def whole(self):
        """The tensors that are there once the whole step has been taken."""
        return list(self._after.values())

    def slope(self, dtype):
        """Returns <gradient of the loss, whole step>, the derivative of the loss along the step.

        Args:
          dtype: the dtype of the result, a float scalar tensor.
        """
        return self._if_needed(lambda: self._slope(dtype), lambda: tf.zeros([], dtype))

    def _slope(self, dtype):
        terms = [tf.zeros([], dtype)]
        for cell in self._weights:
            gradient = self._loss_gradients.get(cell.handle.ref())
            if gradient is None:
                continue
            moved = self._after[cell.key] - self._before[cell.key]
            if isinstance(gradient, tf.IndexedSlices):
                if cell.indices is None:
                    moved = tf.gather(moved, gradient.indices)
                gradient = gradient.values
            terms.append(tf.reduce_sum(tf.cast(gradient, dtype) * tf.cast(moved, dtype)))
        return tf.add_n(terms)

    def scale_to(self, scale):
        """Returns the op that moves the weights to the given part of the step.

        Args:
          scale: float scalar tensor; 0 is where the weights were, 1 where the optimizer put them.
        """
        return tf.group(
            *(
                cell.write(
                    written_state.part_of_the_way(
                        self._before[cell.key], self._after[cell.key], scale
                    )
                )
                for cell in self._weights
            )
        )

    def undo(self):
        """Returns the op that puts weights and slots back, bit for bit."""
        return tf.group(
            *(cell.write(self._before[cell.key]) for cell in [*self._weights, *self._slots])
        )


def _by_handle(grads_and_vars):
    return {
        graph_walk.handle_of(variable).ref(): gradient
        for gradient, variable in grads_and_vars
        if gradient is not None
    }


def _rows(gradients, loss_gradients):
    """The rows that each sparse gradient touches, by the handle of its variable.

    Not where the gradient of the loss is of other rows: the slope needs them all.
    """
    rows = {}
    for handle, gradient in gradients.items():
        if isinstance(gradient, tf.IndexedSlices):
            indices = getattr(loss_gradients.get(handle, gradient), "indices", None)
            if indices is gradient.indices:
                rows[handle] = indices
    return rows


def _plain_reads(handles):
    """The ops that read variables and wait for nothing: forward passes, of other losses too.

    A step that is searched writes its weights several times. What reads them in the same run is
    let go first, so that it sees the weights as they were.
    """
    graph = tf1.get_default_graph()
    return [
        op
        for handle in handles
        for entry in graph_walk.entry_points(handle, graph)
        for op in entry.consumers()
        if op.type == "ReadVariableOp"
        and not op.control_inputs
        and op.graph is graph
        and graph_walk.control_flow_context(op) is None
    ]
