"""Sessions of the workers of a synchronous training: they begin alike, and end together."""

import functools

import tensorflow as tf

from graphtrain.distribute import agreement
from graphtrain.optimize import graph_walk
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
      agreed: the `Agreement` of the default graph.
      place_input: function of a session that moves the input to where the chief's step is, or
        None for a chief, whose creator has done so.
    """

    def __init__(self, creator, agreed, *, place_input=None):
        self._creator = creator
        self._agreement = agreed
        self._place_input = place_input
        self._stall_watch = None
        with tf.name_scope("from_chief"):
            self._take_over = _variables_from_chief(agreed.group)

    def create_session(self):
        """Returns a new session."""
        session = self._creator.create_session()
        if self._stall_watch is not None:
            self._stall_watch.stop()
        self._stall_watch = lost_worker.StallWatch(session, self._agreement.group)
        self._stall_watch.start()
        self._watch(session)
        session.run(self._take_over)
        if self._place_input is not None:
            self._place_input(session)
        return session

    def _watch(self, session):
        run, stall_watch = session.run, self._stall_watch
        steps = _Steps(session.graph, [self._agreement.go_on, self._take_over])

        @functools.wraps(run)
        def explained_run(fetches, *args, **kwargs):
            # What is no step needs no other worker, such as the chief's last save.
            if not steps.include(fetches):
                return run(fetches, *args, **kwargs)
            try:
                with stall_watch.step():
                    return run(fetches, *args, **kwargs)
            except tf.errors.OpError as error:
                meant = agreement.stop_meant_by(error)
                meant = meant or lost_worker.error_meant_by(error, self._agreement.group)
                if meant is None:
                    raise
                raise meant from error

        session.run = explained_run


class _Steps:
    """Tells the runs that other workers take part in.

    Args:
      graph: `tf.Graph`.
      marks: ops, one of which is part of every such run.
    """

    def __init__(self, graph, marks):
        self._graph = graph
        self._marks = {op.name for op in marks}
        self._known = {}

    def include(self, fetches):
        """Says whether fetches, as for `tf.compat.v1.Session.run`, are of such a run."""
        try:
            ops = {_op_of(self._graph.as_graph_element(fetch)) for fetch in _flat(fetches)}
        except (KeyError, TypeError, ValueError):
            return False  # It cannot be run, as the session is about to say.
        names = frozenset(op.name for op in ops)
        if names not in self._known:
            self._known[names] = bool(self._marks & graph_walk.ancestors(ops))
        return self._known[names]


def _flat(fetches):
    if isinstance(fetches, dict):
        fetches = list(fetches.values())
    if isinstance(fetches, (list, tuple)):
        return [part for fetch in fetches for part in _flat(fetch)]
    return tf.nest.flatten(fetches, expand_composites=True)


def _op_of(element):
    return getattr(element, "op", element)


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
