"""Files that are damaged, or made to do harm: to run code, or to ask for all memory there is."""

import gzip
import io
import struct
import zipfile
import zlib

import numpy as np

HUGE = 10**6


class RunsCode:
    """What a pickle of it does when it is read: it leaves a file."""

    def __reduce__(self):
        return open, ("code_was_run", "w")


def npy(shape, content=bytes(10)):
    """An npy file whose header claims a shape."""
    file = io.BytesIO()
    header = {"descr": "|u1", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + content


def idx(*shape, content=b""):
    """An idx file whose header claims a shape."""
    return bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + content


def png(width, height):
    """The beginning of a PNG file that claims a size."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunk = struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    return b"\x89PNG\r\n\x1a\n" + chunk


def write_npz(path, **members):
    """Writes an archive of npy files given as bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)


def write_images(directory):
    """Writes files that predict.py cannot take."""
    (directory / "file").write_bytes(b"")
    (directory / "text").write_text("an image of a seven")
    np.savez(directory / "pickled.npz", images=np.array([RunsCode()], dtype=object))
    write_npz(directory / "huge.npz", images=npy((HUGE, HUGE)))
    write_npz(directory / "longer.npz", images=npy((11,)))
    write_npz(directory / "no_array.npz", images=b"no array")
    np.savez(directory / "several.npz", a=np.zeros(3), b=np.zeros(3))
    np.savez(directory / "floats.npz", images=np.zeros([1, 28, 28]))
    np.savez(directory / "wide.npz", images=np.zeros([1, 28, 29], np.uint8))
    np.savez(directory / "none.npz", images=np.zeros([0, 28, 28], np.uint8))
    (directory / "huge.idx").write_bytes(idx(2**31, 28, 28))
    (directory / "short.idx").write_bytes(idx(2, 28, 28, content=bytes(28 * 28)))
    (directory / "long.idx").write_bytes(idx(1, 28, 28, content=bytes(28 * 28 + 1)))
    (directory / "axes.idx").write_bytes(idx(*[1] * 200, content=bytes(1)))
    (directory / "bomb.idx.gz").write_bytes(gzip.compress(idx(2**31, 2**31, 28)))
    (directory / "cut.idx.gz").write_bytes(gzip.compress(idx(1, 28, 28, content=bytes(784)))[:-9])
    (directory / "huge.png").write_bytes(png(HUGE, HUGE))
    (directory / "cut.png").write_bytes(png(28, 28)[:20])
    (directory / "empty.png").write_bytes(png(28, 28))


def write_data_sets(directory):
    """Writes folders that train.py cannot take as --data_dir."""
    good = {
        "x_train": np.zeros([2, 28, 28], np.uint8),
        "y_train": np.zeros([2], np.uint8),
        "x_test": np.zeros([2, 28, 28], np.uint8),
        "y_test": np.zeros([2], np.uint8),
    }
    for name, changed in {
        "uneven": {"y_train": np.zeros([3], np.uint8)},
        "eleven": {"y_test": np.array([0, 11], np.uint8)},
        "halves": {"y_train": np.zeros([2])},
        "pickled": {"x_train": np.array([RunsCode()], dtype=object)},
    }.items():
        (directory / name).mkdir()
        np.savez(directory / name / "mnist.npz", **{**good, **changed})
    for name in ("torn", "lacking", "lying"):
        (directory / name).mkdir()
    (directory / "torn" / "mnist.npz").write_bytes(b"PK\x03\x04 and no more")
    np.savez(directory / "lacking" / "mnist.npz", x_train=good["x_train"])
    for part in ("train", "t10k"):
        (directory / "lying" / f"{part}-images-idx3-ubyte").write_bytes(idx(2**31 - 1, 28, 28))
        (directory / "lying" / f"{part}-labels-idx1-ubyte").write_bytes(idx(2**31 - 1, 28, 28))
