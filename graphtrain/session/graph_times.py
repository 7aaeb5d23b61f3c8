"""How long the graph itself waits for input and searches, added up over the steps."""

import tensorflow as tf

from graphtrain.optimize import graph_walk
from graphtrain.optimize.line_search import SEARCH_SECS
from graphtrain.session import inputs

tf1 = tf.compat.v1

INPUT_WAIT, SEARCH = "input wait", "search"


class GraphTimes:
    """Ops that add up seconds in each step of the default graph.

    Args:
      graph: the default graph, its input and its train op made.

    Attributes:
      op: the op that adds, to be run with each step.
      secs: dict from what is timed to a float64 scalar tensor, the seconds so far.

    Example:
      >>> _ = inputs.features_and_labels(tf.data.Dataset.range(3))
      >>> sorted(GraphTimes(tf1.get_default_graph()).secs)
      ['input wait']
    """

    def __init__(self, graph):
        searches = graph.get_collection(SEARCH_SECS)
        timed = {INPUT_WAIT: _waits(inputs.sources(graph))}
        if searches:
            timed[SEARCH] = tf.add_n(searches)
        self.secs, added = {}, []
        for what, secs in timed.items():
            total = tf1.get_variable(
                f"seconds/{what.replace(' ', '_')}",
                [],
                tf.float64,
                tf1.zeros_initializer(),
                trainable=False,
                collections=[tf1.GraphKeys.LOCAL_VARIABLES],
                use_resource=True,
            )
            added.append(tf1.assign_add(total, secs))
            self.secs[what] = total.read_value()
        self.op = tf.group(*added)


def _waits(sources):
    """The seconds that the ops which bring the input take."""
    waits = [tf.zeros([], tf.float64)]
    for source in sources:
        began = tf.timestamp()
        graph_walk.wait_for(source, [began.op])
        with tf.control_dependencies([source]):
            waits.append(tf.timestamp() - began)
    return tf.add_n(waits)
