"""Paddle's files of parameters: tensors one after the other in the order of their names, or a file for each."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..core.errors import FileFormatError
from ..core.mapped_file import mapped_tensors
from .graph import MOST_DIMENSIONS, Param
from .pair import NEXT
from .reading import DATA_TYPES, parsed_tensor_desc
from .tensor_writing import checksum_of_file

Array = np.ndarray[Any, Any]
_HEAD = struct.Struct("<IQ")
_LEVEL = struct.Struct("<Q")
_DESC = struct.Struct("<Ii")
LARGEST_DESC = 1 << 16


def read_params(path: str, params: Sequence[Param], checksum: str | None = None) -> dict[str, Array]:
    """The arrays of `params` by name: from one file, or from a folder with a file for each.

    checksum: of the one file, where the program says it. The data stay in the file until they are touched. Raises
    FileFormatError for what does not fit the program, or was not written with it.
    """
    if os.path.isdir(path):
        found = {}
        for param in params:
            file = os.path.join(path, param.name)
            if os.path.basename(param.name) != param.name or not os.path.isfile(file):
                raise FileFormatError(f"{path}: there is no file of the parameter {param.name!r}")
            found.update(_read_file(file, [param], mapped_tensors(file)))
        return found
    data = mapped_tensors(path) if checksum is None else _belonging(os.path.realpath(path), checksum)
    return _read_file(path, sorted(params, key=lambda p: p.name), data)


def _belonging(file: str, checksum: str) -> memoryview:
    """The content of the file that was written with the program.

    Where a save was cut off, or goes on right now, that may have its name yet to get, or get it while we look.
    """
    for name in (file, file + NEXT, file):
        with suppress(FileNotFoundError):
            data = mapped_tensors(name)
            if checksum_of_file(data) == checksum:
                return data
    os.stat(file)  # where there is no file at all, that is the error
    raise FileFormatError(
        f"{file}: it was changed, or belongs to another save than the program beside it (checksum)",
        hint="copy both files again from where they were made, or save both again",
    )


def _read_file(file: str, params: Sequence[Param], data: memoryview) -> dict[str, Array]:
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
    found = np.frombuffer(data[at:end], dtype.np).reshape(shape)
    # Elements lie at any byte; where that is none for their type, every use of the whole tensor would copy it.
    return found if found.flags.aligned else found.copy(), end


def _agree(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return len(shape) == len(wanted) and all(w in (-1, s) for s, w in zip(shape, wanted))
