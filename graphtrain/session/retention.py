"""Which checkpoints of a directory are kept: the newest few, and one of each span of hours."""

import dataclasses
import os

import tensorflow as tf

from graphtrain.session import checkpoint_files, checkpoint_state

SECS_PER_HOUR = 3600


@dataclasses.dataclass(frozen=True)
class Retention:
    """How many checkpoints are kept.

    Attributes:
      max_to_keep: int, how many of the newest; 0 keeps all.
      keep_every_n_hours: hours; one of each such span is kept for good.
    """

    max_to_keep: int = 5
    keep_every_n_hours: float = 10000

    @classmethod
    def of_saver(cls, saver):
        """Returns that of a `tf.compat.v1.train.Saver`."""
        saver_def = saver.as_saver_def()
        return cls(saver_def.max_to_keep, saver_def.keep_checkpoint_every_n_hours)


def record(directory, path, retention, *, now):
    """Names a new checkpoint in the state file as the newest, and removes those past keeping.

    However it is interrupted, the state file names all files that are there.

    Args:
      directory: str.
      path: str, the new checkpoint's path without extension.
      retention: `Retention`.
      now: seconds since the epoch, when it was saved.
    """
    newest = os.path.basename(path)
    saved = {name: time for name, time in _listed(directory).items() if name != newest}
    saved[newest] = now
    state = checkpoint_state.read(directory)
    _remove_halves(directory, state, saved)
    preserved = None if state is None else state.last_preserved
    preserved = min(saved.values()) if preserved is None else preserved
    to_remove = []
    if retention.max_to_keep:
        to_remove = list(saved)[: -retention.max_to_keep]
    if to_remove:
        # Killed amid the removal, the next save goes on with it.
        _write(directory, saved, preserved)
    for name in to_remove:
        time = saved.pop(name)
        if time - preserved >= retention.keep_every_n_hours * SECS_PER_HOUR:
            preserved = time
        else:
            checkpoint_files.remove(os.path.join(directory, name))
    _write(directory, saved, preserved)


def _remove_halves(directory, state, saved):
    """Removes what is listed but has no index: of that an interrupted removal has left the rest."""
    for path in () if state is None else state.paths:
        name = os.path.basename(path)
        if name not in saved:
            checkpoint_files.remove(os.path.join(directory, name))


def repair(directory, path):
    """Makes the state file name the checkpoint that was restored as the newest.

    It may have named one that is damaged, or been torn itself.

    Args:
      directory: str.
      path: str, the restored checkpoint's path without extension.
    """
    state = checkpoint_state.read(directory)
    name = os.path.basename(path)
    if state is not None and state.paths[-1] == name:
        return
    listed = _listed(directory)
    names = list(listed)
    if name in names:
        listed = {other: listed[other] for other in names[: names.index(name) + 1]}
    else:
        listed[name] = _saved_at(path)
    _write(directory, listed, None if state is None else state.last_preserved)


def tell(saver, directory):
    """Lists the kept checkpoints in a saver too, for whoever asks it or saves by it.

    Args:
      saver: `tf.compat.v1.train.Saver`.
      directory: str.
    """
    times = _listed(directory)
    saver.set_last_checkpoints_with_time(
        [(os.path.join(directory, name), time) for name, time in times.items()]
    )


def _listed(directory):
    """Returns a dict from the names of the checkpoints kept so far to when they were saved."""
    state = checkpoint_state.read(directory)
    times = {}
    if state is None:
        names = list(map(os.path.basename, checkpoint_files.paths_on_disk(directory)))
    else:
        names = list(map(os.path.basename, state.paths))
        times = dict(zip(names, state.timestamps, strict=False))
    paths = {name: os.path.join(directory, name) for name in names}
    return {
        name: times.get(name) or _saved_at(path)
        for name, path in paths.items()
        if checkpoint_files.exists(path)
    }


def _saved_at(path):
    return tf.io.gfile.stat(checkpoint_files.files_of(path)[0]).mtime_nsec / 1e9


def _write(directory, saved, preserved):
    state = checkpoint_state.CheckpointState(tuple(saved), tuple(saved.values()), preserved)
    checkpoint_state.write(directory, state)
