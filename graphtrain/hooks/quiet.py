"""Hooks that need not be called at every step, so that most steps cost no more than the graph."""

import abc

import tensorflow as tf

tf1 = tf.compat.v1

NEVER = 2**62

# The graph collection of the placeholder that says how many steps a run makes before its last.
EXTRA_STEPS = "graphtrain_extra_steps"


class QuietHook(tf1.train.SessionRunHook, abc.ABC):
    """A session hook that says in how many steps it next wants to be called.

    If all hooks of a session are of this kind, our training loop makes the steps between without
    them. In every other session it is a hook like others, called at each run.
    """

    @abc.abstractmethod
    def steps_until_due(self):
        """Returns in how many steps, 1 or more, the run ends that the hook wants to see."""

    @abc.abstractmethod
    def pass_over(self, steps):
        """Called after steps that were made without the hook.

        Args:
          steps: int >= 1, how many.
        """


class QuietHooks:
    """The hooks of a session, asked together.

    Args:
      hooks: iterable of session hooks.

    Attributes:
      are_called: bool, whether any of them has to do with runs.
    """

    def __init__(self, hooks):
        # A hook that overrides neither method has nothing to do with runs.
        called = [hook for hook in hooks if _has_to_do_with_runs(hook)]
        self.are_called = bool(called)
        self._quiet = [hook for hook in called if isinstance(hook, QuietHook)]
        self._all_quiet = len(self._quiet) == len(called)

    def steps_until_due(self):
        """Returns in how many steps the first of the hooks is due; 1 if one wants every step."""
        return self.steps_to_boundary() if self._all_quiet else 1

    def steps_to_boundary(self):
        """Returns in how many steps the first of the quiet hooks is due, whatever others want."""
        return min((hook.steps_until_due() for hook in self._quiet), default=NEVER)

    def pass_over(self, steps):
        """Tells the hooks of steps that were made without them."""
        for hook in self._quiet:
            hook.pass_over(steps)


def _has_to_do_with_runs(hook):
    kind, plain = type(hook), tf1.train.SessionRunHook
    return kind.before_run is not plain.before_run or kind.after_run is not plain.after_run


def steps_of_run(run_context):
    """Returns how many training steps a `session.run` makes, for a hook's `before_run`.

    Args:
      run_context: the hook's `SessionRunContext`.

    Returns:
      int >= 1.
    """
    feeds = run_context.original_args.feed_dict or {}
    for extra_steps in run_context.session.graph.get_collection(EXTRA_STEPS):
        for key, value in feeds.items():
            if key is extra_steps:
                return 1 + int(value)
    return 1
