"""A factor of the learning rate that is saved: what changes the rate while a run goes on."""

import tensorflow as tf

from graphtrain.optimize import search_state

tf1 = tf.compat.v1

_COLLECTION = "graphtrain_learning_rate_scale"
_ASSIGNMENT = "graphtrain_learning_rate_scale_assignment"


def learning_rate_scale():
    """Returns the factor by which the learning rate of the default graph is multiplied.

    It is 1 until `graphtrain.hooks.PlateauHook`, or a roll-back after numbers that are not finite,
    makes it smaller; a resumed run goes on with it. The rates of our models are multiplied by it,
    in a graph of your own you do that.

    Returns:
      Float32 scalar variable `learning_rate_scale`, made if there is none.

    Example:
      >>> step = tf1.train.get_or_create_global_step()
      >>> rate = tf1.train.exponential_decay(0.1, step, 100, 0.5) * learning_rate_scale()
      >>> learning_rate_scale() is learning_rate_scale()
      True
    """
    graph = tf1.get_default_graph()
    made = graph.get_collection(_COLLECTION)
    if made:
        return made[0]
    # At the root, so that it has one name whatever scope it is asked for in.
    with tf.init_scope(), tf1.variable_scope(tf1.VariableScope(reuse=False)):
        variable = tf1.get_variable(
            "learning_rate_scale", [], tf.float32, tf1.ones_initializer(), trainable=False
        )
    graph.add_to_collection(_COLLECTION, variable)
    # A run whose checkpoints lack it goes on with 1.
    graph.add_to_collection(search_state.COLLECTION, variable)
    return variable


def assignment():
    """Returns the op that sets the default graph's factor, made once, and what it is fed with.

    Returns:
      (operation, float32 scalar placeholder).
    """
    graph = tf1.get_default_graph()
    made = graph.get_collection(_ASSIGNMENT)
    if not made:
        value = tf1.placeholder(tf.float32, [], "learning_rate_scale_value")
        made = [tf1.assign(learning_rate_scale(), value).op, value]
        for element in made:
            graph.add_to_collection(_ASSIGNMENT, element)
    return tuple(made)


def is_used(graph):
    """Says whether the learning rate of `graph` has such a factor."""
    return bool(graph.get_collection(_COLLECTION))
