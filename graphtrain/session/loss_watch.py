"""The loss of each step: remembered, and the end of the run if it is nan, without being fetched."""

import tensorflow as tf

from graphtrain.session_values import session_value

tf1 = tf.compat.v1

_MESSAGE = "graphtrain: the loss of this step is nan"


class LossWatch:
    """Ops of the default graph that look at the loss of each step.

    Args:
      loss: numeric scalar tensor.
      fails: bool, whether a loss that is nan is an error.
      after: list of ops that must be done before it is an error.

    Attributes:
      op: the op that looks at it, to be run with each step.
      last: tensor [n] of the loss's dtype, the loss of the session's last step; n is 0 before the
        first, else 1.

    Example:
      >>> watch = LossWatch(tf.constant(0.5))
      >>> with tf1.Session() as session:
      ...     print(session.run(watch.last), session.run([watch.op, watch.last])[0])
      [] None
    """

    def __init__(self, loss, *, fails=True, after=()):
        memory = session_value("last_loss", loss.dtype)
        remembered = tf.raw_ops.AssignVariableOp(resource=memory, value=loss)
        self.op = tf.group(remembered, _check(loss, after)) if fails else remembered
        with tf1.control_dependencies(None):
            self.last = tf1.cond(
                tf.raw_ops.VarIsInitializedOp(resource=memory),
                lambda: tf.raw_ops.ReadVariableOp(resource=memory, dtype=loss.dtype)[None],
                lambda: tf.zeros([0], loss.dtype),
            )


def _check(loss, after):
    if not loss.dtype.is_floating:
        return tf.no_op()
    with tf.control_dependencies(after):
        return tf.debugging.Assert(~tf.math.is_nan(loss), [_MESSAGE])


def is_of_nan(error):
    """Says whether an error means that a watched loss is nan.

    Args:
      error: `tf.errors.InvalidArgumentError`.
    """
    return _MESSAGE in str(error)
