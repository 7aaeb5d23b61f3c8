"""Checkpoints of a directory: how they are saved, and which one is the newest."""

import functools
import os

import tensorflow as tf

from graphtrain.errors import DataError
from graphtrain.session import checkpoint_files, checkpoint_state, damage

tf1 = tf.compat.v1


def make_saver(*, max_to_keep=5, keep_every_n_hours=10000, sharded=True):
    """Returns a saver of all saveable variables, whose state file holds relative paths.

    Relative paths let a directory be moved or copied.

    Args:
      max_to_keep: int, how many of the newest checkpoints are kept; None or 0 keeps all.
      keep_every_n_hours: hours > 0; one checkpoint of each such span is kept for good.
      sharded: whether each device writes and reads the variables that it holds; if not, the
        session's own process does, and no other needs the directory.

    Returns:
      `tf.compat.v1.train.Saver`, which builds its ops when the graph is finalized.
    """
    return tf1.train.Saver(
        sharded=sharded,
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
    """Returns the newest checkpoint of a directory that can be read.

    What is missing or damaged is passed over with a warning. If the state file is missing or
    torn, the checkpoints are found by their index files.

    Args:
      directory: str.

    Returns:
      str, the path without extension that a saver restores from, or None if the directory has
      no checkpoint.

    Raises:
      DataError: the directory has, or had, checkpoints past step 0, but none can be read.

    Example:
      >>> newest("a_directory_without_checkpoints") is None
      True
    """
    faults = {}
    for path in reversed(_candidates(directory)):
        fault = damage.fault_of(path)
        if fault is None:
            _warn_of(directory, tuple(faults.items()), path)
            return path
        faults[path] = fault
    if any(checkpoint_files.step_in_name(path) != 0 for path in faults):
        raise DataError(
            f"No checkpoint in {directory} can be read: {_listing(faults.items())}. Put the files "
            "back, or remove them and the file 'checkpoint' to start anew."
        )
    # Only the save before the first step was interrupted: there is nothing to lose.
    _warn_of(directory, tuple(faults.items()), None)
    return None


def kept(directory):
    """Returns the checkpoints that a directory holds and lists, oldest first.

    Args:
      directory: str, the directory that holds the `checkpoint` state file.

    Returns:
      List of str, as `newest` returns.
    """
    return [path for path in _named(directory) if checkpoint_files.exists(path)]


def global_step_of(path):
    """Returns the global step that a checkpoint was saved at.

    Args:
      path: str, the checkpoint's path without extension.

    Returns:
      int; 0 if the checkpoint holds no global step.
    """
    reader = tf.train.load_checkpoint(path)
    return int(reader.get_tensor("global_step")) if reader.has_tensor("global_step") else 0


def _candidates(directory):
    """Returns what may be restored, the best last: first of all what the state file names."""
    named = _named(directory)
    return [path for path in checkpoint_files.paths_on_disk(directory) if path not in named] + named


def _named(directory):
    state = checkpoint_state.read(directory)
    if state is not None:
        return [_inside(directory, path) for path in state.paths]
    on_disk = checkpoint_files.paths_on_disk(directory)
    if on_disk:
        _warn_of_state_file(directory, on_disk[-1])
    return on_disk


# The same trouble is met again by whoever asks next in this process: once is enough.
@functools.lru_cache(maxsize=64)
def _warn_of(directory, faults, path):
    if faults:
        instead = "starting at step 0" if path is None else f"using {path}"
        tf1.logging.warning("%s cannot be read in %s: %s", _listing(faults), directory, instead)


@functools.lru_cache(maxsize=64)
def _warn_of_state_file(directory, path):
    tf1.logging.warning(
        "%s is missing or damaged: the newest checkpoint by the index files is %s",
        os.path.join(directory, checkpoint_state.FILE_NAME),
        path,
    )


def _listing(faults):
    return ", ".join(f"{os.path.basename(path)} ({fault})" for path, fault in faults)


def _inside(directory, path):
    """Maps a path that a moved or copied state file still holds to the file in `directory`."""
    own = os.path.join(directory, os.path.basename(path))
    if os.path.isabs(path) and not _is_same_directory(os.path.dirname(path), directory):
        _warn_of_other_directory(directory, path, own)
    return own


@functools.lru_cache(maxsize=64)
def _warn_of_other_directory(directory, path, own):
    tf1.logging.warning(
        "the checkpoint file in %s names %s, which is in another directory: using %s",
        directory,
        path,
        own,
    )


def _is_same_directory(one, other):
    return os.path.normpath(one) == os.path.normpath(other) or (
        os.path.realpath(one) == os.path.realpath(other)
    )
