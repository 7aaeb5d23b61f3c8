"""Update ops, such as those of batch norm's averages, run with each step though nobody asked."""

import tensorflow as tf

from graphtrain.distribute import all_reduce
from graphtrain.optimize import graph_walk, wrapper

tf1 = tf.compat.v1

_AVERAGES = ("moving_mean", "moving_variance")
_CALLS = ("PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "While")


def with_update_ops(train_op):
    """Returns `train_op` joined by the `UPDATE_OPS` that it does not run already.

    An op runs once in a `session.run`, so that those which it does run are left alone.

    Args:
      train_op: op or tensor of the default graph.

    Returns:
      An op or tensor.

    Example:
      >>> mean = tf1.get_variable("moving_mean", initializer=0.0, trainable=False)
      >>> tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, tf1.assign(mean, 2.0))
      >>> train_op = with_update_ops(tf.no_op())
      >>> with graphtrain.MonitoredTrainingSession() as session:
      ...     session.run(train_op)
      ...     float(session.run(mean))
      2.0
    """
    awaited = graph_walk.ancestors([_op(train_op)])
    updates = tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)
    missing = [update for update in updates if _op(update).name not in awaited]
    return tf.group(train_op, *missing) if missing else train_op


def with_averages_over_workers(train_op):
    """Returns `train_op`, after which what the update ops wrote is the mean over the workers.

    Each worker of a synchronous training sees batches of its own, so its averages would be others
    than the chief's, which are saved. In a graph that trains alone nothing is added.

    Args:
      train_op: op or tensor of the default graph, joined by the update ops.

    Returns:
      An op or tensor.

    Example:
      >>> train_op = tf.no_op()
      >>> with_averages_over_workers(train_op) is train_op
      True
    """
    group = all_reduce.of_default_graph()
    updates = [_op(update) for update in tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)]
    if group is None or not updates:
        return train_op
    written = set().union(*(_written_by(update) for update in updates))
    averages = [
        variable
        for variable in tf1.global_variables()
        if variable.op.name in written
        and variable.dtype.is_floating
        and variable not in tf1.trainable_variables()
    ]
    with tf.control_dependencies([_op(train_op)]):
        means = group.means([wrapper.read_now(variable) for variable in averages])
        return tf.group(
            *(tf1.assign(variable, mean) for variable, mean in zip(averages, means, strict=True))
        )


def warn_of_averages_that_stand_still(train_op):
    """Warns of batch norm averages that `train_op` does not update.

    Evaluation would use their initial values. Keras 3 layers in a graph are such a case: they
    tell nobody of their updates.

    Args:
      train_op: op or tensor of the default graph.
    """
    written = _written_by(_op(train_op))
    still = [
        variable.op.name
        for variable in tf1.global_variables()
        if variable.op.name.split("/")[-1] in _AVERAGES and variable.op.name not in written
    ]
    if still:
        tf1.logging.warning(
            "no step of the training updates %s: evaluation and prediction will use the initial "
            "values. Use a batch norm that fills tf.compat.v1.GraphKeys.UPDATE_OPS in training, "
            "such as graphtrain.models.layers.batch_norm; Keras 3 layers do not.",
            ", ".join(still),
        )


def _written_by(train_op):
    graph = tf1.get_default_graph()
    return {
        graph_walk.root_handle(tensor).op.name
        for name in graph_walk.ancestors([train_op])
        for tensor in _handles_written(graph.get_operation_by_name(name))
    }


def _handles_written(op):
    if op.type.startswith("Assign") or op.type in _CALLS or graph_walk.writes_by_ref(op):
        return [tensor for tensor in op.inputs if graph_walk.is_handle(tensor)]
    return []


def _op(op_or_tensor):
    return getattr(op_or_tensor, "op", op_or_tensor)
