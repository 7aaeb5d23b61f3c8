import gzip
import struct

import numpy as np
import pytest
import tensorflow as tf

from graphtrain import datasets
from graphtrain.errors import DataError, UsageError

IDX_NAMES = {
    "train_images": "train-images-idx3-ubyte",
    "train_labels": "train-labels-idx1-ubyte",
    "test_images": "t10k-images-idx3-ubyte",
    "test_labels": "t10k-labels-idx1-ubyte",
}
KERAS_NAMES = {
    "train_images": "x_train",
    "train_labels": "y_train",
    "test_images": "x_test",
    "test_labels": "y_test",
}


@pytest.fixture(scope="module")
def sample():
    """A few images and labels of the embedded sample, as the published files hold them."""
    data = datasets.load("sample")
    return {
        "train_images": data.train_images[:50],
        "train_labels": data.train_labels[:50].astype(np.uint8),
        "test_images": data.test_images[:20],
        "test_labels": data.test_labels[:20].astype(np.uint8),
    }


def idx_bytes(values):
    shape = struct.pack(f">{values.ndim}I", *values.shape)
    return bytes([0, 0, 8, values.ndim]) + shape + values.tobytes()


def write_idx(directory, arrays, *, dotted=False, zipped=False):
    for key, values in arrays.items():
        name = IDX_NAMES[key].replace("-idx", ".idx") if dotted else IDX_NAMES[key]
        content = idx_bytes(values)
        if zipped:
            name, content = name + ".gz", gzip.compress(content)
        (directory / name).write_bytes(content)


def write_npz(path, arrays):
    np.savez_compressed(path, **{KERAS_NAMES[key]: values for key, values in arrays.items()})


def check(data, name, arrays):
    assert data.name == name
    for key, values in arrays.items():
        np.testing.assert_array_equal(getattr(data, key), values)
    assert data.train_images.dtype == data.test_images.dtype == np.uint8
    assert data.train_labels.dtype == data.test_labels.dtype == np.int64


def refusal(name, data_dir):
    with pytest.raises(DataError) as error:
        datasets.load(name, data_dir)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_the_embedded_sample():
    data = datasets.load("sample")
    assert data.train_images.shape == (6000, 28, 28)
    assert data.test_images.shape == (1000, 28, 28)
    assert data.test_labels[:8].tolist() == [7, 2, 1, 0, 4, 1, 4, 9]
    assert np.bincount(data.train_labels).tolist() == [
        592, 671, 581, 608, 623, 514, 608, 651, 551, 601,
    ]  # fmt: skip


@pytest.mark.parametrize("dotted", [False, True], ids=["dash", "dot"])
@pytest.mark.parametrize("zipped", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_idx_files(tmp_path, sample, name, dotted, zipped):
    write_idx(tmp_path, sample, dotted=dotted, zipped=zipped)
    check(datasets.load(name, str(tmp_path)), name, sample)


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_kerass_npz(tmp_path, sample, name):
    write_npz(tmp_path / f"{name}.npz", sample)
    check(datasets.load(name, tmp_path), name, sample)


def test_each_data_set_has_an_npz_of_its_own(tmp_path, sample):
    write_npz(tmp_path / "mnist.npz", sample)
    assert "has neither fashion_mnist.npz nor" in refusal("fashion_mnist", tmp_path)


def test_a_directory_in_the_home(tmp_path, sample, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write_npz(tmp_path / "mnist.npz", sample)
    check(datasets.load("mnist", "~"), "mnist", sample)


def test_missing_idx_files_are_named(tmp_path, sample):
    write_idx(tmp_path, sample)
    (tmp_path / IDX_NAMES["test_labels"]).unlink()
    message = refusal("mnist", tmp_path)
    assert "no t10k-labels-idx1-ubyte" in message
    assert "train-images" not in message


def test_unknown_names():
    with pytest.raises(UsageError, match="data='cifar10'.*'sample', 'mnist', 'fashion_mnist'"):
        datasets.load("cifar10")


def test_the_sample_has_no_directory(tmp_path):
    with pytest.raises(UsageError, match="'sample', which is embedded"):
        datasets.load("sample", tmp_path)


DAMAGES = {
    "disagreement": (
        lambda arrays: {**arrays, "train_images": arrays["train_images"][1:]},
        "50 labels",
        "49 images: they do not belong together",
    ),
    "swapped": (
        lambda arrays: {**arrays, "test_images": arrays["test_labels"]},
        "test_images",
        "images of shape (20,): (n, 28, 28) is wanted",
    ),
    "wrong size": (
        lambda arrays: {**arrays, "test_images": arrays["test_images"][:, :20]},
        "test_images",
        "images of shape (20, 20, 28)",
    ),
    "labels of images": (
        lambda arrays: {**arrays, "test_labels": arrays["test_images"]},
        "test_labels",
        "labels of shape (20, 28, 28): (n,) is wanted",
    ),
    "label out of range": (
        lambda arrays: {**arrays, "test_labels": arrays["test_labels"] + np.uint8(1)},
        "test_labels",
        "a label 10 at position 7: 0 to 9 are wanted",
    ),
    "empty": (
        lambda arrays: {key: values[:0] for key, values in arrays.items()},
        "train_images",
        "has no images: it is empty",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", ["idx", "npz"])
def test_arrays_that_are_wrong(tmp_path, sample, kind, damage):
    spoil, where, message = DAMAGES[damage]
    if kind == "idx":
        write_idx(tmp_path, spoil(sample))
        where = IDX_NAMES.get(where, where)
    else:
        write_npz(tmp_path / "mnist.npz", spoil(sample))
        where = KERAS_NAMES.get(where, where)
    refused = refusal("mnist", tmp_path)
    assert where in refused
    assert message in refused


@pytest.mark.parametrize(
    ("key", "values", "message"),
    [
        ("train_images", np.zeros([50, 28, 28], np.float32), "images of type float32: uint8"),
        ("train_labels", np.zeros([50], np.float32), "labels of type float32: whole numbers"),
        ("train_labels", np.full([50], -1), "a label -1 at position 0"),
    ],
)
def test_wrong_types(tmp_path, sample, key, values, message):
    write_npz(tmp_path / "mnist.npz", {**sample, key: values})
    assert message in refusal("mnist", tmp_path)


def test_an_npz_without_labels(tmp_path, sample):
    write_npz(tmp_path / "mnist.npz", {"train_images": sample["train_images"]})
    assert "mnist.npz has no arrays ['y_train', 'x_test', 'y_test']" in refusal("mnist", tmp_path)


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_kerass_copy(sample, name, monkeypatch):
    halves = list(sample.values())
    monkeypatch.setattr(
        getattr(tf.keras.datasets, name), "load_data", lambda: (halves[:2], halves[2:])
    )
    check(datasets.load(name), name, sample)


def test_no_network(monkeypatch):
    def fail():
        raise Exception("URL fetch failure on https://storage:\nNone -- no route to host")

    monkeypatch.setattr(tf.keras.datasets.mnist, "load_data", fail)
    message = refusal("mnist", None)
    assert (
        "mnist could not be had from Keras (URL fetch failure on https://storage: None" in message
    )
    assert "data_dir" in message
