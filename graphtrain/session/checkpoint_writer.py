"""Writes checkpoints: whole or not at all, checked, listed, and the old ones pruned."""

import os
import time

import tensorflow as tf

from graphtrain.errors import DataError
from graphtrain.session import checkpoint_files, checkpoint_state, damage, retention

tf1 = tf.compat.v1

_MERGE_OPS = "graphtrain_merge_checkpoints"


class CheckpointWriter:
    """Writes the checkpoints of a directory.

    Variables, by the session's saver, and the input's positions are written beside each other,
    merged into one checkpoint and read back before anything else in the directory changes.
    It adds ops to the default graph, so it is made before the session.

    Args:
      directory: str.
      basename: str, what the checkpoints' names begin with.
    """

    def __init__(self, directory, basename=checkpoint_files.BASENAME):
        self._directory = directory
        self._basename = basename
        self._unfinished = os.path.join(directory, checkpoint_files.UNFINISHED)
        self._merge = _merge_op()

    def clean(self):
        """Removes what an interrupted save has left."""
        state = checkpoint_state.read(self._directory)
        listed = () if state is None else state.paths
        for path in checkpoint_files.leftovers(self._directory, listed):
            tf1.logging.info("removing %s, which an interrupted save has left", path)
            checkpoint_files.remove_file(path)

    def write(self, session, saver, step, *, positions=None, with_graph=True):
        """Writes a checkpoint; if it fails, those that were there before are as they were.

        Args:
          session: `tf.compat.v1.Session`.
          saver: `tf.compat.v1.train.Saver` of the variables.
          step: int, the global step.
          positions: `InputPositions`, or None to save none.
          with_graph: bool, whether the graph is written beside the checkpoint.

        Returns:
          str, the checkpoint's path without extension.

        Raises:
          DataError: what was written cannot be read.
          tf.errors.OpError, OSError, ValueError: it cannot be written.
        """
        path = os.path.join(self._directory, f"{self._basename}-{step}")
        tf.io.gfile.makedirs(self._unfinished)
        try:
            parts = [os.path.join(self._unfinished, "variables")]
            # Outside of every graph, a saver believes that it is used eagerly.
            with session.graph.as_default():
                saver.save(session, parts[0], write_meta_graph=False, write_state=False)
            if positions is not None:
                parts += positions.save(session, self._unfinished)
            self._merge_parts(session, parts, path, saver if with_graph else None)
        finally:
            checkpoint_files.remove_file(self._unfinished)
        kept = retention.Retention.of_saver(saver)
        retention.record(self._directory, path, kept, now=time.time())
        retention.tell(saver, self._directory)
        return path

    def _merge_parts(self, session, parts, path, saver_in_graph):
        # A damaged one of that name, which the run has come by again.
        checkpoint_files.remove(path)
        try:
            if saver_in_graph is not None:
                with session.graph.as_default():
                    saver_in_graph.export_meta_graph(f"{path}.meta")
            # Its index comes last: until then there is no checkpoint of this name.
            paths = dict(zip(self._merge.inputs, (parts, path), strict=True))
            session.run(self._merge, paths)
            fault = damage.fault_of(path)
            if fault is not None:
                raise DataError(f"The checkpoint {path} cannot be read back: {fault}.")
        except Exception:
            checkpoint_files.remove(path)
            raise


def _merge_op():
    """Returns the op of the default graph that merges checkpoints; it is made once."""
    graph = tf1.get_default_graph()
    made = graph.get_collection(_MERGE_OPS)
    if made:
        return made[0]
    with tf.name_scope("merge_checkpoints"), tf1.device("/cpu:0"):
        op = tf.raw_ops.MergeV2Checkpoints(
            checkpoint_prefixes=tf1.placeholder(tf.string, [None], "parts"),
            destination_prefix=tf1.placeholder(tf.string, [], "whole"),
            delete_old_dirs=False,
        )
    graph.add_to_collection(_MERGE_OPS, op)
    return op
