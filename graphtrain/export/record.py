"""What an exporter has exported so far: a file beside its exports, so that restarts know."""

import json
import os

import numpy as np
import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import DataError

_FILE = "exports.json"


class ExportRecord:
    """The exports of one exporter, and the evaluation of the best one.

    Args:
      directory: str, where the exporter puts its exports.

    Raises:
      DataError: the directory's record cannot be read.
    """

    def __init__(self, directory):
        self._directory = directory
        self._path = os.path.join(directory, _FILE)
        content = _read(self._path)
        self._exports = content.get("exports", [])
        self._best = content.get("best_eval_result")

    @property
    def best(self):
        """The evaluation of the best export, a dict of metric name to number, or None."""
        return self._best

    def export_of(self, checkpoint_path):
        """Returns the directory of the newest export if it is of this very checkpoint, or None.

        Args:
          checkpoint_path: str, the checkpoint's path without extension.
        """
        checkpoint = _identity(checkpoint_path)
        if checkpoint is None or not self._exports:
            return None
        last = self._exports[-1]
        if last["checkpoint"] != checkpoint or not self._is_there(last):
            return None
        return os.path.join(self._directory, last["directory"])

    def add(self, export_dir, checkpoint_path, eval_result=None):
        """Records an export, in the file too.

        Args:
          export_dir: str, its directory, in that of the exporter.
          checkpoint_path: str, what was exported.
          eval_result: dict of metric name to value: the best so far. None if not known.
        """
        name = os.path.basename(export_dir)
        self._exports.append({"directory": name, "checkpoint": _identity(checkpoint_path)})
        if eval_result is not None:
            self._best = _numbers(eval_result)
        self._write()

    def keep(self, count):
        """Removes all but the newest `count` exports; what others put there stays.

        Args:
          count: int >= 1, or None to keep all.
        """
        if count is None:
            return
        for export in self._exports[:-count]:
            if self._is_there(export):
                tf.io.gfile.rmtree(os.path.join(self._directory, export["directory"]))
        self._exports = self._exports[-count:]
        self._write()

    def _is_there(self, export):
        return tf.io.gfile.isdir(os.path.join(self._directory, export["directory"]))

    def _write(self):
        content = {"exports": self._exports, "best_eval_result": self._best}
        unfinished = f"{self._path}.tmp"
        with tf.io.gfile.GFile(unfinished, "w") as file:
            file.write(json.dumps(content, indent=1) + "\n")
        tf.io.gfile.rename(unfinished, self._path, overwrite=True)


def checked_exports_to_keep(exports_to_keep):
    """Returns a number of exports to keep, or None to keep all; else a UsageError says why."""
    if exports_to_keep is None:
        return None
    return checks.whole("exports_to_keep", exports_to_keep)


def _read(path):
    if not tf.io.gfile.exists(path):
        return {}
    with tf.io.gfile.GFile(path) as file:
        text = file.read()
    try:
        return dict(json.loads(text))
    except (ValueError, TypeError) as error:
        raise DataError(
            f"The record of exports {path} cannot be read ({error}): put it back, or remove it to "
            "forget which exports there are and which is the best."
        ) from error


def _identity(checkpoint_path):
    """What tells a checkpoint from one that was written later under the same name."""
    index = f"{checkpoint_path}.index"
    if not tf.io.gfile.exists(index):
        return None
    return f"{checkpoint_path} {tf.io.gfile.stat(index).mtime_nsec}"


def _numbers(eval_result):
    """The values that JSON can hold; a text or an image is nothing to compare by."""
    arrays = {name: np.asarray(value) for name, value in eval_result.items()}
    return {
        name: array.tolist()
        for name, array in arrays.items()
        if np.issubdtype(array.dtype, np.number) or array.dtype == bool
    }
