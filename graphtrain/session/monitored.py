"""MonitoredTrainingSession: TensorFlow's, with a session creator, a saver and an end of ours."""

import contextlib
import os

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.hooks.step_rate import StepRateHook
from graphtrain.hooks.summaries import SummaryHook
from graphtrain.optimize import rate_scale
from graphtrain.session import (
    checkpoints,
    global_step,
    hook_calls,
    input_position,
    inputs,
    recovery,
    restore,
    signals,
    waiting_session,
)
from graphtrain.session.event_marks import EventMarks
from graphtrain.session.intervals import NOT_GIVEN, interval, none_unless_positive
from graphtrain.session.safety import SafetyConfig
from graphtrain.session.saver_hook import SaverHook
from graphtrain.session.writer_lock import WriterLock

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
    ):
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
        with hook_calls.explained(self._own_hooks), recovery.hook_errors_as_they_were():
            return super().run(fetches, feed_dict, options, run_metadata)

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
            signals.step_begins(self._rescue)
        if self._stop_reason is None and not super().should_stop():
            return False
        signals.step_is_done()
        return True

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
        with self._closing():
            is_handled = super().__exit__(exception_type, exception, traceback)
        if isinstance(exception, RuntimeError):
            hook_calls.raise_explained(exception, self._own_hooks)
        return is_handled


def MonitoredTrainingSession(  # noqa: N802 (TensorFlow's name)
    master="",
    is_chief=True,
    checkpoint_dir=None,
    scaffold=None,
    hooks=None,
    chief_only_hooks=None,
    save_checkpoint_secs=NOT_GIVEN,
    save_summaries_steps=NOT_GIVEN,
    save_summaries_secs=NOT_GIVEN,
    config=None,
    stop_grace_period_secs=120,
    log_step_count_steps=100,
    max_wait_secs=7200,
    save_checkpoint_steps=NOT_GIVEN,
    summary_dir=None,
    save_graph_def=True,
    *,
    safety=None,
    watch=None,
    before_session=None,
):
    """Creates a session that trains the default graph, saves it and resumes it.

    It takes the place of `tf.compat.v1.train.MonitoredTrainingSession`, whose arguments and
    defaults it has. What is different: the global step is made if the graph has none;
    checkpoints are verified, and a damaged one is passed over; they hold where the declared
    iterators are, so that a resumed run equals an unbroken one; a run's directory can be moved or
    copied; it logs where it starts; only the input's end counts as the end of the data.

    Args:
      master: str, the TensorFlow master.
      is_chief: bool; a chief initializes or restores, others wait for it.
      checkpoint_dir: str, where checkpoints are restored from and saved to.
      scaffold: `tf.compat.v1.train.Scaffold`, to choose initialization or the saver.
      hooks: iterable of session hooks.
      chief_only_hooks: iterable of session hooks that only a chief runs.
      save_checkpoint_secs: seconds between two checkpoints; 600 if neither interval is given,
        0 or None for none.
      save_summaries_steps: steps between two summaries; 100 if neither interval is given, 0 or
        None for none.
      save_summaries_secs: seconds between two summaries.
      config: `tf.compat.v1.ConfigProto`.
      stop_grace_period_secs: seconds that threads are given to stop at the end.
      log_step_count_steps: steps between two values of steps per second; 0 or None for none.
      max_wait_secs: seconds that a worker waits for its chief.
      save_checkpoint_steps: steps between two checkpoints.
      summary_dir: str, where event files go; by default `checkpoint_dir`.
      save_graph_def: bool, whether the graph is written beside the checkpoints.
      safety: `SafetyConfig`, what is saved and what is put up with.
      watch: `graphtrain.stopwatch.Stopwatch` that counts the time of saves and summaries.
      before_session: function without arguments, called before each session is made, one that
        takes the place of a lost one included; what it raises ends the training.

    Returns:
      A `MonitoredSession`.

    Raises:
      UsageError: steps and seconds are given for one interval, or the graph's global step is
        not one integer scalar.
      DataError: the directory has checkpoints, but none can be read.

    Example:
      >>> step = tf1.train.get_or_create_global_step()
      >>> train_op = tf1.assign_add(step, 1)
      >>> with graphtrain.MonitoredTrainingSession(checkpoint_dir="run") as session:
      ...     int(session.run(train_op))
      1
      >>> with graphtrain.MonitoredTrainingSession(checkpoint_dir="run") as session:
      ...     int(session.run(train_op))
      2
    """
    save_summaries = interval(
        "save_summaries", save_summaries_steps, save_summaries_secs, default={"save_steps": 100}
    )
    save_checkpoint = interval(
        "save_checkpoint", save_checkpoint_steps, save_checkpoint_secs, default={"save_secs": 600}
    )
    scaffold = scaffold or tf1.train.Scaffold()
    if scaffold.init_op is None or checkpoint_dir or summary_dir:
        # An init_op of the user's own could not initialize a step that is made now.
        global_step.get_or_create()
        global_step.let_hooks_read_before_increments()
    checkpoints.use_own_saver(scaffold)
    safety = safety or SafetyConfig()
    if not is_chief:
        waiting = waiting_session.WaitingSessionCreator(
            scaffold,
            master=master,
            config=config,
            max_wait_secs=max_wait_secs,
            max_recoveries=safety.max_recoveries,
        )
        return MonitoredSession(
            waiting_session.preceded_by(before_session, waiting),
            list(hooks or ()),
            stop_grace_period_secs,
            ends_on_signals=True,
            recoveries=waiting.recoveries,
        )

    if safety.on_not_finite == "roll_back" and not rate_scale.is_used(tf1.get_default_graph()):
        raise UsageError(
            "on_not_finite='roll_back' makes the learning rate smaller, but the graph's has no "
            "factor for it: multiply it by graphtrain.learning_rate_scale()."
        )
    if checkpoint_dir:
        # If it cannot be read, nothing is written to it either.
        checkpoints.newest(checkpoint_dir)
    positions = input_position.of_default_graph() if checkpoint_dir else None
    creator = restore.RestoringSessionCreator(
        scaffold,
        master=master,
        config=config,
        checkpoint_dir=checkpoint_dir,
        positions=positions,
        safety=safety,
    )
    summary_dir = summary_dir or checkpoint_dir
    all_hooks = [EventMarks(summary_dir)] if summary_dir else []
    all_hooks.extend(chief_only_hooks or ())
    if summary_dir and none_unless_positive(log_step_count_steps):
        all_hooks.append(StepRateHook(every_steps=log_step_count_steps, output_dir=summary_dir))
    if summary_dir and save_summaries:
        all_hooks.append(
            SummaryHook(
                summary_dir,
                scaffold=scaffold,
                every_steps=save_summaries.get("save_steps"),
                every_secs=save_summaries.get("save_secs"),
                watch=watch,
            )
        )
    if checkpoint_dir and save_checkpoint:
        all_hooks.append(
            SaverHook(
                checkpoint_dir,
                **save_checkpoint,
                scaffold=scaffold,
                save_graph_def=save_graph_def,
                watch=watch,
            )
        )
    all_hooks.extend(hooks or ())
    lock = None
    for hook in all_hooks:
        if isinstance(hook, SaverHook):
            hook.use(safety, positions)
            creator.ask_for_last_step(lambda hook=hook: hook.step)
            lock = WriterLock(hook.directory) if safety.single_writer else None
    all_hooks.append(restore.RestoredStepGuard(creator))
    return MonitoredSession(
        waiting_session.preceded_by(before_session, creator),
        all_hooks,
        stop_grace_period_secs,
        scaffold=scaffold,
        checkpoint_dir=checkpoint_dir or None,
        ends_on_signals=True,
        lock=lock,
        recoveries=creator.recoveries,
        rolls_back=safety.on_not_finite == "roll_back",
    )
