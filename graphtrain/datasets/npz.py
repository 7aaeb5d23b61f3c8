"""Arrays in npz files (`numpy.savez`), read without pickle."""

import math
import pathlib
import zipfile

import numpy as np

from graphtrain.datasets.files import check_claim, damage_reported
from graphtrain.errors import DataError

_HEADER_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_npz(path, names=None):
    """Reads arrays from an npz file.

    Args:
      path: the file.
      names: the names of the arrays wanted; None means all there are.

    Returns:
      A dict of name to array.

    Raises:
      DataError: the file is missing, damaged or no npz file, an array is missing, or it
        holds Python objects, which only pickle could read: pickle runs what a file says.

    Example:
      >>> np.savez("arrays.npz", x=np.arange(3))
      >>> read_npz("arrays.npz", ["x"])["x"].tolist()
      [0, 1, 2]
    """
    path = pathlib.Path(path)
    with damage_reported(path), open(path, "rb") as stored:
        if not zipfile.is_zipfile(stored):
            raise DataError(f"{path} is no npz file, or a damaged one: it is no zip archive")
        with zipfile.ZipFile(stored) as archive:
            members = {
                member.filename.removesuffix(".npy"): member for member in archive.infolist()
            }
            wanted = list(members) if names is None else list(names)
            missing = [name for name in wanted if name not in members]
            if missing:
                raise DataError(f"{path} has no arrays {missing}: it has {sorted(members)}")
            return {name: _read_member(path, archive, members[name]) for name in wanted}


def _read_member(path, archive, member):
    stored_bytes = min(member.compress_size, path.stat().st_size)
    with archive.open(member) as content:
        version = np.lib.format.read_magic(content)
        if version not in _HEADER_READERS:
            raise DataError(f"{path} holds {member.filename} in an unknown format {version}")
        shape, _, dtype = _HEADER_READERS[version](content)
        if dtype.hasobject:
            raise DataError(
                f"{path} holds Python objects in {member.filename}, which are not read: save "
                "arrays of numbers"
            )
        claimed_bytes = math.prod(shape) * dtype.itemsize
        check_claim(path, claimed_bytes, stored_bytes, compressed=True)
        if content.tell() + claimed_bytes != member.file_size:
            raise DataError(
                f"{path} is damaged: {member.filename} has {member.file_size} bytes, which do "
                f"not fit its shape {shape} of {dtype}"
            )
    with archive.open(member) as content:
        return np.lib.format.read_array(content, allow_pickle=False)
