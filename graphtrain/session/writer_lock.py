"""One writer for a directory: a lock file that says who trains in it."""

import contextlib
import fcntl
import json
import os
import socket

import tensorflow as tf

from graphtrain.errors import UsageError

tf1 = tf.compat.v1

FILE_NAME = "train.lock"


class WriterLock:
    """The right to write checkpoints into a directory, held by one process at a time.

    The operating system holds it and lets it go when the process dies, so that a dead owner's
    lock is taken over. A process on another machine cannot be seen to be dead.

    Args:
      directory: str; one that is not on a local or mounted file system cannot be locked.

    Example:
      >>> lock = WriterLock("run")
      >>> lock.acquire()
      >>> WriterLock("run").acquire()
      Traceback (most recent call last):
      graphtrain.errors.UsageError: run is being written to by process ... on ..., ...
      >>> lock.release()
    """

    def __init__(self, directory):
        self._directory = directory
        self._path = os.path.join(directory, FILE_NAME)
        self._file = None

    def acquire(self):
        """Takes the lock.

        Raises:
          UsageError: another process trains in the directory, or the directory cannot be
            written to.
        """
        if "://" in self._directory or self._file is not None:
            return
        try:
            os.makedirs(self._directory, exist_ok=True)
            file = self._locked_file()
        except OSError as error:
            raise UsageError(f"{self._directory} cannot be written to: {error.strerror}") from error
        owner = _owner(file)
        if owner is not None:
            if owner["host"] != socket.gethostname():
                self._refuse(file)
            tf1.logging.info("taking over %s, whose process %s is dead", self._path, owner["pid"])
        file.seek(0)
        file.truncate()
        json.dump({"pid": os.getpid(), "host": socket.gethostname()}, file)
        file.flush()
        self._file = file

    def release(self):
        """Gives the lock back, if it is held."""
        if self._file is None:
            return
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._path)
        self._file.close()
        self._file = None

    def _locked_file(self):
        """Opens and locks the file; not one that its owner removes at this moment."""
        while True:
            file = open(self._path, "a+", encoding="utf-8")  # noqa: SIM115 (open as long as held)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._refuse(file)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), os.stat(self._path)):
                    return file
            file.close()

    def _refuse(self, file):
        owner = _owner(file) or {"pid": "unknown", "host": "another machine"}
        file.close()
        raise UsageError(
            f"{self._directory} is being written to by process {owner['pid']} on "
            f"{owner['host']}, and two would spoil each other's checkpoints: wait for it, end it, "
            "or use another directory. If it no longer exists, remove "
            f"{self._path}, or set single_writer=False."
        )


def _owner(file):
    file.seek(0)
    try:
        owner = json.load(file)
    except ValueError:
        return None
    return owner if isinstance(owner, dict) and {"pid", "host"} <= owner.keys() else None
