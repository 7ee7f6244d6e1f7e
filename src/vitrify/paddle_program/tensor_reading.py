"""Paddle's files of parameters: tensors one after the other in the order of their names, or a file for each."""

from __future__ import annotations

import math
import mmap
import os
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.dtype import DType
from ..core.errors import FileFormatError
from .graph import MOST_DIMENSIONS, Param
from .reading import DATA_TYPES, parsed_tensor_desc

Array = np.ndarray[Any, Any]
_HEAD = struct.Struct("<IQ")
_LEVEL = struct.Struct("<Q")
_DESC = struct.Struct("<Ii")
LARGEST_DESC = 1 << 16


def read_params(path: str, params: Sequence[Param], dtypes: Mapping[str, DType] | None = None) -> dict[str, Array]:
    """The arrays of `params` by name: from one file, or from a folder with a file for each.

    The data stay in the file until they are touched. Raises FileFormatError for what does not fit the program.
    """
    if os.path.isdir(path):
        found = {}
        for param in params:
            file = os.path.join(path, param.name)
            if os.path.basename(param.name) != param.name or not os.path.isfile(file):
                raise FileFormatError(f"{path}: there is no file of the parameter {param.name!r}")
            found.update(_read_file(file, [param]))
        return found
    return _read_file(path, sorted(params, key=lambda p: p.name))


def _read_file(file: str, params: Sequence[Param]) -> dict[str, Array]:
    data = _mapped(file)
    found, at = {}, 0
    for param in params:
        try:
            found[param.name], at = _tensor(data, at, param)
        except (struct.error, FileFormatError) as err:
            reason = err.message if isinstance(err, FileFormatError) else "it ends too early"
            raise FileFormatError(f"{file}: parameter {param.name!r}: {reason}") from err
    if at != data.nbytes:
        raise FileFormatError(f"{file}: the program's parameters end at byte {at}, the file at {data.nbytes}")
    return found


def _mapped(file: str) -> memoryview:
    with open(file, "rb") as source:
        if os.fstat(source.fileno()).st_size == 0:  # an empty file cannot be mapped
            return memoryview(b"")
        return memoryview(mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ))


def _tensor(data: memoryview, at: int, param: Param) -> tuple[Array, int]:
    """One tensor: version, levels of detail, version, description, elements."""
    version, levels = _HEAD.unpack_from(data, at)
    at += _HEAD.size
    if version or levels > 8:
        raise FileFormatError(f"it has version {version} and {levels} levels of detail")
    for _ in range(levels):
        (size,) = _LEVEL.unpack_from(data, at)
        at += _LEVEL.size + size
        if at > data.nbytes:
            raise FileFormatError("its levels of detail do not fit into the file")
    version, size = _DESC.unpack_from(data, at)
    at += _DESC.size
    if version or not 0 <= size <= LARGEST_DESC or at + size > data.nbytes:
        raise FileFormatError(f"it has version {version} and a description of {size} bytes")
    desc = parsed_tensor_desc(bytes(data[at : at + size]))
    return _elements(data, at + size, desc, param)


def _elements(data: memoryview, at: int, desc: Any, param: Param) -> tuple[Array, int]:
    dtype = DATA_TYPES.get(desc.data_type)
    shape = tuple(desc.dims)
    if dtype is None or len(shape) > MOST_DIMENSIONS or any(s < 0 for s in shape):
        raise FileFormatError(f"it has type {desc.data_type} and sizes {list(shape)[:8]}")
    if dtype is not param.dtype or not _agree(shape, param.shape):
        wanted = f"{param.dtype.name}{list(param.shape)}"
        raise FileFormatError(f"it is {dtype.name}{list(shape)}, the program takes {wanted}")
    end = at + math.prod(shape) * dtype.itemsize
    if end > data.nbytes:
        raise FileFormatError(f"its {end - at} bytes do not fit into the file")
    return np.frombuffer(data[at:end], dtype.np).reshape(shape), end


def _agree(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return len(shape) == len(wanted) and all(w in (-1, s) for s, w in zip(shape, wanted))
