"""The files of a directory's checkpoints: which there are, and which are leftovers."""

import contextlib
import os
import re

import tensorflow as tf

BASENAME = "model.ckpt"
UNFINISHED = "unfinished_save"

_PART = re.compile(r"(?P<prefix>.+)\.(index|meta|data-\d{5}-of-\d{5})")
_LEFTOVER = re.compile(
    r"(checkpoint|graph\.pbtxt)\.tmp\w+|.+\.(index|data-\d{5}-of-\d{5})\.tempstate\d+"
    rf"|{UNFINISHED}|.+-\d+_temp"
)


def paths_on_disk(directory):
    """Returns the checkpoints of a directory by their index files, whatever the state file says.

    Args:
      directory: str.

    Returns:
      List of str, paths without extension in the order of their global steps. If some are named
      `model.ckpt-STEP`, as sessions and Estimators do, others are left out.

    Example:
      >>> paths_on_disk("a_directory_without_checkpoints")
      []
    """
    names = [name[: -len(".index")] for name in _listed(directory) if name.endswith(".index")]
    names = [name for name in names if step_in_name(name) is not None]
    usual = [name for name in names if name.rpartition("-")[0] == BASENAME]
    return [os.path.join(directory, name) for name in sorted(usual or names, key=step_in_name)]


def step_in_name(path):
    """Returns the global step that a checkpoint's path ends with, or None."""
    step = path.rpartition("-")[2]
    return int(step) if step.isdecimal() else None


def exists(path):
    """Says whether a checkpoint is there, given its path without extension."""
    return tf.io.gfile.exists(f"{path}.index") or tf.io.gfile.exists(path)


def files_of(path):
    """Returns the files of a checkpoint: its index first, so that removing begins with it.

    Args:
      path: str, the checkpoint's path without extension.

    Returns:
      List of str.
    """
    directory, name = os.path.split(path)
    parts = [part.string for part in map(_PART.fullmatch, _listed(directory)) if _is_of(part, name)]
    parts.sort(key=lambda part: not part.endswith(".index"))
    return [os.path.join(directory, part) for part in parts]


def remove(path):
    """Removes a checkpoint's files, as far as they are there."""
    for file in files_of(path):
        remove_file(file)


def remove_file(path):
    """Removes a file or a directory with all that is in it, if it is there."""
    with contextlib.suppress(tf.errors.NotFoundError):
        (tf.io.gfile.rmtree if tf.io.gfile.isdir(path) else tf.io.gfile.remove)(path)


def leftovers(directory, listed):
    """Returns what saves that were interrupted have left in a directory.

    Args:
      directory: str.
      listed: checkpoints that the state file names, paths without extension: their files are
        none, even where the index is missing.

    Returns:
      List of str, files and directories.
    """
    names = _listed(directory)
    complete = {name[: -len(".index")] for name in names if name.endswith(".index")}
    known = complete | {os.path.basename(path) for path in listed}
    return [os.path.join(directory, name) for name in names if _is_leftover(name, known)]


def _is_leftover(name, known):
    if _LEFTOVER.fullmatch(name.rstrip("/")):
        return True
    part = _PART.fullmatch(name)
    if part is None or part["prefix"] in known:
        return False
    basename, _, step = part["prefix"].rpartition("-")
    return basename == BASENAME and step.isdecimal()


def _is_of(part, name):
    return part is not None and part["prefix"] == name


def _listed(directory):
    try:
        return tf.io.gfile.listdir(directory or ".")
    except (tf.errors.NotFoundError, tf.errors.FailedPreconditionError):
        # The second is a directory's name that is a file's.
        return []
