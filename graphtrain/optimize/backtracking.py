"""The loop of the line search: smaller and smaller parts of a step, until one is good enough."""

import typing

import tensorflow as tf

from graphtrain.optimize.control_flow import control_flow_v2

tf1 = tf.compat.v1


class Outcome(typing.NamedTuple):
    """What the trials of one step came to.

    Attributes:
      trials: int32 scalar tensor, how many parts of the step were tried.
      scale: float scalar tensor, the last part tried.
      loss: float scalar tensor, the loss there.
      accepted: bool scalar tensor, whether the condition accepted it.
    """

    trials: tf.Tensor
    scale: tf.Tensor
    loss: tf.Tensor
    accepted: tf.Tensor


def backtrack(step, replay, accepts, *, shrink, min_scale, after, dtype):
    """Tries 1, shrink, shrink**2, ... of a step, until one is accepted or below the floor.

    Args:
      step: the `TakenStep`.
      replay: a function that returns the loss at the present weights, float scalar tensor.
      accepts: a function of the loss at a trial and its scale, float scalar tensors, that returns
        whether it is good enough, bool scalar tensor. A loss that is not finite never is.
      shrink: the factor from one trial to the next, in (0, 1).
      min_scale: float scalar, the least scale tried (but the first trial is always made).
      after: tensors and ops that must be done before the first trial.
      dtype: the dtype of scales and losses.

    Returns:
      An `Outcome`; the weights are at its scale.
    """
    min_scale = tf.cast(min_scale, dtype)
    shrink = tf.constant(shrink, dtype)

    def goes_on(trials, scale, loss, accepted):
        del loss
        return (trials < 1) | (~accepted & (scale * shrink >= min_scale))

    def one_trial(trials, scale, loss, accepted):
        del loss, accepted
        first = trials < 1
        scale = tf.where(first, scale, scale * shrink)
        # The optimizer itself has put the weights where the first trial wants them.
        moved = tf.cond(first, tf.no_op, lambda: step.scale_to(scale))
        with tf.control_dependencies([moved]):
            loss = tf.cast(replay(), dtype)
        return trials + 1, scale, loss, tf.math.is_finite(loss) & accepts(loss, scale)

    with tf.control_dependencies(after):
        start = (tf.constant(0), tf.constant(1, dtype), tf.constant(0, dtype), tf.constant(False))
        start = tuple(tf.identity(tensor) for tensor in start)
    with control_flow_v2(not step.has_ref_variables):
        return Outcome(*tf1.while_loop(goes_on, one_trial, start, parallel_iterations=1))
