"""A training step that undoes itself if it leaves numbers that are not finite."""

import sys

import tensorflow as tf

from graphtrain.optimize import graph_walk, written_state
from graphtrain.session_values import is_session_value

tf1 = tf.compat.v1

_GIVE_UP = "steps in a row were not finite: the last one, "


def skip_if_not_finite(train_op, loss, step, *, most_in_a_row):
    """Returns the op of a step that leaves no trace but in the global step, if it goes wrong.

    All that it writes is copied first, so a step takes more time and memory.

    Args:
      train_op: op of the default graph, one training step.
      loss: float scalar tensor of it.
      step: the global step variable.
      most_in_a_row: int, so many steps that go wrong one after another are an error.

    Returns:
      The op.

    Raises:
      UsageError: the step writes to something other than variables.

    Example:
      >>> step = tf1.train.get_or_create_global_step()
      >>> w = tf1.get_variable("w", initializer=1.0)
      >>> loss = tf.math.log(w - tf.cast(step, tf.float32))
      >>> train_op = tf1.train.GradientDescentOptimizer(0.0).minimize(loss, step)
      >>> guarded = skip_if_not_finite(train_op, loss, step, most_in_a_row=9)
    """
    names = graph_walk.ancestors([train_op])
    ops = [op for op in train_op.graph.get_operations() if op.name in names]
    step_handle = graph_walk.handle_of(step)
    cells = [
        cell
        for cell in written_state.cells_written(_writers_of_variables(ops))
        if cell.handle is not step_handle and not is_session_value(cell.handle)
    ]
    with tf.name_scope("skip_step"):
        old = [cell.read() for cell in cells]
        copied = tf.group(*old)
        for op in ops:
            if _begins_with_state(op):
                graph_walk.wait_for(op, [copied])
        with tf.control_dependencies([train_op]):
            new = [cell.read() for cell in cells]
            named = [("the loss", tf.identity(loss))]
            named += [
                (cell.handle.op.name, value)
                for cell, value in zip(cells, new, strict=True)
                if value.dtype.is_floating
            ]
            bad = tf.stack([tf.reduce_any(~tf.math.is_finite(value)) for _, value in named])
            good = ~tf.reduce_any(bad)
            kept = [
                cell.write(tf.where(good, *values))
                for cell, *values in zip(cells, new, old, strict=True)
            ]
            first_bad = tf.gather([name for name, _ in named], tf.argmax(tf.cast(bad, tf.int32)))
            told = _tell(good, step, first_bad, most_in_a_row)
        return tf.group(*kept, told)


def gave_up(error):
    """Says whether an error means that too many steps in a row went wrong.

    Args:
      error: an exception.
    """
    return isinstance(error, tf.errors.InvalidArgumentError) and _GIVE_UP in str(error)


def _tell(good, step, first_bad, most_in_a_row):
    # It need not be saved: a resumed run counts anew.
    in_a_row = tf1.get_variable(
        "skipped_in_a_row",
        [],
        tf.int32,
        tf1.zeros_initializer(),
        trainable=False,
        use_resource=True,
        collections=[tf1.GraphKeys.LOCAL_VARIABLES],
    )
    count = tf1.assign(in_a_row, tf.where(good, 0, in_a_row.read_value() + 1))
    few = tf.debugging.Assert(count < most_in_a_row, [most_in_a_row, _GIVE_UP, first_bad])
    number = tf.strings.as_string(step.read_value())
    line = tf.strings.join(
        ["the step to ", number, " was skipped: ", first_bad, " is not finite\n"]
    )
    shown = tf.print(tf.where(good, "", line), end="", output_stream=sys.stderr)
    return tf.group(few, shown)


def _writers_of_variables(ops):
    writers = written_state.writers(ops)
    return [op for op in writers if any(_is_variable(t) for t in op.inputs)]


def _is_variable(tensor):
    if not graph_walk.is_handle(tensor):
        return False
    return graph_walk.is_ref(tensor) or graph_walk.root_handle(tensor).op.type == "VarHandleOp"


def _begins_with_state(op):
    return op.type in ("Enter", "RefEnter") or any(graph_walk.is_handle(t) for t in op.inputs)
