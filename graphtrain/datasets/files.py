"""What the readers of data files share: opening, and not believing what a file says of itself."""

import contextlib
import gzip
import zipfile
import zlib

from graphtrain.errors import DataError

# The most that deflate can shrink anything; so the most that a compressed file can hold.
_DEFLATE_LIMIT = 1032


@contextlib.contextmanager
def damage_reported(path):
    """Turns what Python raises for a missing or damaged file into one clear line.

    Args:
      path: the file that is read within the context.

    Raises:
      DataError: the file is missing, may not be read, or is damaged.

    Example:
      >>> with damage_reported("no-such-file"):
      ...     open("no-such-file")
      Traceback (most recent call last):
      graphtrain.errors.DataError: no-such-file cannot be read: No such file or directory
    """
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} is damaged: {_first_line(error)}") from error
    except (OSError, NotImplementedError, RuntimeError) as error:
        # zipfile raises the last two for compression and encryption it does not know.
        reason = getattr(error, "strerror", None) or _first_line(error)
        raise DataError(f"{path} cannot be read: {reason}") from error


def check_claim(path, claimed_bytes, stored_bytes, *, compressed):
    """Refuses a file whose header promises more than the file can hold.

    It comes before memory is set aside, which a damaged header could ask any amount of.

    Args:
      path: the file, for the message.
      claimed_bytes: how much the header says follows.
      stored_bytes: how much the file holds.
      compressed: whether what it holds is compressed.

    Raises:
      DataError: that cannot be.

    Example:
      >>> check_claim("images.gz", 10**12, 10**6, compressed=True)
      Traceback (most recent call last):
      graphtrain.errors.DataError: images.gz is truncated or damaged: its header promises \
1000000000000 bytes of data, more than its 1000000 bytes can hold
    """
    if claimed_bytes > stored_bytes * (_DEFLATE_LIMIT if compressed else 1):
        raise DataError(
            f"{path} is truncated or damaged: its header promises {claimed_bytes} bytes of "
            f"data, more than its {stored_bytes} bytes can hold"
        )


def _first_line(error):
    return (str(error) or type(error).__name__).splitlines()[0]
