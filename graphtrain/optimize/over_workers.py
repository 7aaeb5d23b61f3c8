"""Losses and gradients as their means over the workers of a synchronous training.

The mean over the workers of a loss that is a mean over a worker's batch is the loss of all their
batches together, if these are of one size; so N workers with batches of B / N make the steps of one
process with batches of B. In a graph that trains alone everything here is as it was.
"""

import typing

import tensorflow as tf

from graphtrain.distribute import agreement, all_reduce

tf1 = tf.compat.v1

_LOSSES = "graphtrain_losses_over_workers"
_GRADIENTS = "graphtrain_gradients_over_workers"


class _Pair(typing.NamedTuple):
    """A worker's own loss, and the mean of all workers'."""

    own: tf.Tensor
    mean: tf.Tensor

    @property
    def name(self):
        """A name in the graph: by it TensorFlow writes the collection into a MetaGraph."""
        return self.own.name


def gradients_over_workers(grads_and_vars, loss=None):
    """Returns the (gradient, variable) pairs with the means of the gradients over the workers.

    Gradients that are such means already, clipped since perhaps, stay as they are. Of a sparse
    gradient (`IndexedSlices`) only the rows are sent that a worker has.

    Args:
      grads_and_vars: list of (gradient or None, variable).
      loss: float tensor whose mean is computed in the same collective, for `loss_over_workers`.
    """
    group = all_reduce.of_default_graph()
    grads_and_vars = list(grads_and_vars)
    gradients = [gradient for gradient, _ in grads_and_vars if gradient is not None]
    if group is None or not gradients or _are_means(gradients):
        return grads_and_vars
    dense = [gradient for gradient in gradients if not _is_sparse(gradient)]
    sparse = [gradient for gradient in gradients if _is_sparse(gradient)]
    graph = tf1.get_default_graph()
    with tf.name_scope("over_workers"):
        with tf.control_dependencies(agreement.of_default_graph().before_step):
            means = iter(group.means(dense if loss is None else [loss, *dense]))
            rows = iter(group.means_of_rows(sparse))
        if loss is not None:
            graph.add_to_collection(_LOSSES, _Pair(loss, next(means)))
    pairs = [
        (gradient if gradient is None else next(rows if _is_sparse(gradient) else means), variable)
        for gradient, variable in grads_and_vars
    ]
    for gradient, _ in pairs:
        for tensor in tf.nest.flatten(gradient, expand_composites=True):
            if tensor is not None:
                graph.add_to_collection(_GRADIENTS, tensor)
    return pairs


def loss_over_workers(loss):
    """Returns the mean of a loss over the workers; the loss itself in a graph that trains alone.

    Args:
      loss: float tensor of the default graph.
    """
    group = all_reduce.of_default_graph()
    if group is None:
        return loss
    graph = tf1.get_default_graph()
    for own, mean in graph.get_collection(_LOSSES):
        if own is loss:
            return mean
    with tf.name_scope("over_workers"):
        with tf.control_dependencies(agreement.of_default_graph().before_step):
            pair = _Pair(loss, group.mean(loss))
    graph.add_to_collection(_LOSSES, pair)
    return pair.mean


def value_over_workers(value):
    """Returns the mean over the workers of a value computed in a step, loops included.

    Args:
      value: float tensor; itself in a graph that trains alone.
    """
    group = all_reduce.of_default_graph()
    return value if group is None else group.mean(value)


def averages_gradients(graph):
    """Says whether any gradient of `graph` is a mean over the workers."""
    return bool(graph.get_collection(_GRADIENTS))


def _is_sparse(gradient):
    return isinstance(gradient, tf.IndexedSlices)


def _are_means(gradients):
    means = {tensor.op.name for tensor in tf1.get_default_graph().get_collection(_GRADIENTS)}
    if not means:
        return False
    parts = [gradient.values if _is_sparse(gradient) else gradient for gradient in gradients]
    return all(_comes_from(part.op, means) for part in parts)


def _comes_from(op, names):
    """Says whether an op computes with what one of the named ops has computed."""
    seen, stack = set(), [op]
    while stack:
        op = stack.pop()
        if op.name in names:
            return True
        if op.name not in seen:
            seen.add(op.name)
            stack.extend(tensor.op for tensor in op.inputs)
    return False
