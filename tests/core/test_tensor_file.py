"""Files of arrays: what goes in comes out, and every byte of a bad file is noticed before anything is allocated."""

import io
import json
import os
import struct
import tracemalloc
import zlib

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from vitrify.core import tensor_file
from vitrify.core.atomic_file import atomic_file
from vitrify.core.container import ALIGN, Kind, read_container, write_container
from vitrify.core.dtype import ALL
from vitrify.core.errors import DTypeError, FileFormatError
from vitrify.core.tensor_file import is_tensor_file, read_tensors, write_tensors

SAMPLE = {
    "weight": np.arange(6, dtype="float32").reshape(2, 3),
    "half": np.array([1.5, -2.0], ml_dtypes.bfloat16),
    "scalar": np.array(True),
    "empty": np.zeros((0, 3), "complex64"),
}


def packed(tensors=SAMPLE, note=None):
    out = io.BytesIO()
    write_tensors(out, tensors, note)
    return out.getvalue()


def equal(a, b):
    return list(a) == list(b) and all(
        x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes() for x, y in zip(a.values(), b.values())
    )


def test_write_and_read(tmp_path):
    path = tmp_path / "model.vtparams"
    digest = write_tensors(path, SAMPLE, {"epoch": 3})
    file = read_tensors(path)
    assert equal(file.tensors, SAMPLE)
    assert file.note == {"epoch": 3}
    assert file.digest == digest
    assert all(array.flags.writeable for array in file.tensors.values())
    assert is_tensor_file(path)


def test_the_same_content_gives_the_same_bytes():
    assert packed() == packed({name: array.copy() for name, array in SAMPLE.items()})


def test_mapped_arrays_lie_in_the_file(tmp_path):
    path = str(tmp_path / "big")
    write_tensors(path, {"a": np.zeros(10_000_000, "float32"), "b": np.arange(3)})
    tracemalloc.start()
    mapped = read_tensors(path, mapped=True).tensors
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
    assert mapped["b"].tolist() == [0, 1, 2]
    assert not mapped["a"].flags.writeable
    assert all(array.ctypes.data % ALIGN == 0 for array in mapped.values())


@pytest.mark.parametrize("dtype", ALL, ids=lambda dtype: dtype.name)
def test_every_dtype(dtype):
    array = np.array([[0, 1], [1, 0]]).astype(dtype.np)
    assert equal(read_tensors(io.BytesIO(packed({"x": array}))).tensors, {"x": array})


def test_layouts_and_byte_orders_are_the_arrays_own_business():
    base = np.arange(24, dtype="int16").reshape(2, 3, 4)
    given = {"t": base.T, "step": base[:, ::-1, ::2], "big": base.astype(">i2"), "fortran": np.asfortranarray(base)}
    read = read_tensors(io.BytesIO(packed(given))).tensors
    for name, array in given.items():
        np.testing.assert_array_equal(read[name], array)
        assert read[name].dtype == np.dtype("int16")


def test_what_is_no_number_is_refused():
    with pytest.raises(DTypeError, match="'names' is an array of <U5: only numbers and booleans can be saved"):
        packed({"names": np.array(["alice"])})


@given(st.dictionaries(st.text(), arrays(np.dtype("float32"), array_shapes(min_dims=0, min_side=0)), max_size=4))
def test_any_names_and_shapes(tensors):
    assert equal(read_tensors(io.BytesIO(packed(tensors))).tensors, tensors)


# --- bad files -------------------------------------------------------------------------------------------------------


def refused(data):
    with pytest.raises(FileFormatError):
        read_tensors(io.BytesIO(data))


def test_every_truncation_is_noticed():
    data = packed()
    for length in range(len(data)):
        refused(data[:length])
    refused(data + b"\0")


def test_every_changed_byte_is_noticed():
    data = packed()
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        refused(changed)


@given(st.binary(max_size=300))
def test_noise_is_refused(noise):
    refused(noise)
    refused(packed()[:32] + noise)


def test_messages_say_what_is_wrong(tmp_path):
    path = tmp_path / "w.vtparams"
    path.write_bytes(packed()[:-1])
    with pytest.raises(FileFormatError, match=r"w\.vtparams is not a usable tensor file: it was written with"):
        read_tensors(path)
    path.write_bytes(b"PK\3\4" + bytes(60))
    with pytest.raises(FileFormatError, match="it starts with b'PK"):
        read_tensors(path)
    path.write_bytes(b"")
    with pytest.raises(FileFormatError, match="it has 0 bytes"):
        read_tensors(path)
    newer = bytearray(packed())
    newer[8] = 9
    path.write_bytes(newer)
    with pytest.raises(FileFormatError, match="version 9, this vitrify reads 1 to 1"):
        read_tensors(path)


def forged(content, *blocks, table=None):
    """A file with correct checksums around a header that a liar wrote."""
    table = table if table is not None else [[len(block), zlib.crc32(block)] for block in blocks]
    header = json.dumps({"content": content, "blocks": table}).encode()
    body = bytearray(32) + header
    for block in blocks:
        body += bytes(-len(body) % ALIGN) + block
    lengths = struct.pack("<QQ", len(header), len(body))
    body[:32] = struct.pack("<8sII", b"\x93VTENSOR", 1, zlib.crc32(header, zlib.crc32(lengths))) + lengths
    return bytes(body)


HUGE = 2**62


@pytest.mark.parametrize(
    ("row", "block"),
    [
        (["a", "float32", [HUGE]], b""),
        (["a", "float32", [HUGE, HUGE, 0]], b""),
        (["a", "float32", [3]], b"12345678"),
        (["a", "float32", [-1, -4]], bytes(16)),
        (["a", "float32", [True]], bytes(4)),
        (["a", "float32", [1.0]], bytes(4)),
        (["a", "float32", [1] * 65], bytes(4)),
        (["a", "object", [1]], bytes(8)),
        (["a", "bool", [1]], b"\2"),
        ([1, "bool", [1]], b"\1"),
        (["a", "bool"], b"\1"),
        ("a", b"\1"),
    ],
    ids=str,
)
def test_a_lying_header_allocates_nothing(row, block):
    tracemalloc.start()
    refused(forged({"tensors": [row], "note": None}, block))
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def test_blocks_cannot_be_misplaced():
    row = ["a", "uint8", [4]]
    good = forged({"tensors": [row], "note": None}, b"1234")
    assert read_tensors(io.BytesIO(good)).tensors["a"].tolist() == [49, 50, 51, 52]
    for table in ([], [[4]], [[HUGE, 0]], [[4, 0], [4, 0]], [[-4, 0]], "4", [["4", 0]], None):
        refused(forged({"tensors": [row], "note": None}, b"1234", table=table or {}))
    refused(forged({"tensors": [row, row], "note": None}, b"1234", b"1234"))  # one name twice
    refused(forged({"tensors": [row], "note": None, "more": 1}, b"1234"))
    refused(forged([row], b"1234"))


def test_a_deeply_nested_header_is_refused():
    kind = Kind(b"\x93VTNESTS", 1, "nest")
    out = io.BytesIO()
    write_container(out, kind, None, [])
    header = b"[" * 100_000
    lengths = struct.pack("<QQ", len(header), 32 + len(header))
    crc = zlib.crc32(header, zlib.crc32(lengths))
    with pytest.raises(FileFormatError, match="not JSON"):
        read_container(io.BytesIO(struct.pack("<8sII", kind.magic, 1, crc) + lengths + header), kind)


# --- writing in one step ---------------------------------------------------------------------------------------------


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "w"
    write_tensors(path, {"a": np.ones(2)})
    with pytest.raises(ValueError, match="half way"), atomic_file(path) as out:
        out.write(b"garbage")
        raise ValueError("half way")
    assert read_tensors(path).tensors["a"].tolist() == [1, 1]
    assert os.listdir(tmp_path) == ["w"]


def test_what_a_killed_writer_left_is_removed_and_what_another_one_writes_is_not(tmp_path):
    path, left = tmp_path / "w", tmp_path / "w.tmp-12345-0123abcd"
    others = [tmp_path / name for name in ("w.tmp-mine", "v.tmp-12345-0123abcd", "w.tmp-1-0123abcd.txt")]
    for file in (left, *others):
        file.write_bytes(b"x")
    with atomic_file(path) as first:
        first.write(b"first")
        assert not left.exists()
        with atomic_file(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert sorted(tmp_path.iterdir()) == sorted([path, *others])


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with atomic_file(tmp_path / "link") as out:
        out.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_the_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    with atomic_file(tmp_path / "ours") as out:
        out.write(b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_large_files_stay_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(tensor_file, "LARGE", 1 << 20)
    size = 64 << 20
    path = tmp_path / "large.vtparams"
    sparse_tensor_file(path, size)
    tracemalloc.start()
    try:
        array = read_tensors(path).tensors["w"]
        assert array.nbytes == size and array.flags.writeable
        array[-1] = 5
        assert tracemalloc.get_traced_memory()[1] < size // 4
    finally:
        tracemalloc.stop()
    assert read_tensors(path).tensors["w"][-1] == 0  # the file is as it was


def sparse_tensor_file(path, size):
    """A file of one tensor of zeros that takes no room on the disk. By hand also of more than 4 GiB."""
    crc = 0
    for start in range(0, size, 1 << 24):
        crc = zlib.crc32(bytes(min(1 << 24, size - start)), crc)
    content = {"tensors": [["w", "float32", [size // 4]]], "note": None}
    header = json.dumps({"content": content, "blocks": [[size, crc]]}).encode()
    end = -(-(32 + len(header)) // 64) * 64 + size
    lengths = struct.pack("<QQ", len(header), end)
    with open(path, "wb") as file:
        file.write(struct.pack("<8sII", b"\x93VTENSOR", 1, zlib.crc32(header, zlib.crc32(lengths))) + lengths + header)
        file.truncate(end)
