"""Where the input of a worker of a synchronous training is, if the worker is not the chief."""

import os
import time

import tensorflow as tf

from graphtrain.hooks.quiet import steps_of_run
from graphtrain.session import checkpoint_files, damage, input_position
from graphtrain.session.checkpoint_writer import CheckpointWriter
from graphtrain.session.error_text import in_one_line

tf1 = tf.compat.v1

# The chief may go back to an older checkpoint, if the newest is damaged.
_KEPT = 10


class WorkerInput:
    """Where the input of a worker that is no chief is, in a directory of its own.

    The chief's checkpoints hold the weights. A worker saves where its input is, as often as the
    chief saves. It need not be at the same steps: each step takes one batch, so that the
    worker takes what is missing when it is resumed.

    It adds ops to the default graph.

    Args:
      checkpoint_dir: str, the chief's directory.
      agreement: the `Agreement` of the default graph.
      safety: `SafetyConfig`.
    """

    def __init__(self, checkpoint_dir, agreement, safety):
        group = agreement.group
        self.directory = os.path.join(checkpoint_dir, "workers", f"{group.index}_of_{group.count}")
        self._agreement = agreement
        self._safety = safety
        self.positions = input_position.of_default_graph()

    def place(self, session):
        """Moves the input to where it was when the chief's step had been made.

        Args:
          session: `tf.compat.v1.Session`, with the chief's variables.
        """
        step = int(session.run(tf1.train.get_global_step()))
        self.positions.warn_of_missing_seeds(session.graph)
        if self._safety.save_input_position:
            self.positions.check(session)
        path = self._newest_until(step)
        if path is not None and self.positions.restore(session, path):
            self._skip(session, step - checkpoint_files.step_in_name(path))
        elif step and self._safety.skip_input_ahead:
            self._skip(session, step)
        elif step:
            tf1.logging.warning(
                "%s has no position of this worker's input from step %d or before: the input "
                "begins anew, unless skip_input_ahead is set",
                self.directory,
                step,
            )

    def hooks(self, interval):
        """Returns the session hooks that save the position.

        Args:
          interval: dict of `save_steps` or of `save_secs`, steps or seconds between two saves; or
            None to save at the start and the end.
        """
        if not self._safety.save_input_position:
            return []
        return [_PositionHook(self.directory, self.positions, **(interval or {}))]

    def _newest_until(self, step):
        for path in reversed(checkpoint_files.paths_on_disk(self.directory)):
            if checkpoint_files.step_in_name(path) <= step and damage.fault_of(path) is None:
                return path
        return None

    def _skip(self, session, steps):
        if steps:
            tf1.logging.info("skipping the input of %d steps", steps)
            self._agreement.skip_ahead(session, steps)


class _PositionHook(tf1.train.SessionRunHook):
    """Saves where the input is; a save that fails costs time at a resume, and nothing else."""

    def __init__(
        self, directory, positions, *, save_steps=None, save_secs=None, clock=time.monotonic
    ):
        self._directory, self._positions = directory, positions
        self._every_steps, self._every_secs = save_steps, save_secs
        self._saver = tf1.train.Saver([tf1.train.get_global_step()], max_to_keep=_KEPT)
        self._clock = clock

    def begin(self):
        self._writer = CheckpointWriter(self._directory)

    def after_create_session(self, session, coord):
        del coord
        self._writer.clean()
        self._step = int(session.run(tf1.train.get_global_step()))
        self._saved_step = None
        self._save(session)

    def before_run(self, run_context):
        self._coming = self._step + steps_of_run(run_context)

    def after_run(self, run_context, run_values):
        before, self._step = self._step, self._coming
        if self._every_steps is not None:
            if self._step // self._every_steps > before // self._every_steps:
                self._save(run_context.session)
        elif self._every_secs is not None and self._clock() >= self._due_at:
            self._save(run_context.session)

    def end(self, session):
        self._save(session)

    def _save(self, session):
        self._due_at = self._clock() + (self._every_secs or 0)
        if self._step == self._saved_step:
            return
        try:
            self._writer.write(
                session, self._saver, self._step, positions=self._positions, with_graph=False
            )
            self._saved_step = self._step
        except (tf.errors.OpError, OSError, ValueError) as error:
            tf1.logging.warning(
                "the input's position at step %d could not be saved in %s: %s",
                self._step,
                self._directory,
                in_one_line(error),
            )
