"""The loop of the line search: smaller and smaller parts of a step, until one is good enough."""

import typing

import tensorflow as tf

from graphtrain.optimize.control_flow import control_flow_v2

tf1 = tf.compat.v1

# Below it a floor of 0 would never be reached by shrinking.
_LEAST_SCALE = 1e-30


class Outcome(typing.NamedTuple):
    """What the trials of one step came to.

    Attributes:
      trials: int32 scalar tensor, how many parts of the step were tried.
      scale: float scalar tensor, the last part tried; 0 if none was.
      loss: float scalar tensor, the loss there.
      accepted: bool scalar tensor, whether the condition accepted it.
    """

    trials: tf.Tensor
    scale: tf.Tensor
    loss: tf.Tensor
    accepted: tf.Tensor


def backtrack(step, replay, *, wanted, first, accepts, next_scale, min_scale, after):
    """Tries smaller and smaller parts of a step, until one is accepted or they reach the floor.

    Args:
      step: the `TakenStep`.
      replay: a function that returns the loss at the present weights, float scalar tensor.
      wanted: bool scalar tensor, whether to try at all.
      first: float scalar tensor, the first scale tried; at 1 the step has put the weights already.
      accepts: a function of the loss at a trial and its scale, float scalar tensors, that returns
        whether it is good enough, bool scalar tensor. A loss that is not finite never is.
      next_scale: a function of (scale, loss) of a rejected trial, and of the one before it, that
        returns the next scale.
      min_scale: float scalar tensor, the least scale tried (but the first trial is always made);
        its dtype is that of scales and losses.
      after: tensors and ops that must be done before the first trial.

    Returns:
      An `Outcome`; if a trial was made, the weights are at its scale.
    """
    dtype = min_scale.dtype
    floor = tf.maximum(min_scale, dtype.as_numpy_dtype(_LEAST_SCALE))

    def goes_on(trials, scale, loss, accepted, upcoming):
        del scale, loss
        return tf.where(trials < 1, wanted, ~accepted & (upcoming >= floor))

    def one_trial(trials, scale, loss, accepted, upcoming):
        del accepted
        in_place = (trials < 1) & tf.equal(upcoming, 1)
        moved = tf1.cond(in_place, tf.no_op, lambda: step.scale_to(upcoming))
        with tf.control_dependencies([moved]):
            new_loss = tf.cast(replay(), dtype)
        good = tf.math.is_finite(new_loss) & accepts(new_loss, upcoming)
        return trials + 1, upcoming, new_loss, good, next_scale((upcoming, new_loss), (scale, loss))

    with tf.control_dependencies(after):
        none = tf.zeros([], dtype)
        start = (tf.constant(0), none, none, tf.constant(False), first)
        start = tuple(tf.identity(tensor) for tensor in start)
    with control_flow_v2(not step.has_ref_variables):
        return Outcome(*tf1.while_loop(goes_on, one_trial, start, parallel_iterations=1)[:4])
