import io
import struct
import zipfile

import numpy as np
import pytest

from graphtrain import datasets
from graphtrain.errors import DataError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arrays.npz"


def refusal(path, names=None):
    with pytest.raises(DataError) as error:
        datasets.read_npz(path, names)
    message = str(error.value)
    assert "arrays.npz" in message
    assert "\n" not in message
    return message


def write_member(path, content, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("x.npy", content)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_come_back(path, save):
    arrays = {"x": np.arange(6.0).reshape(2, 3), "y": np.array(["a", "b"]), "z": np.zeros([0, 3])}
    save(path, **arrays)
    found = datasets.read_npz(path)
    assert list(found) == ["x", "y", "z"]
    for name, values in arrays.items():
        assert found[name].dtype == values.dtype
        np.testing.assert_array_equal(found[name], values)
    assert list(datasets.read_npz(path, ["y"])) == ["y"]


def test_missing_arrays(path):
    np.savez(path, x=np.zeros(3))
    assert "has no arrays ['y', 'z']: it has ['x']" in refusal(path, ["x", "y", "z"])


def test_objects_are_not_unpickled(path):
    np.savez(path, x=np.array([{"a": 1}], dtype=object))
    assert "holds Python objects in x.npy" in refusal(path)


def test_a_missing_file(path):
    assert "cannot be read: No such file or directory" in refusal(path)


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive"])
def test_no_npz(path, content):
    path.write_bytes(content)
    assert "is no npz file" in refusal(path)


def test_a_lone_npy(path):
    with open(path, "wb") as file:
        np.save(file, np.zeros(3))
    assert "is no npz file" in refusal(path)


def test_a_truncated_file(path):
    np.savez(path, x=np.zeros(1000))
    path.write_bytes(path.read_bytes()[:-100])
    assert "is no npz file, or a damaged one" in refusal(path)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_damaged_array(path, save):
    save(path, x=np.random.default_rng(0).random(1000))
    content = bytearray(path.read_bytes())
    content[2000:2100] = bytes(100)
    path.write_bytes(content)
    assert "is damaged" in refusal(path)


def test_a_member_that_is_no_array(path):
    write_member(path, b"text, and no array at all")
    assert "is damaged" in refusal(path)


def lying_npy(shape):
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        content, {"descr": "|u1", "fortran_order": False, "shape": shape}
    )
    return content.getvalue() + bytes(10)


def test_a_header_that_lies_about_the_size(path):
    write_member(path, lying_npy((10**6, 10**6)))
    assert "promises 1000000000000 bytes of data" in refusal(path)


def test_a_header_that_lies_a_little(path):
    write_member(path, lying_npy((11,)))
    assert "do not fit its shape (11,) of uint8" in refusal(path)


def test_an_unknown_compression(path):
    write_member(path, lying_npy((10,)))
    content = bytearray(path.read_bytes())
    method = struct.pack("<H", 99)
    content[8:10] = method
    directory = content.index(b"PK\x01\x02")
    content[directory + 10 : directory + 12] = method
    path.write_bytes(content)
    assert "cannot be read" in refusal(path)
