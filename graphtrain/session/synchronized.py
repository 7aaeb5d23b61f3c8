"""Sessions of the workers of a synchronous training: they begin alike, and end together."""

import functools

import tensorflow as tf

from graphtrain.session import lost_worker

tf1 = tf.compat.v1

# TensorFlow's collectives send these; others are sent as one of them.
_SENT_AS = {tf.bfloat16: tf.float32, tf.float16: tf.float32, tf.bool: tf.int32}
_SENT_AS |= dict.fromkeys((tf.int8, tf.int16, tf.uint8, tf.uint16), tf.int32)
_SENT = (tf.float32, tf.float64, tf.int32, tf.int64)


class SynchronizedSessionCreator(tf1.train.SessionCreator):
    """Creates sessions that begin with the chief's variables.

    It adds ops to the default graph, so it is made when all variables have been.

    Args:
      creator: the session creator that initializes, or restores, the variables of this worker.
      agreement: the `Agreement` of the default graph.
      place_input: function of a session that moves the input to where the chief's step is, or
        None for a chief, whose creator has done so.
    """

    def __init__(self, creator, agreement, *, place_input=None):
        self._creator = creator
        self._agreement = agreement
        self._place_input = place_input
        with tf.name_scope("from_chief"):
            self._take_over = _variables_from_chief(agreement.group)

    def create_session(self):
        """Returns a new session."""
        session = self._creator.create_session()
        self._watch(session)
        session.run(self._take_over)
        if self._place_input is not None:
            self._place_input(session)
        return session

    def _watch(self, session):
        run = session.run
        stall_watch = lost_worker.StallWatch(session, self._agreement.group)

        @functools.wraps(run)
        def explained_run(*args, **kwargs):
            try:
                with stall_watch.step():
                    return run(*args, **kwargs)
            except tf.errors.OpError as error:
                meant = self._agreement.as_stop(error)
                meant = meant or lost_worker.error_meant_by(error, self._agreement.group)
                if meant is None:
                    raise
                raise meant from error

        session.run = explained_run


def _variables_from_chief(group):
    assigned = []
    for variable in tf1.global_variables():
        dtype = variable.dtype.base_dtype
        sent_as = _SENT_AS.get(dtype, dtype)
        if sent_as not in _SENT or not variable.shape.is_fully_defined():
            tf1.logging.info(
                "the variable %s, of %s and shape %s, is not sent to other workers: each "
                "initializes its own",
                variable.name,
                dtype.name,
                variable.shape,
            )
            continue
        value = group.from_chief(tf.cast(variable.read_value(), sent_as))
        assigned.append(tf1.assign(variable, tf.cast(value, dtype)))
    return tf.group(*assigned)
