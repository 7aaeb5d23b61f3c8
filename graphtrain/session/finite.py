"""Whether all variables are finite, asked before they are saved."""

import tensorflow as tf

from graphtrain.optimize import graph_walk

tf1 = tf.compat.v1

_CHECKS = "graphtrain_finite_checks"


class NotFiniteError(tf1.train.NanLossDuringTrainingError):
    """Variables of the graph hold numbers that are not finite.

    Args:
      step: int, the global step at which this was found.
      names: list of str, the variables.
    """

    def __init__(self, step, names):
        super().__init__()
        self.step = step
        self.names = names

    def __str__(self):
        more = f" and {len(self.names) - 1} more variables" if len(self.names) > 1 else ""
        return (
            f"At step {self.step} {self.names[0]}{more} held numbers that are not finite: they "
            "were not saved. A smaller learning rate or clipped gradients may help."
        )


def check_of_default_graph():
    """Returns the `FiniteCheck` of the default graph's variables, made if there is none."""
    graph = tf1.get_default_graph()
    made = graph.get_collection(_CHECKS)
    if not made:
        made = [FiniteCheck(_checked_variables(graph))]
        graph.add_to_collection(_CHECKS, made[0])
    return made[0]


class FiniteCheck:
    """Finds variables that are not finite.

    A variable that is not trainable may be infinite: the best loss so far begins so.

    Args:
      variables: list of variables of the default graph, of float dtypes.
    """

    def __init__(self, variables):
        self._names = [variable.op.name for variable in variables]
        trainable = {graph_walk.handle_of(v).ref() for v in tf1.trainable_variables()}
        with tf.name_scope("not_finite"):
            found = [tf.zeros([], tf.bool)]
            for variable in variables:
                with tf1.device(variable.device):
                    is_bad = tf.math.is_nan(variable)
                    if graph_walk.handle_of(variable).ref() in trainable:
                        is_bad = ~tf.math.is_finite(variable)
                    found.append(tf.reduce_any(is_bad))
            self._found = tf.stack(found)[1:]

    @property
    def name(self):
        """A name in the graph: by it TensorFlow writes the collection into a MetaGraph."""
        return self._found.name

    def run(self, session, step):
        """Raises an error if a variable is not finite.

        Args:
          session: `tf.compat.v1.Session`.
          step: int, the global step, for the message.

        Raises:
          NotFiniteError: a variable is not.
        """
        found = session.run(self._found)
        names = [name for name, bad in zip(self._names, found, strict=True) if bad]
        if names:
            raise NotFiniteError(step, names)


def _checked_variables(graph):
    variables = graph.get_collection(tf1.GraphKeys.GLOBAL_VARIABLES)
    return [variable for variable in variables if variable.dtype.base_dtype.is_floating]
