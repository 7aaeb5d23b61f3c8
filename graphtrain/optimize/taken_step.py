"""The step that an optimizer took: known, scaled, undone."""

import tensorflow as tf

from graphtrain.optimize import graph_walk, written_state

tf1 = tf.compat.v1


class TakenStep:
    """Builds an optimizer's step so that it can be scaled or undone afterwards.

    The optimizer is applied once, so its slots move once. Whatever it writes is copied before.

    Args:
      optimizer: a `tf.compat.v1.train.Optimizer`.
      grads_and_vars: list of (gradient, variable) for its `apply_gradients`.
      after: tensors and ops that must be done before anything is written.
      name: passed on to `apply_gradients`.

    Attributes:
      op: the op that takes the whole step.
    """

    def __init__(self, optimizer, grads_and_vars, *, after, name=None):
        graph = tf1.get_default_graph()
        count = len(graph.get_operations())
        self.op = tf.group(optimizer.apply_gradients(grads_and_vars, name=name))
        built = graph.get_operations()[count:]
        ran = graph_walk.ancestors([self.op], within={op.name for op in built})
        writers = written_state.writers([op for op in built if op.name in ran])
        cells = written_state.cells_written(writers)
        self._before = {cell.key: cell.read() for cell in cells}
        with tf.control_dependencies([*after, *self._before.values()]):
            all_read = tf.no_op()
        for writer in writers:
            graph_walk.wait_for(writer, [all_read])
        weights = {graph_walk.handle_of(v).ref() for _, v in grads_and_vars}
        self._weights = [cell for cell in cells if cell.handle.ref() in weights]
        self._slots = [cell for cell in cells if cell.handle.ref() not in weights]
        with tf.control_dependencies([self.op]):
            self._after = {cell.key: cell.read() for cell in self._weights}

    @property
    def has_ref_variables(self):
        """Whether a ref variable is written, which only a v1 loop can do."""
        return any(cell.is_ref for cell in [*self._weights, *self._slots])

    @property
    def whole(self):
        """The tensors that are there once the whole step has been taken."""
        return list(self._after.values())

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
