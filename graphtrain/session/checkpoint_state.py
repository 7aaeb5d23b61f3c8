"""The state file `checkpoint`, which names the checkpoints of a directory.

It is read however torn it is, and replaced as a whole. Its format is TensorFlow's own, so that
TensorFlow reads it too.
"""

import dataclasses
import os
import re

import tensorflow as tf

FILE_NAME = "checkpoint"

_LINE = re.compile(r'(\w+): (?:"((?:[^"\\]|\\.)*)"|([\d.e+]+))')
_LATEST, _ALL = "model_checkpoint_path", "all_model_checkpoint_paths"
_TIMES, _PRESERVED = "all_model_checkpoint_timestamps", "last_preserved_timestamp"


@dataclasses.dataclass(frozen=True)
class CheckpointState:
    """What the file says.

    Attributes:
      paths: tuple of str, the checkpoints from the oldest to the newest, without extension; a
        relative path is relative to the directory.
      timestamps: tuple of float, when each was saved, in seconds since the epoch; empty if the
        file does not say.
      last_preserved: float, when the last checkpoint that is kept for good was saved, or None.
    """

    paths: tuple
    timestamps: tuple = ()
    last_preserved: float | None = None


def read(directory):
    """Reads the file of a directory.

    Args:
      directory: str.

    Returns:
      A `CheckpointState`; None if there is no such file, or it is empty, torn or garbled.

    Example:
      >>> write(".", CheckpointState(("model.ckpt-5", "model.ckpt-10")))
      >>> read(".").paths
      ('model.ckpt-5', 'model.ckpt-10')
    """
    lines = _lines(os.path.join(directory, FILE_NAME))
    values = {name: [] for name in (_LATEST, _ALL, _TIMES, _PRESERVED)}
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        name, text, number = match.groups()
        values.setdefault(name, []).append(float(number) if text is None else _unescaped(text))
    if not values[_LATEST] or not values[_LATEST][-1]:
        return None
    latest = values[_LATEST][-1]
    listed = values[_ALL]
    times = values[_TIMES] if len(values[_TIMES]) == len(listed) else []
    if listed and listed[-1] != latest:
        # Somebody has chosen an older one by hand: it is the newest now.
        listed, times = [path for path in listed if path != latest] + [latest], []
    preserved = values[_PRESERVED]
    return CheckpointState(
        tuple(listed or [latest]), tuple(times), preserved[-1] if preserved else None
    )


def write(directory, state):
    """Replaces the file of a directory; whoever reads it finds the old one or the new one whole.

    Args:
      directory: str.
      state: `CheckpointState` with one path or more.

    Raises:
      tf.errors.OpError: it cannot be written.
    """
    lines = [f'{_LATEST}: "{_escaped(state.paths[-1])}"']
    lines += [f'{_ALL}: "{_escaped(path)}"' for path in state.paths]
    lines += [f"{_TIMES}: {time!r}" for time in state.timestamps]
    if state.last_preserved is not None:
        lines.append(f"{_PRESERVED}: {state.last_preserved!r}")
    path = os.path.join(directory, FILE_NAME)
    unfinished = f"{path}.tmp{os.getpid()}"
    with tf.io.gfile.GFile(unfinished, "w") as file:
        file.write("".join(f"{line}\n" for line in lines))
    tf.io.gfile.rename(unfinished, path, overwrite=True)


def _lines(path):
    try:
        with tf.io.gfile.GFile(path, "rb") as file:
            return file.read().decode(errors="replace").splitlines()
    except (tf.errors.NotFoundError, tf.errors.FailedPreconditionError):
        # The second is a directory's name that is a file's.
        return []


def _escaped(text):
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _unescaped(text):
    # TensorFlow writes each byte beyond ASCII as an octal escape.
    escapes = re.sub(r"[^\x00-\x7f]", lambda match: _octal(match[0]), text)
    return escapes.encode().decode("unicode_escape").encode("latin1").decode(errors="replace")


def _octal(character):
    return "".join(f"\\{byte:03o}" for byte in character.encode())
