"""A number of a run that is saved with it: one variable of a graph, made where it is asked for."""

import tensorflow as tf

from graphtrain.optimize import search_state

tf1 = tf.compat.v1


class SavedScalar:
    """A number that checkpoints hold. A run whose checkpoints lack it goes on with the first value.

    Args:
      name: str, the variable's name.
      dtype: its `tf.DType`.
      first_value: a number.

    Example:
      >>> seen = SavedScalar("seen", tf.int64, 0)
      >>> seen.is_used(tf1.get_default_graph())
      False
      >>> seen.variable() is seen.variable()
      True
    """

    def __init__(self, name, dtype, first_value):
        self.name = name
        self._dtype, self._first_value = dtype, first_value
        self._collection = f"graphtrain_{name}"
        self._assignment = f"graphtrain_{name}_assignment"

    def variable(self):
        """Returns the default graph's variable, made if there is none."""
        graph = tf1.get_default_graph()
        made = graph.get_collection(self._collection)
        if made:
            return made[0]
        first_value = tf1.constant_initializer(self._first_value)
        # At the root, so that it has one name whatever scope it is asked for in.
        with tf.init_scope(), tf1.variable_scope(tf1.VariableScope(reuse=False)):
            variable = tf1.get_variable(self.name, [], self._dtype, first_value, trainable=False)
        graph.add_to_collection(self._collection, variable)
        graph.add_to_collection(search_state.COLLECTION, variable)
        return variable

    def assignment(self):
        """Returns the op that sets the default graph's number, and the placeholder it takes."""
        graph = tf1.get_default_graph()
        made = graph.get_collection(self._assignment)
        if not made:
            value = tf1.placeholder(self._dtype, [], f"{self.name}_value")
            made = [tf1.assign(self.variable(), value).op, value]
            for element in made:
                graph.add_to_collection(self._assignment, element)
        return tuple(made)

    def is_used(self, graph):
        """Says whether `graph` has the variable."""
        return bool(graph.get_collection(self._collection))
