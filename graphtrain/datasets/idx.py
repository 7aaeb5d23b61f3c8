"""The idx files that MNIST and Fashion-MNIST are published as."""

import gzip
import math
import os
import pathlib
import struct

import numpy as np

from graphtrain.datasets.files import check_claim, damage_reported
from graphtrain.errors import DataError

_UNSIGNED_BYTES = 0x08
_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK_BYTES = 1 << 20


def read_idx(path):
    """Reads an idx file of unsigned bytes, compressed by gzip or not.

    The format: two zero bytes, the type (8: unsigned bytes), the number of axes, the size
    of each axis as a big-endian uint32, the values in C order. See
    http://yann.lecun.com/exdb/mnist/.

    Args:
      path: the file.

    Returns:
      A uint8 array of the shape that the header gives.

    Raises:
      DataError: the file is missing, truncated, damaged, or no idx file of bytes.

    Example:
      >>> import pathlib
      >>> _ = pathlib.Path("labels").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 5, 0, 4]))
      >>> read_idx("labels").tolist()
      [5, 0, 4]
    """
    path = pathlib.Path(path)
    with damage_reported(path), open(path, "rb") as stored:
        compressed = stored.read(2) == _GZIP_MAGIC
        stored.seek(0)
        stored_bytes = os.fstat(stored.fileno()).st_size
        content = gzip.GzipFile(fileobj=stored) if compressed else stored
        shape = _read_shape(path, content)
        size = math.prod(shape)
        check_claim(path, size, stored_bytes, compressed=compressed)
        values = bytearray()
        while len(values) <= size and (chunk := content.read(_CHUNK_BYTES)):
            values += chunk
        if len(values) != size:
            found = f"only {len(values)}" if len(values) < size else "more"
            raise DataError(
                f"{path} is truncated or damaged: its header promises {size} bytes of data, and "
                f"there are {found}"
            )
        # It may promise more axes than an array can have.
        return np.frombuffer(values, np.uint8).reshape(shape)


def _read_shape(path, content):
    magic = content.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] != _UNSIGNED_BYTES or magic[3] == 0:
        raise DataError(
            f"{path} is no idx file of unsigned bytes: it begins with {magic.hex(' ')!r}, where "
            "00 00 08 and the number of axes were expected"
        )
    axes = magic[3]
    sizes = content.read(4 * axes)
    if len(sizes) < 4 * axes:
        raise DataError(f"{path} is truncated: it ends within its header")
    return struct.unpack(f">{axes}I", sizes)
