"""A file that says that a training is over, for an evaluator, which has no connection to it."""

import contextlib
import json
import os
import time

import tensorflow as tf

tf1 = tf.compat.v1

FILE_NAME = "training_ended.json"


def announce(model_dir, global_step, reason):
    """Says that the training in a directory is over.

    Args:
      model_dir: str.
      global_step: int, the step it has come to.
      reason: str, why it ended.
    """
    path = _path(model_dir)
    # What is written at two times is not the same, so that an evaluator can tell them apart.
    said = {"global_step": global_step, "reason": reason, "time": time.time()}
    with tf.io.gfile.GFile(f"{path}.tmp", "w") as file:
        json.dump(said, file)
    tf.io.gfile.rename(f"{path}.tmp", path, overwrite=True)


def retract(model_dir):
    """Takes back what an earlier training has said, before the next begins."""
    # Where a file stands in the directory's place, whoever opens the session says so.
    with contextlib.suppress(tf.errors.NotFoundError, tf.errors.FailedPreconditionError):
        tf.io.gfile.remove(_path(model_dir))


def announced(model_dir):
    """Returns what `announce` has said, a dict, or None.

    Example:
      >>> announced("a_directory_without_a_training") is None
      True
    """
    try:
        with tf.io.gfile.GFile(_path(model_dir)) as file:
            return json.load(file)
    except (tf.errors.NotFoundError, ValueError):
        return None


def _path(model_dir):
    return os.path.join(model_dir, FILE_NAME)
