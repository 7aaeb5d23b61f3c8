"""Sessions that are lost and made anew: counted, told of, and not without end."""

import contextlib
import functools

import tensorflow as tf

from graphtrain.session.error_text import in_one_line

tf1 = tf.compat.v1

# TensorFlow's monitored sessions make a new session after these, without a word.
RECOVERED_FROM = (tf.errors.AbortedError, tf.errors.UnavailableError)


class RollBack(tf.errors.AbortedError):
    """Makes TensorFlow's monitored session begin anew at the last checkpoint.

    Args:
      cause: the error that it goes back because of.
    """

    def __init__(self, cause):
        super().__init__(None, None, f"going back to the last checkpoint: {in_one_line(cause)}")
        self.cause = cause


class TooManyRecoveriesError(RuntimeError):
    """The session was lost again and again."""


class Recoveries:
    """Counts the sessions that were made in place of lost ones.

    Args:
      most: int >= 0, how many may be.
      most_roll_backs: int >= 0, how many may be because of a `RollBack`.
    """

    def __init__(self, most, most_roll_backs):
        self.count = self.roll_backs = 0
        self._most = most
        self._most_roll_backs = most_roll_backs
        self._lost_by = None
        self._sessions = 0

    def watch(self, session):
        """Notes the errors that `session.run` raises."""
        run = session.run

        @functools.wraps(run)
        def noting_run(*args, **kwargs):
            try:
                return run(*args, **kwargs)
            except RECOVERED_FROM as error:
                self._lost_by = error
                raise

        session.run = noting_run

    def is_loss(self, error):
        """Says whether an error came out of the session, and not from a hook of its own accord."""
        return error is self._lost_by

    def begin_roll_back(self, roll_back):
        """Takes note that the session is to be made anew because of `roll_back`.

        Raises:
          The cause of the roll-back, if it would be one too many.
        """
        self.roll_backs += 1
        if self.roll_backs > self._most_roll_backs:
            tf1.logging.error("gave up after %d roll-backs", self._most_roll_backs)
            raise roll_back.cause
        self._lost_by = roll_back

    @property
    def is_roll_back(self):
        """Whether the session is, or was last, made anew because of a `RollBack`."""
        return isinstance(self._lost_by, RollBack)

    def begin_session(self):
        """Called before a session is made.

        Raises:
          TooManyRecoveriesError: it would be one too many.
        """
        self._sessions += 1
        if self._sessions == 1 or self.is_roll_back:
            return
        self.count += 1
        if self.count > self._most:
            raise TooManyRecoveriesError(
                f"The session was lost {self.count} times, the last time by "
                f"{self._cause()}: see to the cause, or allow more by max_recoveries."
            ) from self._lost_by

    def report(self, step_lost_at, step):
        """Tells of a recovery, if the session is not the first.

        Args:
          step_lost_at: int, the last step that was made, or None if it is not known.
          step: int, the step that training goes on from.
        """
        if self._sessions > 1:
            steps = "" if step_lost_at is None else f", {max(step_lost_at - step, 0)} steps lost"
            tf1.logging.warning(
                "the session was lost (%s) and made anew, %s: going on from step %d%s",
                self._cause(),
                self._number(),
                step,
                steps,
            )

    def _number(self):
        if self.is_roll_back:
            return f"roll-back {self.roll_backs} of at most {self._most_roll_backs}"
        return f"recovery {self.count} of at most {self._most}"

    def _cause(self):
        return "cause unknown" if self._lost_by is None else in_one_line(self._lost_by)


class HookFailure(Exception):  # noqa: N818 (it never reaches a user)
    """Carries an error of a hook past TensorFlow, which would take it for a lost session."""

    def __init__(self, error):
        super().__init__(error)
        self.error = error


@contextlib.contextmanager
def hook_errors_as_they_were():
    """Raises the error that a `HookFailure` carries."""
    try:
        yield
        return
    except HookFailure as failure:
        error = failure.error
    raise error


class NotRetried(tf1.train.SessionRunHook):
    """A hook whose own errors do not make TensorFlow run the step again.

    Args:
      hook: the session hook.
      recoveries: `Recoveries` of the session.
    """

    def __init__(self, hook, recoveries):
        self._hook = hook
        self._recoveries = recoveries

    def begin(self):
        """Calls the hook's."""
        self._hook.begin()

    def after_create_session(self, session, coord):
        """Calls the hook's."""
        self._call(self._hook.after_create_session, session, coord)

    def before_run(self, run_context):
        """Calls the hook's."""
        return self._call(self._hook.before_run, run_context)

    def after_run(self, run_context, run_values):
        """Calls the hook's."""
        self._call(self._hook.after_run, run_context, run_values)

    def end(self, session):
        """Calls the hook's."""
        self._hook.end(session)

    def _call(self, method, *args):
        try:
            return method(*args)
        except RollBack as roll_back:
            self._recoveries.begin_roll_back(roll_back)
            raise
        except RECOVERED_FROM as error:
            if self._recoveries.is_loss(error):
                raise
            raise HookFailure(error) from error
