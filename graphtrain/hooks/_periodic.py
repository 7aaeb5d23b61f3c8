"""What hooks that report every so many steps, or seconds, have in common."""

import time

import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError
from graphtrain.hooks.quiet import NEVER, QuietHook, steps_of_run

tf1 = tf.compat.v1


class PeriodicHook(QuietHook):
    """Calls `report` each time the global step passes a multiple of `every_steps`.

    A run that reports nothing fetches nothing: the hook counts the steps itself, and reads the
    global step when it believes that a report is due. Whatever moves the step otherwise (another
    worker, a run beside the training) delays a report, but never gives it a wrong step.
    """

    def __init__(
        self,
        tensors,
        *,
        every_steps=None,
        every_secs=None,
        total_steps=None,
        first_step=False,
        clock=time.monotonic,
    ):
        """Makes the hook.

        Args:
          tensors: dict from a name of your choice to a tensor, to its name in the graph, or to
            the tag of its scalar summary.
          every_steps: int >= 1, reports are made at its multiples; or else `every_secs`.
          every_secs: seconds > 0 from one report to the next.
          total_steps: int or None, the last step, reported though it is no multiple.
          first_step: whether the first step of a session is reported.
          clock: function that gives the time in seconds.
        """
        if every_steps is not None and every_secs is not None:
            raise UsageError(
                f"every_steps={every_steps!r} and every_secs={every_secs!r} cannot be used both"
            )
        self._named = dict(tensors)
        self._every_steps = self._every_secs = None
        if every_secs is None:
            self._every_steps = checks.whole("every_steps", every_steps)
        else:
            self._every_secs = checks.real("every_secs", every_secs, above=0)
        self._total_steps = (
            None if total_steps is None else checks.whole("total_steps", total_steps)
        )
        self._first_step = first_step
        self._clock = clock

    def begin(self):
        """Finds the global step and the tensors in the default graph."""
        graph = tf1.get_default_graph()
        self._global_step = tf1.train.get_global_step(graph)
        if self._global_step is None:
            raise UsageError(
                f"{type(self).__name__} found no global step in the graph: call "
                "tf.compat.v1.train.get_or_create_global_step() and give it to the optimizer."
            )
        self._tensors = {key: _find(graph, value) for key, value in self._named.items()}

    def after_create_session(self, session, coord):
        """Reads the step at which this session starts."""
        del coord
        self._step = self._reported_step = int(session.run(self._global_step))
        self._nothing_reported = True
        self._start_timer()

    def steps_until_due(self):
        """Returns in how many steps a report is due."""
        if self._first_step and self._nothing_reported:
            return 1
        if self._every_steps is None:
            left = 1 if self._clock() >= self._due_at else NEVER
        else:
            left = 1 if self._is_due(self._step) else self._steps_to_multiple()
        if self._total_steps is not None and self._step < self._total_steps:
            left = min(left, self._total_steps - self._step)
        return left

    def pass_over(self, steps):
        """Counts steps that were made without the hook."""
        self._step += steps

    def before_run(self, run_context):
        """Asks for the tensors if the coming step is to be reported."""
        self._coming = self._step + steps_of_run(run_context)
        if self._is_due(self._coming):
            return tf1.train.SessionRunArgs(self._tensors)
        return None

    def after_run(self, run_context, run_values):
        """Reports, if the step is one to be reported."""
        if run_values.results is None:
            self._step = self._coming
            return
        self._step = int(run_context.session.run(self._global_step))
        if self._is_due(self._step):
            self._reported_step = self._step
            self._nothing_reported = False
            self._start_timer()
            self.report(self._step, run_values.results)

    def report(self, step, values):
        """Called after a step that is due.

        Args:
          step: int, the global step after the run.
          values: dict of what the tensors gave in that run, under the names given.
        """
        raise NotImplementedError

    def _steps_to_multiple(self):
        return self._every_steps - self._step % self._every_steps

    def _start_timer(self):
        if self._every_secs is not None:
            self._due_at = self._clock() + self._every_secs

    def _is_due(self, step):
        if self._first_step and self._nothing_reported:
            return True
        if self._total_steps is not None and self._reported_step < self._total_steps <= step:
            return True
        if self._every_steps is None:
            return self._clock() >= self._due_at
        return step // self._every_steps > self._reported_step // self._every_steps


def _find(graph, tensor_or_name):
    if isinstance(tensor_or_name, str):
        # A model_fn names its summaries, but seldom its tensors.
        for summary in graph.get_collection(tf1.GraphKeys.SUMMARIES):
            if summary.op.type == "ScalarSummary" and _tag(summary) == tensor_or_name:
                return summary.op.inputs[1]
    element = graph.as_graph_element(tensor_or_name)
    return element.outputs[0] if isinstance(element, tf.Operation) else element


def _tag(summary):
    return tf.get_static_value(summary.op.inputs[0]).item().decode()
