"""A check, at the first step, that the loss evaluated again is the loss."""

import tensorflow as tf

from graphtrain.optimize.control_flow import control_flow_v2
from graphtrain.session_values import session_value

tf1 = tf.compat.v1

# What kernels that are fused in one place and not in the other may differ by.
_TOLERANCE = {tf.float64: 1e-9, tf.float32: 1e-3, tf.float16: 5e-2, tf.bfloat16: 5e-2}

_MESSAGE = (
    "LineSearchOptimizer's self-test: with the same weights and the same batch, the loss evaluated "
    "again differs from the loss, so a search would compare what cannot be compared. Something "
    "between the variables and the loss gives another value the second time: a py_func that keeps "
    "state or draws random numbers, or an op that reads what another op of the same step writes. "
    "Take it out of the loss, or pass self_test=False if the difference is wanted. The loss and "
    "the loss evaluated again are"
)


def self_test(replay, loss, *, has_ref_variables):
    """Returns an op that, the first time it runs in a session, checks the replayed loss.

    Args:
      replay: the `Replay` of the loss.
      loss: float scalar tensor, the loss.
      has_ref_variables: whether the loss reads ref variables.
    """
    with tf.init_scope():
        # Says by being there that the test was made.
        tested = session_value("line_search_tested", tf.bool)
    was_tested = tf.raw_ops.VarIsInitializedOp(resource=tested)

    def test():
        again = replay()
        allowed = _TOLERANCE[loss.dtype] * tf.maximum(tf.abs(loss), tf.cast(1e-3, loss.dtype))
        equal = tf.debugging.Assert(tf.abs(again - loss) <= allowed, [_MESSAGE, loss, again])
        with tf.control_dependencies([equal]):
            return tf.group(tf.raw_ops.AssignVariableOp(resource=tested, value=tf.constant(True)))

    with control_flow_v2(not has_ref_variables):
        return tf1.cond(was_tested | ~tf.math.is_finite(loss), tf.no_op, test)
