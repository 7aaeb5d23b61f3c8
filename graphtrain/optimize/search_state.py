"""What the line search remembers from step to step, in variables that checkpoints hold."""

import tensorflow as tf

tf1 = tf.compat.v1

# By this collection a checkpoint of a run without the search can be told from one that lacks
# something it should have.
COLLECTION = "graphtrain_search_state"


class SearchState:
    """Variables of the search, one a number.

    Args:
      initial: dict from name to first value; the variables are `<scope>/<name>`.
      dtype: their dtype.
      scope: the name of their variable scope, made unique.

    Attributes:
      variables: dict from name to variable.
    """

    def __init__(self, initial, *, dtype, scope):
        self.variables = {}
        if not initial:
            return
        # Also where the step is built inside a loop or a conditional, they belong outside.
        with tf.init_scope(), tf1.variable_scope(None, default_name=scope):
            for name, value in initial.items():
                self.variables[name] = tf1.get_variable(
                    name,
                    [],
                    dtype,
                    tf1.constant_initializer(value),
                    trainable=False,
                    # What is read from a ref variable would change when it is written.
                    use_resource=True,
                )
                tf1.add_to_collection(COLLECTION, self.variables[name])

    def read(self):
        """Returns a dict from name to value, float scalar tensors."""
        return {name: variable.read_value() for name, variable in self.variables.items()}

    def write(self, values):
        """Returns the op that writes a dict of values; what is not in it stays."""
        return tf.group(
            *(
                tf1.assign(variable, values[name])
                for name, variable in self.variables.items()
                if name in values
            )
        )
