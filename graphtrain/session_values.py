"""Scalars that every new session begins without.

They need no initializer, so a graph can be given one after its initializers were made, and no
checkpoint holds them. A session in a process of its own begins without any; on a server, which
keeps what earlier sessions left, they have to be forgotten.
"""

import tensorflow as tf

tf1 = tf.compat.v1

_FORGET = "graphtrain_forget_session_values"


def session_value(name, dtype):
    """Returns the handle of a new scalar of the default graph.

    Args:
      name: str, made unique in the graph.
      dtype: its dtype.

    Returns:
      Resource tensor, for `tf.raw_ops.AssignVariableOp` and its like.

    Example:
      >>> handle = session_value("seen", tf.bool)
      >>> with tf1.Session() as session:
      ...     bool(session.run(tf.raw_ops.VarIsInitializedOp(resource=handle)))
      False
    """
    graph = tf1.get_default_graph()
    name = graph.unique_name(name, mark_as_used=False)
    handle = tf.raw_ops.VarHandleOp(dtype=dtype, shape=[], shared_name=name, name=name)
    with tf.control_dependencies(None):
        forget = tf.raw_ops.DestroyResourceOp(resource=handle, ignore_lookup_error=True)
    graph.add_to_collection(_FORGET, forget)
    return handle


def is_session_value(handle):
    """Says whether a handle is one that `session_value` has made.

    Args:
      handle: resource tensor, or the reference of a ref variable.
    """
    return any(forget.inputs[0] is handle for forget in handle.graph.get_collection(_FORGET))


def forget(session):
    """Makes a new session begin without the values of earlier ones.

    Args:
      session: `tf.compat.v1.Session`.
    """
    session.run(session.graph.get_collection(_FORGET))
