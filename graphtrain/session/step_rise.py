"""Whether a run of the train op raises the global step as it should."""

import tensorflow as tf

from graphtrain.errors import UsageError

tf1 = tf.compat.v1

_RUNS_WITHOUT_RISE = 10


class StepRise:
    """Looks at the global step after the first runs of a train op.

    Args:
      graph: the `tf.Graph`.
      others_step: whether other processes raise the step too. Then a run may find it higher by
        any number, or, of an optimizer that gathers gradients first, as it was.
    """

    def __init__(self, graph, *, others_step):
        self._graph = graph
        self._others_step = others_step
        self._runs, self._first = 0, None

    def check(self, before, after):
        """Called after each run of one step.

        Args:
          before: int, the global step before the run.
          after: int, the step after it.

        Raises:
          UsageError: it did not rise, or by more than 1 though nobody else raises it.
        """
        if self._runs == 0:
            self._first = before
        self._runs += 1
        if self._runs == (_RUNS_WITHOUT_RISE if self._others_step else 1):
            self._check(after - self._first, after)

    def _check(self, rise, after):
        if rise == 1 or (self._others_step and rise != 0):
            return
        message = (
            f"{'One run' if self._runs == 1 else f'{self._runs} runs'} of the train_op took the "
            f"global step from {self._first} to {after}; it must rise by exactly 1. "
        )
        if rise == 0:
            message += (
                "Give it to the optimizer: minimize(loss, "
                "global_step=tf.compat.v1.train.get_global_step())."
            )
        else:
            message += (
                "Let only one op advance it: of several optimizers only one may be given "
                "global_step, and no assign_add may stand beside it."
            )
        raise UsageError(message + _other_steps(self._graph))


def _other_steps(graph):
    own = graph.get_collection(tf1.GraphKeys.GLOBAL_STEP)
    own_names = {step.name for step in own}
    others = [
        variable.name
        for variable in graph.get_collection(tf1.GraphKeys.GLOBAL_VARIABLES)
        if "global_step" in variable.name and variable.name not in own_names
    ]
    if not others:
        return ""
    return f" The graph's step is {', '.join(own_names)}, but it also has {', '.join(others)}."
