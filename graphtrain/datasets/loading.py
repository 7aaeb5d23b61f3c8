"""Data sets by name: the embedded sample, MNIST and Fashion-MNIST."""

import importlib.resources
import pathlib

from graphtrain import checks
from graphtrain.datasets.idx import read_idx
from graphtrain.datasets.image_data import checked_data
from graphtrain.datasets.npz import read_npz
from graphtrain.errors import DataError, UsageError

SAMPLE = "sample"
NAMES = (SAMPLE, "mnist", "fashion_mnist")

_NPZ_ARRAYS = ("x_train", "y_train", "x_test", "y_test")
_IDX_FILES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)


def load(name, data_dir=None):
    """Loads a data set of images.

    Args:
      name: "sample": the first 6,000 training and 1,000 test images of MNIST, embedded in
        this package; "mnist"; or "fashion_mnist".
      data_dir: the directory that holds the four idx files (train-images-idx3-ubyte and so
        on, as they are or as .gz), or `<name>.npz` with the arrays x_train, y_train,
        x_test and y_test, as Keras keeps it. None takes Keras's copy in ~/.keras, which
        is downloaded if it is not there. The sample has none.

    Returns:
      An `ImageData`.

    Raises:
      UsageError: there is no data set of that name, or the sample is given a data_dir.
      DataError: a file is missing, damaged or not what it should be, or the download failed.

    Example:
      >>> load("sample").train_labels[:8].tolist()
      [5, 0, 4, 1, 9, 2, 1, 3]
    """
    checks.one_of("data", name, NAMES)
    if name == SAMPLE:
        if data_dir is not None:
            raise UsageError(
                f"data_dir={str(data_dir)!r} cannot be used with 'sample', which is embedded: "
                "leave it out, or choose 'mnist' or 'fashion_mnist'"
            )
        package = importlib.resources.files("graphtrain.datasets")
        with importlib.resources.as_file(package / "mnist_sample.npz") as path:
            return _load_npz(name, path)
    if data_dir is None:
        return _load_from_keras(name)
    directory = pathlib.Path(data_dir).expanduser()
    npz = directory / f"{name}.npz"
    found = [_find_idx(directory, file_name) for file_name in _IDX_FILES]
    if npz.is_file() and not all(found):
        return _load_npz(name, npz)
    missing = [file_name for file_name, path in zip(_IDX_FILES, found, strict=True) if not path]
    if missing:
        raise DataError(
            f"{directory} has neither {npz.name} nor all idx files: there is no "
            f"{', no '.join(missing)} (nor as .gz)"
        )
    return checked_data(name, [read_idx(path) for path in found], found)


def _load_npz(name, path):
    arrays = read_npz(path, _NPZ_ARRAYS)
    return checked_data(
        name, [arrays[key] for key in _NPZ_ARRAYS], [f"{path} ({key})" for key in _NPZ_ARRAYS]
    )


def _find_idx(directory, name):
    """The file of that name, also as some tools unpack it (`-idx3` as `.idx3`), or None."""
    for spelling in (name, name.replace("-idx", ".idx")):
        for suffix in ("", ".gz"):
            if (directory / (spelling + suffix)).is_file():
                return directory / (spelling + suffix)
    return None


def _load_from_keras(name):
    # Keras takes seconds to import, and is needed for nothing else.
    import tensorflow as tf

    try:
        train, test = getattr(tf.keras.datasets, name).load_data()
    except Exception as error:  # Keras raises a bare Exception when a download fails.
        reason = " ".join(str(error).split())
        raise DataError(
            f"{name} could not be had from Keras ({reason}): put its files in a directory and "
            "give that as data_dir"
        ) from error
    return checked_data(name, [*train, *test], [f"Keras's copy of {name}"] * 4)
