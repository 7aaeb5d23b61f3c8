"""What the workers of a synchronous training agree on before each step.

A worker whose input has ended, or that was asked to stop, cannot just leave: the others would wait
for its part of the next sum. So before each step the workers add up who wants to stop, and who has
no batch left. If anyone has not, none makes the step, and all end at the same step.
"""

import time

import tensorflow as tf

from graphtrain.distribute import all_reduce
from graphtrain.session_values import session_value

tf1 = tf.compat.v1

_AGREEMENTS = "graphtrain_agreements"
STOPPED, INTERRUPTED, AT_END_OF_DATA = "stopped", "interrupted", "at_end_of_data"
_MESSAGES = {
    INTERRUPTED: "graphtrain: a signal has asked a worker to end",
    STOPPED: "graphtrain: a worker wants to stop",
    AT_END_OF_DATA: "graphtrain: a worker has no batch left",
}
_COUNTING_SECS = 5


class StoppedTogetherError(tf.errors.OutOfRangeError):
    """The workers ended together, before a step.

    Args:
      why: one of `STOPPED`, `INTERRUPTED` and `AT_END_OF_DATA`.
    """

    def __init__(self, why):
        super().__init__(None, None, _MESSAGES[why])
        self.why = why


def stop_meant_by(error):
    """Returns the `StoppedTogetherError` that an error of `session.run` means, or None.

    Args:
      error: the exception.

    Example:
      >>> print(stop_meant_by(tf.errors.InvalidArgumentError(None, None, "a shape is wrong")))
      None
    """
    if not isinstance(error, tf.errors.InvalidArgumentError):
        return None
    found = [why for why, message in _MESSAGES.items() if message in error.message]
    return StoppedTogetherError(found[0]) if found else None


def of_default_graph():
    """Returns the `Agreement` of the default graph, made if it is needed; None if it trains alone.

    Example:
      >>> print(of_default_graph())
      None
    """
    group = all_reduce.of_default_graph()
    if group is None:
        return None
    graph = tf1.get_default_graph()
    if not graph.get_collection(_AGREEMENTS):
        graph.add_to_collection(_AGREEMENTS, Agreement(group))
    return graph.get_collection(_AGREEMENTS)[0]


class Agreement:
    """Ops of the default graph by which the workers stop together.

    Args:
      group: the `WorkerGroup`.

    Attributes:
      go_on: the op that fails on every worker if one of them wants to stop.
      before_step: list of ops, `go_on` and those that fail if one has no batch left. Every sum of a
        step waits for them: one that is under way when another op fails ends all sums for good.
      had_batch_left: bool, whether this worker had when the input of another ended.
    """

    def __init__(self, group):
        self.group = group
        self._inputs = []
        self.had_batch_left = False
        with tf.name_scope("agreement") as scope:
            self.name = scope
            self._wishes = {why: _Flag(why) for why in (INTERRUPTED, STOPPED)}
            own = [tf.cast(wish.value, tf.int32) for wish in self._wishes.values()]
            everyones = tf.unstack(group.sum(tf.stack(own)), num=len(own))
            checks = []
            for why, wishes in zip(self._wishes, everyones, strict=True):
                # One after the other: a signal is told of first.
                with tf.control_dependencies(checks):
                    checks = [tf.debugging.Assert(tf.equal(wishes, 0), [_MESSAGES[why]])]
            self.go_on = checks[0]
            self.before_step = [self.go_on]

    def next_batch(self, iterator):
        """Returns the next element of an iterator, if every worker has one.

        Args:
          iterator: an initializable iterator.
        """
        with tf.name_scope("agreement/"):
            with tf.control_dependencies([self.go_on]):
                batch = iterator.get_next_as_optional()
                has_batch = batch.has_value()
                missing = self.group.sum(tf.cast(~has_batch, tf.int32))
            had_batch = _Flag("had_batch")
            with tf.control_dependencies([had_batch.set_to(has_batch)]):
                all_have = tf.debugging.Assert(tf.equal(missing, 0), [_MESSAGES[AT_END_OF_DATA]])
            one_more = iterator.get_next_as_optional().has_value()
            self._inputs.append((had_batch, one_more))
            self.before_step.append(all_have)
            with tf.control_dependencies([all_have]):
                return batch.get_value()

    def wish_to_stop(self, session, *, interrupted):
        """Makes all workers stop before the next step.

        Args:
          session: `tf.compat.v1.Session`.
          interrupted: bool, whether a signal is the cause, so that the training is not at its end.
        """
        session.run(self._wishes[INTERRUPTED if interrupted else STOPPED].set)

    def skip_ahead(self, session, steps):
        """Takes the input of so many steps and drops it.

        Args:
          session: `tf.compat.v1.Session`, whose iterators are initialized.
          steps: int.
        """
        for _ in range(steps):
            session.run([one_more for _, one_more in self._inputs])

    def report_surplus(self, session, *, clock=time.monotonic):
        """Logs how many batches this worker has left, once the input of another has ended.

        Args:
          session: `tf.compat.v1.Session`.
          clock: function that gives the time in seconds: a long rest is not counted to its end.
        """
        for had_batch, one_more in self._inputs:
            if not session.run(had_batch.value):
                continue
            self.had_batch_left = True
            left, until = 1, clock() + _COUNTING_SECS
            while clock() < until and session.run(one_more):
                left += 1
            at_least = "at least " if clock() >= until else ""
            tf1.logging.warning(
                "the input of another worker has ended: %s%d batches of worker %d were not used; "
                "give the workers shards of one length, or let each repeat its shard",
                at_least,
                left,
                self.group.index,
            )


class _Flag:
    """A bool that is false in a new session."""

    def __init__(self, name):
        handle = self._handle = session_value(name, tf.bool)
        with tf.control_dependencies(None):
            self.value = tf1.cond(
                tf.raw_ops.VarIsInitializedOp(resource=handle),
                lambda: tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.bool),
                lambda: tf.constant(False),
            )
            self.set = self.set_to(True)

    def set_to(self, value):
        """Returns the op that sets it."""
        return tf.raw_ops.AssignVariableOp(resource=self._handle, value=tf.convert_to_tensor(value))
