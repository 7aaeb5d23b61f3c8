"""MonitoredSession: TensorFlow's, which can be asked for more and ends in clearer ways."""

import contextlib
import os

import tensorflow as tf

from graphtrain.distribute.agreement import AT_END_OF_DATA, INTERRUPTED, StoppedTogetherError
from graphtrain.errors import UsageError
from graphtrain.session import hook_calls, inputs, recovery, signals
from graphtrain.session.saver_hook import SaverHook

tf1 = tf.compat.v1


class MonitoredSession(tf1.train.MonitoredSession):
    """TensorFlow's `MonitoredSession`, which can be asked for more and ends in clearer ways.

    Leaving its `with` block by an `OutOfRangeError` of the declared input closes it as usual:
    the hooks' `end` runs and the error goes no further. Any other `OutOfRangeError`, such as
    one of a `py_func` in the model, is an error like all others. Hooks may have two methods
    more: see `graphtrain.session.hook_calls`.

    Args:
      session_creator: `tf.compat.v1.train.SessionCreator`; by default a chief's.
      hooks: iterable of session hooks.
      stop_grace_period_secs: seconds that threads are given to stop at the end.
      scaffold: `tf.compat.v1.train.Scaffold`, whose saver `save_now` uses; None if it is unused.
      checkpoint_dir: str, where `save_now` saves to, or None.
      ends_on_signals: bool, whether `should_stop` hears the signals of `saving_on_signals`.
      lock: `WriterLock` to hold as long as the session is open, or None.
      recoveries: `Recoveries` of the session creator; errors of hooks are not retried then.
      rolls_back: bool, whether `roll_back` does something.
      agreement: `graphtrain.distribute.agreement.Agreement` of a synchronous training, whose
        workers stop at the same step; None for others.
    """

    def __init__(
        self,
        session_creator=None,
        hooks=None,
        stop_grace_period_secs=120,
        *,
        scaffold=None,
        checkpoint_dir=None,
        ends_on_signals=False,
        lock=None,
        recoveries=None,
        rolls_back=False,
        agreement=None,
    ):
        self._agreement, self._stopped_together = agreement, False
        self._is_over = False
        self._own_hooks = tuple(hooks or ())
        self._stop_reason = None
        self._ends_on_signals = ends_on_signals
        self._scaffold = scaffold
        self._checkpoint_dir = checkpoint_dir
        self._lock = lock
        self._recoveries, self._rolls_back = recoveries, rolls_back
        hook_calls.tell_session(self._own_hooks, self)
        if lock is not None:
            lock.acquire()
        called = list(self._own_hooks)
        if recoveries is not None:
            called = [recovery.NotRetried(hook, recoveries) for hook in called]
        try:
            with hook_calls.explained(self._own_hooks), recovery.hook_errors_as_they_were():
                super().__init__(session_creator, called, stop_grace_period_secs)
        except BaseException as error:
            hook_calls.tell_error(self._own_hooks, error)
            self._release_lock()
            raise

    @contextlib.contextmanager
    def _closing(self):
        signals.step_is_done()
        self._is_over = True
        try:
            with hook_calls.explained(self._own_hooks):
                yield
        finally:
            self._release_lock()

    def _release_lock(self):
        if self._lock is not None:
            self._lock.release()

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Runs ops, with the hooks; see `tf.compat.v1.Session.run`."""
        try:
            with hook_calls.explained(self._own_hooks), recovery.hook_errors_as_they_were():
                return super().run(fetches, feed_dict, options, run_metadata)
        except StoppedTogetherError as error:
            self._stop_together(error)
            raise

    def _stop_together(self, error):
        if error.why == AT_END_OF_DATA:
            self._agreement.report_surplus(self._tf_sess())
            return
        self._stopped_together = True
        if self._stop_reason is None:
            is_interrupted = error.why == INTERRUPTED
            if is_interrupted:
                signals.stop_with_others()
            self.request_stop(
                "a signal to another worker" if is_interrupted else "another worker stopped"
            )

    def run_step_fn(self, step_fn):
        """Calls `step_fn`; see `tf.compat.v1.train.MonitoredSession.run_step_fn`."""
        with recovery.hook_errors_as_they_were():
            return super().run_step_fn(step_fn)

    def roll_back(self, error):
        """Goes back to the last checkpoint because of `error`, if the session is made to.

        Args:
          error: the exception that says what is not finite.

        Returns:
          bool, whether it went back; if not, `error` is to be raised.

        Raises:
          `error`: the session has gone back too often.
        """
        if not self._rolls_back:
            return False
        pending = [recovery.RollBack(error)]
        self._recoveries.begin_roll_back(pending[0])

        def lose_the_session(step_context):
            del step_context
            if pending:
                raise pending.pop()

        self.run_step_fn(lose_the_session)
        return True

    def run_without_hooks(self, fetches, feed_dict=None):
        """Runs ops that are no training step, such as an evaluation: no hook sees it.

        As in `run`, a session that was lost is made anew and the ops are run again.

        Args:
          fetches: as for `tf.compat.v1.Session.run`.
          feed_dict: as for `tf.compat.v1.Session.run`.

        Returns:
          As `tf.compat.v1.Session.run`.

        Example:
          >>> count = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
          >>> with graphtrain.MonitoredTrainingSession() as session:
          ...     int(session.run_without_hooks(count))
          1
        """

        def run_bare(step_context):
            # The session of the context is still the lost one after a recovery.
            del step_context
            return self._tf_sess().run(fetches, feed_dict)

        return self.run_step_fn(run_bare)

    def request_stop(self, reason=None):
        """Makes `should_stop` true: for hooks, the loop's owner, and other threads.

        Args:
          reason: str, why; it is logged and can be read from `stop_reason`.
        """
        self._stop_reason = reason or "no reason was given"
        tf1.logging.info("a stop was requested: %s", self._stop_reason)

    @property
    def is_synchronized(self):
        """Bool, whether other workers make each step together with this one."""
        return self._agreement is not None

    @property
    def hooks(self):
        """The session's hooks, a tuple."""
        return self._own_hooks

    @property
    def stop_reason(self):
        """Str, the reason that `request_stop` was given; None if it was not called."""
        return self._stop_reason

    def should_stop(self):
        """Says whether the loop has to end: a stop was requested, or the session is closed."""
        if self._ends_on_signals:
            if self._stop_reason is None and signals.requested_stop() is not None:
                self.request_stop(signals.requested_stop())
            if self._agreement is None:
                signals.step_begins(self._rescue)
        if self._stop_reason is None and not super().should_stop():
            return False
        signals.step_is_done()
        if self._agreement is None or self._stopped_together or self._is_over:
            return True
        # The others have to know: all stop before the next step.
        is_interrupted = signals.requested_stop() is not None
        self._agreement.wish_to_stop(self._tf_sess(), interrupted=is_interrupted)
        return False

    def _rescue(self):
        for hook in self._own_hooks:
            if isinstance(hook, SaverHook):
                hook.save_variables_as_they_are(self._tf_sess())

    def save_if_due(self, global_step):
        """Saves, if a save is due by steps that other processes made.

        Args:
          global_step: int, the global step that they have come to.
        """
        for hook in self._own_hooks:
            if isinstance(hook, SaverHook):
                hook.pass_over(max(global_step - hook.step, 0))
                hook.save_if_due(self._tf_sess())

    def save_now(self):
        """Saves a checkpoint, which is listed and in time deleted like the periodic ones.

        A hook may call it too, in `after_run`.

        Returns:
          Str, the checkpoint's path without extension.

        Raises:
          UsageError: the session was made without a checkpoint_dir.
        """
        if self._checkpoint_dir is None:
            raise UsageError("save_now() needs a session that was made with a checkpoint_dir.")
        session = self._tf_sess()
        for hook in self._own_hooks:
            if isinstance(hook, SaverHook):
                return hook.save(session)[0]
        path = os.path.join(self._checkpoint_dir, "model.ckpt")
        step = int(session.run(tf1.train.get_global_step(self.graph)))
        return self._scaffold.saver.save(session, path, global_step=step)

    def close(self):
        """Closes the session; the hooks' `end` runs."""
        with self._closing():
            super().close()

    def __exit__(self, exception_type, exception, traceback):
        """Closes the session; see the class."""
        is_end = isinstance(exception, StopIteration) or inputs.is_end_of_input(
            exception, self.graph
        )
        if exception is not None and not is_end:
            hook_calls.tell_error(self._own_hooks, exception)
        if isinstance(exception, tf.errors.OutOfRangeError) and not is_end:
            tf1.logging.error(
                "op %r raised an OutOfRangeError, which is not the end of the declared input",
                exception.op.name if exception.op is not None else None,
            )
            # TensorFlow takes the type alone for the end of the data.
            exception_type = RuntimeError
        elif isinstance(exception, StoppedTogetherError):
            exception_type = tf.errors.OutOfRangeError
        with self._closing():
            is_handled = super().__exit__(exception_type, exception, traceback)
        if isinstance(exception, RuntimeError):
            hook_calls.raise_explained(exception, self._own_hooks)
        return is_handled
