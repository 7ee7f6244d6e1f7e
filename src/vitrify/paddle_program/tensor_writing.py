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
    for _, array in tensors:
        yield _head(array)
        yield little_endian(array)


def _head(array: Array) -> bytes:
    """What stands before the elements: version, no levels of detail, version, description."""
    dtype = from_np(array.dtype)
    if dtype.name not in NUMBERS:
        raise UnsupportedError(f"Paddle's files hold no tensors of {dtype.name}")
    desc = tensor_desc(NUMBERS[dtype.name], array.shape)
    return struct.pack("<IQIi", 0, 0, 0, len(desc)) + desc
