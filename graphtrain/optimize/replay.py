"""The loss of a batch, evaluated again with the variables as they are now.

A tensor that is already in the graph is computed once in a `session.run`, whatever happens to the
variables meanwhile. `Replay` copies the part of the graph between the variables and the loss, and
gives the copy whatever else that part used: the batch, random draws, the values of other variables.
"""

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.optimize import graph_walk
from graphtrain.optimize.graph_copy import graph_def_of
from graphtrain.optimize.replay_plan import ReplayPlan

tf1 = tf.compat.v1

_REF_TYPES = {"RefEnter": "Enter", "RefSwitch": "Switch", "RefMerge": "Merge"}
_REF_TYPES |= {"RefIdentity": "Identity", "RefExit": "Exit", "RefNextIteration": "NextIteration"}
# A trial whose loss is not finite is rejected by the search; it must not end the run.
_BECOMES_IDENTITY = frozenset({"CheckNumerics", "CheckNumericsV2", "Print"})


class Replay:
    """Evaluates a loss again, on the same batch and the same random draws.

    Args:
      loss: the loss, a float tensor of any shape.
      variables: the variables whose new values are to be seen.

    Raises:
      UsageError: the loss does not depend on any of the variables, or it depends on one through an
        op that cannot be evaluated again (it writes state, or draws random numbers from a
        distribution that the variable sets).

    Example:
      >>> w = tf1.get_variable("w", initializer=3.0)
      >>> replay = Replay(w * w, [w])
      >>> with tf.control_dependencies([w.assign(5.0)]):
      ...     again = replay()
      >>> with tf1.Session() as session:
      ...     session.run(w.initializer)
      ...     print(session.run(again))
      25.0
    """

    def __init__(self, loss, variables):
        self._plan = ReplayPlan(loss, variables)
        self._shape = loss.shape
        self._graph_def = _copied_graph_def(self._plan)
        self._fetch = loss.name

    @property
    def variables(self):
        """The variables, of those given, that the loss depends on."""
        return self._plan.variables

    def __call__(self):
        """Returns the loss with the values the variables have once the control inputs have run."""
        inputs = {name: tf.identity(t) for name, t in self._plan.inputs.items()}

        def copy():
            input_map = {name: tf.identity(tensor) for name, tensor in inputs.items()}
            (loss,) = tf.graph_util.import_graph_def(
                self._graph_def, input_map=input_map, return_elements=[self._fetch], name="replay"
            )
            return loss

        # A plain `tf.function` would add control edges of its own, and trips over v1 conditionals.
        loss = tf1.wrap_function(copy, [])()
        loss.set_shape(self._shape)
        return loss


def _copied_graph_def(plan):
    graph_def = graph_def_of(plan.ops, control_inputs=plan.control_inputs)
    for node, op in zip(graph_def.node, plan.ops, strict=True):
        if op.type in _BECOMES_IDENTITY:
            _make_identity(node, op)
        else:
            node.op = _REF_TYPES.get(op.type, op.type)
    return graph_def


def _make_identity(node, op):
    node.op = "Identity"
    node.attr.clear()
    node.attr["T"].type = op.inputs[0].dtype.base_dtype.as_datatype_enum
    del node.input[1:]


def check_all_replayed(replay, variables):
    """Raises `UsageError` if the loss reaches one of `variables` by a way that is not replayed."""
    missed = {graph_walk.handle_of(v).ref() for v in variables}
    missed -= {graph_walk.handle_of(v).ref() for v in replay.variables}
    names = [v.name for v in variables if graph_walk.handle_of(v).ref() in missed]
    if names:
        raise UsageError(
            f"There is a gradient for {', '.join(names)}, but no path from there to the loss that "
            "could be evaluated again: the search would not see the whole loss. Pass a var_list "
            "without these variables."
        )
