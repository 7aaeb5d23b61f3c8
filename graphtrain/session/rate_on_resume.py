"""What the learning rate does when a run is resumed: go on, begin anew, or give way to another."""

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.optimize.rate_scale import SCALE
from graphtrain.optimize.rate_step import ORIGIN
from graphtrain.session.safety import OVERRIDE, RESTART

tf1 = tf.compat.v1


class RateOnResume:
    """Sets what checkpoints hold of the learning rate; it adds ops to the default graph.

    Args:
      policy: "keep", "restart" or "override"; see `SafetyConfig`.

    Raises:
      UsageError: the schedule is to restart, and the graph's cannot.
    """

    def __init__(self, policy):
        graph = tf1.get_default_graph()
        self._policy = policy
        self._has_origin, self._has_scale = ORIGIN.is_used(graph), SCALE.is_used(graph)
        if policy == RESTART:
            if not self._has_origin:
                raise UsageError(
                    "learning_rate_on_resume='restart' needs a learning rate that is a function "
                    "of graphtrain.learning_rate_step(); this graph's is not."
                )
            ORIGIN.assignment()
        if policy == OVERRIDE and self._has_scale:
            SCALE.assignment()

    def apply(self, session, step):
        """Sets the values in a session that was restored from what an earlier run has saved.

        Args:
          session: `tf.compat.v1.Session`.
          step: int, the restored global step.
        """
        if self._policy == RESTART:
            _set(session, ORIGIN, step)
            tf1.logging.info("the learning rate's schedule restarts at step %d", step)
        elif self._policy == OVERRIDE:
            if self._has_scale:
                _set(session, SCALE, 1.0)
            tf1.logging.info(
                "the learning rate at step %d is what it is set to now, whatever the run had", step
            )
        elif self._has_origin:
            origin = int(session.run(ORIGIN.variable()))
            tf1.logging.info("the learning rate goes on at step %d of its schedule", step - origin)


def origin_of(path):
    """Returns the global step at which the learning rate's schedule of a checkpoint began.

    Args:
      path: str, the checkpoint's path without extension.

    Returns:
      int; 0 if the checkpoint does not say.
    """
    reader = tf.train.load_checkpoint(path)
    name = ORIGIN.name
    return int(reader.get_tensor(name)) if reader.has_tensor(name) else 0


def _set(session, scalar, value):
    assign, placeholder = scalar.assignment()
    session.run(assign, {placeholder: value})
