"""When checkpoints are saved in a training session, and what happens if a save fails."""

import time

import tensorflow as tf

from graphtrain.errors import WorkerLostError
from graphtrain.hooks.quiet import NEVER, QuietHook, steps_of_run
from graphtrain.session import (
    checkpoint_files,
    checkpoints,
    finite,
    global_step,
    retention,
    signals,
)
from graphtrain.session.checkpoint_writer import CheckpointWriter
from graphtrain.session.error_text import in_one_line
from graphtrain.session.recovery import RollBack
from graphtrain.session.safety import SafetyConfig
from graphtrain.stopwatch import Stopwatch

tf1 = tf.compat.v1

RETRY_SECS = 30


class SaverHook(tf1.train.CheckpointSaverHook, QuietHook):
    """Saves checkpoints that are verified, and puts up with saves that fail.

    It takes the place of TensorFlow's hook. What is different: a save that fails (disk full,
    say) is logged and tried again while training goes on; saves in steps are made at multiples
    of `save_steps`, so that a resumed run saves where an unbroken one does; what was just
    restored is not written again; the input's position is saved too.

    Args:
      checkpoint_dir: str.
      save_secs: seconds between two saves; or else `save_steps`. With neither there is one save
        at the start and one at the end.
      save_steps: int, steps between two saves.
      saver: `tf.compat.v1.train.Saver`; or else `scaffold`.
      checkpoint_basename: str, what the checkpoints' names begin with.
      scaffold: `tf.compat.v1.train.Scaffold`, whose saver is used.
      listeners: list of `tf.compat.v1.train.CheckpointSaverListener`.
      save_graph_def: bool, whether the graph is written beside the checkpoints.
      watch: `Stopwatch` that counts the time of the saves, or None.
      clock: function that gives the time in seconds.
    """

    def __init__(
        self,
        checkpoint_dir,
        save_secs=None,
        save_steps=None,
        saver=None,
        checkpoint_basename=checkpoint_files.BASENAME,
        scaffold=None,
        listeners=None,
        save_graph_def=True,
        *,
        watch=None,
        clock=time.monotonic,
    ):
        super().__init__(
            checkpoint_dir,
            save_secs=NEVER if save_secs is None and save_steps is None else save_secs,
            save_steps=save_steps,
            saver=saver,
            checkpoint_basename=checkpoint_basename,
            scaffold=scaffold,
            listeners=listeners,
            save_graph_def=save_graph_def,
        )
        self._directory, self._basename = checkpoint_dir, checkpoint_basename
        self._every_secs, self._every_steps = save_secs, save_steps
        self._saver_given, self._scaffold_given = saver, scaffold
        self._with_graph = save_graph_def
        self._safety = SafetyConfig()
        self._watch = watch or Stopwatch()
        self._clock = clock
        self._positions = None
        self._step = None
        self._stepped_session = None
        self._failed_saves = 0

    @property
    def step(self):
        """Int, the global step as far as it is known; None before the first session."""
        return self._step

    @property
    def directory(self):
        """Str, where checkpoints are saved."""
        return self._directory

    @property
    def interval(self):
        """Dict of `save_steps` or `save_secs`, how often it saves; both None for seldom."""
        return {"save_steps": self._every_steps, "save_secs": self._every_secs}

    def use(self, safety, positions):
        """Takes the settings of the session: it calls this before `begin`.

        Args:
          safety: `SafetyConfig`.
          positions: `InputPositions` of the session's graph, or None if there are none.
        """
        self._safety = safety
        self._positions = positions if safety.save_input_position else None

    def begin(self):
        """Makes the ops; opens the event file."""
        self._global_step = global_step.get_or_create()
        self._writer = CheckpointWriter(self._directory, self._basename)
        self._finite_check = finite.check_of_default_graph()
        self._events = tf1.summary.FileWriterCache.get(self._directory)
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session, coord):
        """Saves the first checkpoint, unless there is one of this step already."""
        del coord
        self._step = int(session.run(self._global_step))
        self._write_graph(session.graph)
        newest = checkpoints.newest(self._directory)
        if newest is not None and checkpoints.global_step_of(newest) == self._step:
            self._saved_step, self._saved_path = self._step, newest
            retention.repair(self._directory, newest)
            self._tell("before_save", session)
            self._tell("after_save", session)
        else:
            self.save(session)
        self._due_at = self._clock() + (self._every_secs or 0)
        self._seen_step = self._step
        self._retry_at = None
        self._stepped_session = None

    def steps_until_due(self):
        """Returns in how many steps a save is due."""
        if self._retry_at is not None or signals.is_save_requested():
            return 1
        if self._every_steps is not None:
            is_passed = self._is_multiple_passed()
            return 1 if is_passed else self._every_steps - self._step % self._every_steps
        if self._every_secs is not None and self._clock() >= self._due_at:
            return 1
        return NEVER

    def pass_over(self, steps):
        """Counts steps that were made without the hook."""
        self._step += steps

    def before_run(self, run_context):
        """Notes at which step the run will end."""
        self._coming = self._step + steps_of_run(run_context)

    def after_run(self, run_context, run_values):
        """Saves, if a save is due."""
        signals.step_is_done()
        session = self._stepped_session = run_context.session
        self._step = self._coming
        try:
            if self.save_if_due(session):
                run_context.request_stop()
        except finite.NotFiniteError as error:
            if self._safety.on_not_finite != "roll_back":
                raise
            raise RollBack(error) from error

    def save_if_due(self, session):
        """Saves, if a save is due: for steps that were not made in this session.

        Args:
          session: `tf.compat.v1.Session`.

        Returns:
          bool, whether a listener asked for the training to stop.
        """
        if not self._is_due():
            return False
        self._step = int(session.run(self._global_step))
        if not self._is_due():
            return False
        self._seen_step = self._step
        return self._try_to_save(session)

    def end(self, session):
        """Saves the last checkpoint, unless it is saved already."""
        self._step = int(session.run(self._global_step))
        if self._step != self._saved_step:
            self.save(session)
        for listener in self._listeners:
            listener.end(session, self._step)

    def on_error(self, error):
        """Saves what has not been saved, if the error came from between two steps.

        One that came out of a step may have left half of it in the variables.
        """
        in_step = (tf.errors.OpError, tf1.train.NanLossDuringTrainingError, WorkerLostError)
        session = self._stepped_session
        if session is None or isinstance(error, in_step):
            return
        self._step = int(session.run(self._global_step))
        if self._step != self._saved_step:
            self._finite_check.run(session, self._step)
            self._write(session)

    def save(self, session):
        """Saves a checkpoint now.

        Args:
          session: `tf.compat.v1.Session`.

        Returns:
          (str, bool): the checkpoint's path without extension, and whether a listener asked for
          the training to stop.

        Raises:
          NotFiniteError: a variable is not finite.
          DataError, tf.errors.OpError, OSError, ValueError: it cannot be saved.
        """
        self._begin_save(session)
        self._write(session)
        return self._saved_path, self._tell("after_save", session)

    def _begin_save(self, session):
        self._step = int(session.run(self._global_step))
        self._finite_check.run(session, self._step)
        self._tell("before_save", session)

    def _write(self, session):
        with self._watch.timing("saves"):
            self._saved_path = self._writer.write(
                session,
                self._saver_in_use(),
                self._step,
                positions=self._positions,
                with_graph=self._with_graph,
            )
        self._saved_step = self._step
        self._failed_saves = 0
        status = tf1.SessionLog.CHECKPOINT
        log = tf1.SessionLog(status=status, checkpoint_path=self._saved_path)
        self._events.add_session_log(log, self._step)
        tf1.logging.info("saved %s", self._saved_path)

    def save_variables_as_they_are(self, session):
        """Saves what can be saved while a step, in another thread, waits for its input.

        Where the input is cannot be known then, so the checkpoint has no position.

        Args:
          session: `tf.compat.v1.Session`.
        """
        self._step = int(session.run(self._global_step))
        if self._step != self._saved_step:
            self._finite_check.run(session, self._step)
            self._writer.write(session, self._saver_in_use(), self._step, with_graph=False)

    def _try_to_save(self, session):
        """Saves, or logs why not; returns whether to stop the training."""
        self._retry_at = None
        signals.save_is_done()
        if self._every_secs is not None:
            self._due_at = self._clock() + self._every_secs
        if self._step == self._saved_step:
            return False
        self._begin_save(session)
        try:
            self._write(session)
        except (tf.errors.AbortedError, tf.errors.UnavailableError):
            raise
        except (tf.errors.OpError, OSError, ValueError) as error:
            self._failed_saves += 1
            if self._failed_saves > self._safety.max_failed_saves:
                raise
            self._retry_at = self._clock() + RETRY_SECS
            tf1.logging.error(
                "the checkpoint of step %d could not be saved (%s); the newest is %s; trying "
                "again in %d seconds (failure %d, the run ends at %d)",
                self._step,
                in_one_line(error),
                self._saved_path,
                RETRY_SECS,
                self._failed_saves,
                self._safety.max_failed_saves + 1,
            )
            return False
        return self._tell("after_save", session)

    def _is_due(self):
        if signals.is_save_requested():
            return True
        if self._retry_at is not None and self._clock() >= self._retry_at:
            return True
        if self._every_steps is not None:
            return self._is_multiple_passed()
        return self._every_secs is not None and self._clock() >= self._due_at

    def _is_multiple_passed(self):
        return self._step // self._every_steps > self._seen_step // self._every_steps

    def _tell(self, what, session):
        answers = [getattr(listener, what)(session, self._step) for listener in self._listeners]
        return any(answers)

    def _saver_in_use(self):
        if self._saver_given is not None:
            return self._saver_given
        if self._scaffold_given is not None:
            return self._scaffold_given.saver
        return tf1.get_collection(tf1.GraphKeys.SAVERS)[0]

    def _write_graph(self, graph):
        self._writer.clean()
        if self._with_graph:
            graph_def = graph.as_graph_def(add_shapes=True)
            tf1.train.write_graph(graph_def, self._directory, "graph.pbtxt")
        self._events.add_graph(graph)
        self._events.add_meta_graph(
            tf1.train.export_meta_graph(graph=graph, saver_def=self._saver_in_use().saver_def)
        )
