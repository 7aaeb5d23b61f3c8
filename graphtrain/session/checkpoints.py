"""Checkpoints of a directory: how they are saved, and which one is the newest."""

import os

import tensorflow as tf

from graphtrain.errors import DataError

tf1 = tf.compat.v1


def make_saver(*, max_to_keep=5, keep_every_n_hours=10000):
    """Returns a saver of all saveable variables, whose state file holds relative paths.

    Relative paths let a directory be moved or copied.

    Args:
      max_to_keep: int, how many of the newest checkpoints are kept; None or 0 keeps all.
      keep_every_n_hours: hours > 0; one checkpoint of each such span is kept for good.

    Returns:
      `tf.compat.v1.train.Saver`, which builds its ops when the graph is finalized.
    """
    return tf1.train.Saver(
        sharded=True,
        max_to_keep=max_to_keep,
        keep_checkpoint_every_n_hours=keep_every_n_hours,
        defer_build=True,
        allow_empty=True,
        save_relative_paths=True,
    )


def use_own_saver(scaffold, **settings):
    """Makes ours the saver of a scaffold, unless its owner chose one.

    Args:
      scaffold: `tf.compat.v1.train.Scaffold`, not yet finalized.
      **settings: see `make_saver`.
    """
    if scaffold.saver is None and not tf1.get_collection(tf1.GraphKeys.SAVERS):
        tf1.add_to_collection(tf1.GraphKeys.SAVERS, make_saver(**settings))


def add_listeners(saver_hook, listeners):
    """Adds listeners to a `CheckpointSaverHook` that its owner has already made.

    TensorFlow takes listeners in the constructor only; nothing public adds one later.

    Args:
      saver_hook: `tf.compat.v1.train.CheckpointSaverHook`.
      listeners: iterable of `tf.compat.v1.train.CheckpointSaverListener`.
    """
    known = saver_hook._listeners
    known.extend(listener for listener in listeners if listener not in known)


def newest(directory):
    """Returns the newest checkpoint of a directory.

    Args:
      directory: str, the directory that holds the `checkpoint` state file.

    Returns:
      str, the path without extension that a saver restores from, or None if the directory has
      no checkpoint.

    Raises:
      DataError: the state file names checkpoints, but the directory holds none of them.

    Example:
      >>> newest("a_directory_without_checkpoints") is None
      True
    """
    named = _named_in_state_file(directory)
    if not named:
        return None
    kept = [path for path in named if exists(path)]
    if not kept:
        raise DataError(
            f"The file {os.path.join(directory, 'checkpoint')} names {named[-1]} as the newest "
            "checkpoint, but it is not there, nor is an older one: put the files back, or remove "
            "that file to start anew."
        )
    if kept[-1] != named[-1]:
        tf1.logging.warning("checkpoint %s is missing, using %s", named[-1], kept[-1])
    return kept[-1]


def kept(directory):
    """Returns the checkpoints that a directory holds, oldest first.

    Args:
      directory: str, the directory that holds the `checkpoint` state file.

    Returns:
      List of str, as `newest` returns.
    """
    return [path for path in _named_in_state_file(directory) if exists(path)]


def exists(path):
    """Says whether a checkpoint is there, given its path without extension."""
    return tf.io.gfile.exists(f"{path}.index") or tf.io.gfile.exists(path)


def global_step_of(path):
    """Returns the global step that a checkpoint was saved at.

    Args:
      path: str, the checkpoint's path without extension.

    Returns:
      int; 0 if the checkpoint holds no global step.
    """
    reader = tf.train.load_checkpoint(path)
    return int(reader.get_tensor("global_step")) if reader.has_tensor("global_step") else 0


def _named_in_state_file(directory):
    state = tf1.train.get_checkpoint_state(directory)
    if state is None or not state.model_checkpoint_path:
        return []
    paths = [_inside(directory, path) for path in state.all_model_checkpoint_paths]
    latest = _inside(directory, state.model_checkpoint_path)
    return [path for path in paths if path != latest] + [latest]


def _inside(directory, path):
    """Maps a path that a moved or copied state file still holds to the file in `directory`."""
    if _is_same_directory(os.path.dirname(path), directory):
        return path
    own = os.path.join(directory, os.path.basename(path))
    if not exists(own):
        return path
    tf1.logging.warning(
        "the checkpoint file in %s names %s, which is in another directory: using %s",
        directory,
        path,
        own,
    )
    return own


def _is_same_directory(one, other):
    return os.path.normpath(one) == os.path.normpath(other) or (
        os.path.realpath(one) == os.path.realpath(other)
    )
