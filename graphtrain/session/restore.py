"""How a session starts: from a checkpoint or from the initializers, and says which."""

import tensorflow as tf

from graphtrain import session_values
from graphtrain.errors import UsageError
from graphtrain.optimize import rate_scale
from graphtrain.session import (
    checkpoints,
    fitting_saver,
    input_position,
    inputs,
    optimizer_state,
    retention,
)
from graphtrain.session.rate_on_resume import RateOnResume
from graphtrain.session.recovery import Recoveries
from graphtrain.session.safety import SafetyConfig

tf1 = tf.compat.v1


class RateScaling:
    """Makes the learning rate smaller after a roll-back; it adds an op to the default graph.

    Args:
      factor: float in (0, 1), what it is multiplied by each time.
    """

    def __init__(self, factor):
        self._factor = factor
        self._path, self._times = None, 0
        self._value = self._assign = None
        if rate_scale.SCALE.is_used(tf1.get_default_graph()):
            self._variable = rate_scale.learning_rate_scale()
            self._assign, self._value = rate_scale.SCALE.assignment()

    def scale_down(self, session, path):
        """Scales the rate that was restored.

        Args:
          session: `tf.compat.v1.Session`.
          path: str, the checkpoint it was restored from, which has the rate of before.
        """
        self._times = self._times + 1 if path == self._path else 1
        self._path = path
        scale = float(session.run(self._variable)) * self._factor**self._times
        session.run(self._assign, {self._value: scale})
        tf1.logging.warning("the learning rate is now scaled by %g", scale)


class RestoringSessionCreator(tf1.train.SessionCreator):
    """Creates the sessions of a chief, each from the newest checkpoint there is by then.

    Args:
      scaffold: `tf.compat.v1.train.Scaffold`.
      master: str, the TensorFlow master.
      config: `tf.compat.v1.ConfigProto` or None.
      checkpoint_dir: str or None, where the newest checkpoint is looked for.
      checkpoint_path: str or None, the checkpoint to restore, instead of a directory's newest.
      positions: `InputPositions` to restore too, or None.
      safety: `SafetyConfig`.
    """

    def __init__(
        self,
        scaffold,
        *,
        master="",
        config=None,
        checkpoint_dir=None,
        checkpoint_path=None,
        positions=None,
        safety=None,
    ):
        self._scaffold = scaffold
        self._master = master
        self._config = config
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_path = checkpoint_path
        self._positions = positions
        self._safety = safety or SafetyConfig()
        self._restored_step = None
        self._last_step = lambda: None
        self.recoveries = Recoveries(self._safety.max_recoveries, self._safety.max_roll_backs)
        self._rate_scaling = RateScaling(self._safety.roll_back_scale)
        self._rate_on_resume = RateOnResume(self._safety.learning_rate_on_resume)
        self._resumed_at = None
        self._reset = None
        if self._safety.reset_optimizer:
            variables = optimizer_state.optimizer_variables(tf1.get_default_graph())
            self._reset = tf1.variables_initializer(variables, name="reset_optimizer")

    def ask_for_last_step(self, last_step):
        """Takes a function that returns the last step made, to tell how many a loss has cost."""
        self._last_step = last_step

    @property
    def restored_step(self):
        """The global step of the last session as it was restored; None if it was not."""
        return self._restored_step

    def create_session(self):
        """Returns a new session: variables restored or initialized, iterators initialized."""
        self.recoveries.begin_session()
        path = self._checkpoint_path
        if self._checkpoint_dir:
            path = checkpoints.newest(self._checkpoint_dir)
        scaffold = fitting_saver.restoring_scaffold(self._scaffold, path)
        session = tf1.train.ChiefSessionCreator(
            scaffold, self._master, self._config, checkpoint_filename_with_path=path
        ).create_session()
        session_values.forget(session)
        inputs.initialize(session)
        if self._checkpoint_dir:
            self._change_what_was_saved(session, path)
        self.recoveries.watch(session)
        if self._checkpoint_dir:
            self._report(session, path)
            self._place_input(session, path)
        return session

    def _change_what_was_saved(self, session, path):
        """Does to what an earlier run has saved what the settings ask for."""
        step = int(session.run(tf1.train.get_global_step()))
        if self._resumed_at is None:
            self._resumed_at = step if path else -1
        if step > self._resumed_at:
            # After the loss of a session, what this run has saved is as it should be.
            return
        if self._reset is not None:
            session.run(self._reset)
            tf1.logging.info("the optimizer begins anew: its slots have their first values")
        self._rate_on_resume.apply(session, step)

    def _place_input(self, session, path):
        if self._positions is None:
            return
        self._positions.warn_of_missing_seeds(session.graph)
        is_placed = path is not None and self._positions.restore(session, path)
        if self._safety.save_input_position:
            self._positions.check(session)
        if self._restored_step and not is_placed and self._safety.skip_input_ahead:
            tf1.logging.info("skipping the input of %d steps", self._restored_step)
            input_position.skip_ahead(session, self._restored_step)

    def _report(self, session, path):
        step = int(session.run(tf1.train.get_global_step()))
        self._restored_step = step if path else None
        if self.recoveries.is_roll_back:
            self._rate_scaling.scale_down(session, path)
        self.recoveries.report(self._last_step(), step)
        if path:
            # The saver goes on deleting old checkpoints where the last run stopped.
            retention.tell(self._scaffold.saver, self._checkpoint_dir)
            tf1.logging.info("restored global step %d from %s", step, path)
        else:
            tf1.logging.info("no checkpoint in %s, starting at %d", self._checkpoint_dir, step)


class RestoredStepGuard(tf1.train.SessionRunHook):
    """Refuses a session whose restored variables were initialized over again by a hook.

    It must be the last of the hooks.

    Args:
      creator: the `RestoringSessionCreator` of the session.
    """

    def __init__(self, creator):
        self._creator = creator

    def after_create_session(self, session, coord):
        """Compares the global step with the restored one."""
        restored = self._creator.restored_step
        if restored is None:
            return
        step = int(session.run(tf1.train.get_global_step()))
        # Other workers may have made steps since.
        if step < restored:
            raise UsageError(
                f"The global step was restored to {restored}, but is {step} after the hooks' "
                "after_create_session: one of them ran an initializer again, which loses what "
                "was restored. Leave initialization to the session."
            )
