import gzip
import struct

import numpy as np
import pytest
import tensorflow as tf

from graphtrain import datasets
from graphtrain.errors import DataError

tf1 = tf.compat.v1


@pytest.fixture(scope="module")
def images():
    return datasets.load("sample").test_images[:3]


def png_bytes(image):
    with tf.Graph().as_default(), tf1.Session() as session:
        return session.run(tf.io.encode_png(image))


def refusal(path):
    with pytest.raises(DataError) as error:
        datasets.read_images(path)
    message = str(error.value)
    assert path.name in message
    assert "\n" not in message
    return message


def test_png(tmp_path, images):
    path = tmp_path / "digit"
    path.write_bytes(png_bytes(images[0][..., None]))
    found = datasets.read_images(str(path))
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, images[:1])


def test_png_in_colour(tmp_path, images):
    path = tmp_path / "digit.png"
    path.write_bytes(png_bytes(np.repeat(images[0][..., None], 3, axis=-1)))
    found = datasets.read_images(path)
    assert np.abs(found[0].astype(int) - images[0]).max() <= 1


def test_png_of_another_size(tmp_path):
    path = tmp_path / "digit.png"
    path.write_bytes(png_bytes(np.zeros([20, 30, 1], np.uint8)))
    assert "is 30 pixels wide and 20 high: scale it to 28 by 28" in refusal(path)


def test_damaged_png(tmp_path, images):
    path = tmp_path / "digit.png"
    whole = png_bytes(images[0][..., None])
    path.write_bytes(whole[:20])
    assert "is truncated" in refusal(path)
    path.write_bytes(whole[: len(whole) // 2])
    assert "is a damaged PNG file" in refusal(path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_idx(tmp_path, images, pack):
    path = tmp_path / "digits"
    path.write_bytes(
        pack(bytes([0, 0, 8, 3]) + struct.pack(">3I", *images.shape) + images.tobytes())
    )
    np.testing.assert_array_equal(datasets.read_images(path), images)


def test_idx_of_labels(tmp_path):
    path = tmp_path / "labels"
    path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 7]))
    assert "images of shape (1,)" in refusal(path)


@pytest.mark.parametrize(
    "arrays",
    [
        lambda images: {"anything": images},
        lambda images: {"anything": images[..., None]},
        lambda images: {"x_test": images, "y_test": np.arange(3)},
        lambda images: {"images": images, "x_test": images[:1]},
    ],
)
def test_npz(tmp_path, images, arrays):
    path = tmp_path / "digits.npz"
    np.savez(path, **arrays(images))
    np.testing.assert_array_equal(datasets.read_images(path), images)


def test_npz_of_one_image(tmp_path, images):
    path = tmp_path / "digit.npz"
    np.savez(path, images[0])
    np.testing.assert_array_equal(datasets.read_images(path), images[:1])


def test_npz_without_a_known_name(tmp_path, images):
    path = tmp_path / "digits.npz"
    np.savez(path, a=images, b=images)
    assert "has several arrays, ['a', 'b']" in refusal(path)


def test_npz_of_floats(tmp_path, images):
    path = tmp_path / "digits.npz"
    np.savez(path, images=images / 255)
    assert "(images) has images of type float64: uint8" in refusal(path)


@pytest.mark.parametrize("content", [b"", b"GIF89a"])
def test_other_files(tmp_path, content):
    path = tmp_path / "digits.gif"
    path.write_bytes(content)
    assert "is no npz, idx or PNG file" in refusal(path)


def test_a_missing_file(tmp_path):
    assert "cannot be read: No such file" in refusal(tmp_path / "nowhere.png")
