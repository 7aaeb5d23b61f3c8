"""Whether a checkpoint can be read: every tensor of it, checksums included."""

import functools
import os

import tensorflow as tf

from graphtrain.session import checkpoint_files
from graphtrain.session.error_text import in_one_line

tf1 = tf.compat.v1


def fault_of(path):
    """Says what is wrong with a checkpoint.

    Every tensor is read, which compares its checksum. A checkpoint whose files have not changed
    since is not read again.

    Args:
      path: str, the checkpoint's path without extension.

    Returns:
      str, what is wrong; None if the checkpoint is good.

    Example:
      >>> fault_of("model.ckpt-5")
      'model.ckpt-5.index is missing'
    """
    if not checkpoint_files.exists(path):
        return f"{os.path.basename(path)}.index is missing"
    try:
        return _fault(path, _marks_of_files(path))
    except (tf.errors.OpError, OSError) as error:
        return in_one_line(error)


@functools.lru_cache(maxsize=64)
def _fault(path, marks_of_files):
    del marks_of_files  # They are part of the cache's key.
    try:
        reader = tf.train.load_checkpoint(path)
        opaque = []
        for name, dtype in reader.get_variable_to_dtype_map().items():
            if dtype == tf.variant:
                opaque.append(name)
            else:
                reader.get_tensor(name)
        if opaque:
            _read_variants(path, opaque)
    # TensorFlow tells of damage by about every error it has: a short file, for example, is an
    # OutOfRangeError, which elsewhere is the end of the data.
    except Exception as error:
        return in_one_line(error)
    return None


def _marks_of_files(path):
    files = checkpoint_files.files_of(path) or [path]
    return tuple((file, *_mark(tf.io.gfile.stat(file))) for file in files)


def _mark(stat):
    return stat.length, stat.mtime_nsec


def _read_variants(path, names):
    """Reads tensors that numpy has no type for, such as positions of input."""
    with tf.Graph().as_default(), tf1.Session() as session:
        tensors = tf.raw_ops.RestoreV2(
            prefix=path,
            tensor_names=names,
            shape_and_slices=[""] * len(names),
            dtypes=[tf.variant] * len(names),
        )
        session.run(tensors[0].op)
