"""Files of parameters in Paddle's format, and the checksum by which a program names the one that belongs to it."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

from ..core.dtype import from_np
from ..core.errors import UnsupportedError
from ..core.little_endian import little_endian
from .reading import NUMBERS, tensor_desc

Array = np.ndarray[Any, Any]
Bytes = bytes | memoryview
Tensors = Sequence[tuple[str, Array]]
_CHUNK = 1 << 24
_HEAD = struct.Struct("<IQIi")
_ALIGNED = 64
_UNKNOWN_FIELD = bytes([15 << 3 | 2])  # number 15, bytes whose count follows


def write_tensors(out: BinaryIO, tensors: Tensors) -> None:
    """Write the tensors one after the other; who reads them knows their order."""
    for part in _parts(tensors):
        out.write(part)


def checksum_of(tensors: Tensors) -> str:
    """The checksum of the file that these tensors make. Raises UnsupportedError for dtypes that it cannot hold."""
    return _text(_parts(tensors))


def checksum_of_file(data: memoryview) -> str:
    """The same of a file's content."""
    return _text(data[at : at + _CHUNK] for at in range(0, data.nbytes, _CHUNK))


def _text(parts: Iterator[Bytes]) -> str:
    found, size = 0, 0
    for part in parts:
        found, size = zlib.crc32(part, found), size + memoryview(part).nbytes
    return f"crc32:{found:08x}:{size}"


def _parts(tensors: Tensors) -> Iterator[Bytes]:
    at = 0
    for _, array in tensors:
        head = _head(array, at)
        at += len(head) + array.nbytes
        yield head
        yield little_endian(array)


def _head(array: Array, at: int) -> bytes:
    """What stands before the elements, at this byte of the file: version, no levels of detail, version, description.

    A field that nobody knows makes the description so long that the elements begin at a multiple of `_ALIGNED`: who
    reads them need not copy them then.
    """
    dtype = from_np(array.dtype)
    if dtype.name not in NUMBERS:
        raise UnsupportedError(f"Paddle's files hold no tensors of {dtype.name}")
    desc = tensor_desc(NUMBERS[dtype.name], array.shape)
    room = -(at + _HEAD.size + len(desc) + len(_UNKNOWN_FIELD) + 1) % _ALIGNED
    desc += _UNKNOWN_FIELD + bytes([room, *bytes(room)])
    return _HEAD.pack(0, 0, 0, len(desc)) + desc
