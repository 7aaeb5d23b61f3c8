"""Images without labels, from whatever file they are in."""

import pathlib
import struct

import tensorflow as tf

from graphtrain.datasets.files import damage_reported
from graphtrain.datasets.idx import read_idx
from graphtrain.datasets.image_data import IMAGE_SHAPE, checked_images
from graphtrain.datasets.npz import read_npz
from graphtrain.errors import DataError

tf1 = tf.compat.v1

_PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
_ZIP_MAGIC = b"PK"
_IDX_MAGICS = (b"\x1f\x8b", b"\0\0")
_NPZ_NAMES = ("images", "image", "x", "x_test")


def read_images(path):
    """Reads images from an npz, idx (gz or not) or PNG file, told apart by their content.

    Args:
      path: the file. An npz file holds one array, or one named `images`, `image`, `x` or
        `x_test`. A PNG file holds one image; colours become grey.

    Returns:
      uint8 [n, 28, 28]; n is 1 for a PNG file.

    Raises:
      DataError: the file is missing, damaged, of another kind, or holds no such images.

    Example:
      >>> np.savez("digits.npz", images=np.zeros([5, 28, 28], np.uint8))
      >>> read_images("digits.npz").shape
      (5, 28, 28)
    """
    path = pathlib.Path(path)
    with damage_reported(path), open(path, "rb") as file:
        start = file.read(24)
    if start.startswith(_PNG_MAGIC):
        return _read_png(path, start)
    if start.startswith(_ZIP_MAGIC):
        return _read_npz_images(path)
    if start.startswith(_IDX_MAGICS):
        return checked_images(read_idx(path), path)
    raise DataError(f"{path} is no npz, idx or PNG file: it begins with {start[:4].hex(' ')!r}")


def _read_png(path, start):
    if len(start) < 24:
        raise DataError(f"{path} is truncated: it ends within its header")
    # Before decoding: a header may claim a size that no memory can hold.
    width, height = struct.unpack(">II", start[16:24])
    if (height, width) != IMAGE_SHAPE:
        raise DataError(
            f"{path} is {width} pixels wide and {height} high: scale it to 28 by 28 first"
        )
    try:
        with tf.Graph().as_default(), tf1.Session() as session:
            image = session.run(tf.io.decode_png(path.read_bytes(), channels=1))
    except tf.errors.InvalidArgumentError as error:
        raise DataError(f"{path} is a damaged PNG file: it cannot be decoded") from error
    return checked_images(image[None], path)


def _read_npz_images(path):
    arrays = read_npz(path)
    names = list(arrays) if len(arrays) == 1 else [name for name in _NPZ_NAMES if name in arrays]
    if not names:
        raise DataError(
            f"{path} has several arrays, {sorted(arrays)}: name the images 'images', or save "
            "nothing else"
        )
    images = arrays[names[0]]
    return checked_images(images[None] if images.ndim == 2 else images, f"{path} ({names[0]})")
