import gzip
import struct
import tracemalloc

import numpy as np
import pytest

from graphtrain import datasets
from graphtrain.errors import DataError

VALUES = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)


def idx_bytes(values):
    return (
        bytes([0, 0, 8, values.ndim])
        + struct.pack(f">{values.ndim}I", *values.shape)
        + values.tobytes()
    )


GOOD = idx_bytes(VALUES)


def read(tmp_path, content):
    path = tmp_path / "images-idx3-ubyte"
    path.write_bytes(content)
    return datasets.read_idx(path)


def refusal(tmp_path, content):
    with pytest.raises(DataError) as error:
        read(tmp_path, content)
    message = str(error.value)
    assert "images-idx3-ubyte" in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_values_come_back(tmp_path, pack):
    values = read(tmp_path, pack(GOOD))
    assert values.dtype == np.uint8
    np.testing.assert_array_equal(values, VALUES)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_an_empty_set_is_an_empty_array(tmp_path, pack):
    assert read(tmp_path, pack(idx_bytes(np.zeros([0, 28, 28], np.uint8)))).shape == (0, 28, 28)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no idx file of unsigned bytes: it begins with ''"),
        (b"\0\0\x08", "no idx file of unsigned bytes: it begins with '00 00 08'"),
        (b"\0\0\x0d\x03" + GOOD[4:], "no idx file of unsigned bytes"),
        (b"\x01\0\x08\x03" + GOOD[4:], "no idx file of unsigned bytes"),
        (b"\0\0\x08\0" + GOOD[4:], "no idx file of unsigned bytes"),
        (GOOD[:10], "is truncated: it ends within its header"),
        (GOOD[:-1], "promises 24 bytes"),
        (GOOD + b"\0", "promises 24 bytes of data, and there are more"),
    ],
)
def test_damaged_content(tmp_path, pack, content, message):
    assert message in refusal(tmp_path, pack(content))


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_a_header_that_lies_about_the_size_costs_no_memory(tmp_path, pack):
    content = pack(bytes([0, 0, 8, 4]) + b"\xff" * 16 + b"\0" * 100)
    tracemalloc.start()
    try:
        assert "promises 3402823" in refusal(tmp_path, content)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_truncated_gz(tmp_path):
    assert "is damaged: Compressed file ended" in refusal(tmp_path, gzip.compress(GOOD)[:-10])


def test_a_corrupt_gz(tmp_path):
    content = bytearray(gzip.compress(GOOD))
    content[-6] ^= 0xFF
    assert "is damaged: CRC check failed" in refusal(tmp_path, bytes(content))


def test_a_gz_that_is_only_its_magic(tmp_path):
    assert "is damaged" in refusal(tmp_path, b"\x1f\x8b\x07nothing")


def test_a_missing_file(tmp_path):
    with pytest.raises(DataError, match="nowhere cannot be read: No such file or directory"):
        datasets.read_idx(tmp_path / "nowhere")


def test_a_directory(tmp_path):
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        datasets.read_idx(tmp_path)
