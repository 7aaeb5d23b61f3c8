"""Training steps made without the hooks, by a callable that TensorFlow has prepared."""

import tensorflow as tf

from graphtrain.hooks.quiet import QuietHooks

tf1 = tf.compat.v1


class QuietSteps:
    """Makes the steps of a run at which no hook wants to be called.

    Args:
      session: an open `MonitoredSession`.
      train_step: the `TrainStep` of the loop.
      pace: the `Pace`: the most steps of one `session.run`.
    """

    def __init__(self, session, train_step, pace):
        self._session = session
        self._train_step = train_step
        self._pace = pace
        self._hooks = QuietHooks(session.hooks)
        self._bare_session = self._call = None

    def steps_of_next_run(self, step, last_step):
        """Returns how many steps the next run with hooks makes, so that none is missed.

        Args:
          step: int, the global step now.
          last_step: int, the step limit.
        """
        return min(self._pace.most_steps, self._hooks.steps_to_boundary(), last_step - step)

    def pass_over(self, steps):
        """Tells the hooks of steps that other processes made.

        Args:
          steps: int; nothing is told unless it is 1 or more.
        """
        if steps > 0:
            self._hooks.pass_over(steps)

    def make(self, step, last_step):
        """Makes steps until the run comes up that a hook wants to see, or the last.

        Args:
          step: int, the global step now.
          last_step: int, the step limit.

        Returns:
          The global step after them.
        """
        if min(self._hooks.steps_until_due(), last_step - step) <= self._pace.most_steps:
            return step

        def make_steps(step_context):
            # After a recovery the session of the context is still the lost one.
            del step_context
            return self._make_in(self._session._tf_sess(), step, last_step)

        return self._session.run_step_fn(make_steps)

    def _make_in(self, bare_session, step, last_step):
        if bare_session is not self._bare_session:
            self._prepare(bare_session)
            step = int(bare_session.run(self._train_step.step_before))
        while not self._session.should_stop():
            count = min(self._pace.most_steps, last_step - step)
            if min(self._hooks.steps_until_due(), last_step - step) <= count:
                break
            self._pace.timed(count, self._call, count)
            self._hooks.pass_over(count)
            step += count
        return step

    def _prepare(self, bare_session):
        train_op, extra_steps = self._train_step.train_op, self._train_step.extra_steps
        if extra_steps is None:
            one_step = bare_session.make_callable(train_op)
            self._call = lambda count: one_step()
        else:
            several = bare_session.make_callable(train_op, feed_list=[extra_steps])
            self._call = lambda count: several(count - 1)
        self._bare_session = bare_session
