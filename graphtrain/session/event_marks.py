"""Marks in the event file by which a reader drops the steps that a restart makes again."""

import tensorflow as tf

tf1 = tf.compat.v1


class EventMarks(tf1.train.SessionRunHook):
    """Marks where each session starts, and leaves a whole event file at its end.

    It is the first of the hooks, so that the mark comes before what the others write.

    Args:
      output_dir: str, the directory of the event file.
    """

    def __init__(self, output_dir):
        self._output_dir = output_dir

    def begin(self):
        """Finds the global step; opens the event file."""
        self._global_step = tf1.train.get_global_step()
        self._writer = tf1.summary.FileWriterCache.get(self._output_dir)

    def after_create_session(self, session, coord):
        """Marks that what was written of later steps is void."""
        del coord
        step = int(session.run(self._global_step))
        self._writer.add_session_log(tf1.SessionLog(status=tf1.SessionLog.START), step + 1)

    def end(self, session):
        """Writes what is still in memory."""
        del session
        self._writer.flush()

    def on_error(self, error):
        """Writes what is still in memory."""
        del error
        self._writer.flush()
