"""Files of named arrays: raw data behind a checked header, readable in place (D14). docs/format.md has the layout."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from .container import Container, Kind, Source, read_container, starts_with, write_container
from .dtype import ALL, DType, from_np
from .errors import DTypeError, FileFormatError
from .mapped_file import LARGE
from .meta import numel

Array = npt.NDArray[Any]
TENSORS = Kind(b"\x93VTENSOR", 1, "tensor file")
MAX_DIMS = 64  # NumPy's own limit
MAX_BYTES = 2**63 - 1
_DTYPES = {dtype.name: dtype for dtype in ALL}


@dataclass(frozen=True)
class TensorFile:
    """What a tensor file holds: arrays by name, in the order written; the note beside them; the content's digest."""

    tensors: dict[str, Array]
    note: Any
    digest: str


def write_tensors(target: Source, tensors: Mapping[str, Array], note: Any = None) -> str:
    """Write arrays (and a note of JSON data) to a path, atomically, or to a binary stream; returns the digest.

    Raises DTypeError for arrays whose elements are no numbers or booleans, OSError where the path is not writable.

    >>> import io
    >>> file = io.BytesIO()
    >>> digest = write_tensors(file, {"w": np.eye(2, dtype="float32")})
    >>> _ = file.seek(0)
    >>> read_tensors(file).tensors["w"].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    arrays = {name: _native(name, array) for name, array in tensors.items()}
    table = [[name, from_np(a.dtype).name, list(a.shape)] for name, a in arrays.items()]
    blocks = [np.ascontiguousarray(a).reshape(-1).view(np.uint8).data for a in arrays.values()]
    return write_container(target, TENSORS, {"tensors": table, "note": note}, blocks)


def state_dict_note(names: Iterable[str]) -> dict[str, Any]:
    """The note that `paddle.save` writes for a dict of Tensors, so that `paddle.load` reads the file as one."""
    return {"dict": [[name, {"tensor": [name, name]}] for name in names]}


def _native(name: str, array: Array) -> Array:
    """`array` in this machine's byte order, which is also the file's (little-endian)."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    try:
        from_np(array.dtype)
    except TypeError:
        raise DTypeError(f"{name!r} is an array of {array.dtype}: only numbers and booleans can be saved") from None
    return array


def is_tensor_file(source: Source) -> bool:
    """Whether a file, or a stream from where it stands, starts as a tensor file does."""
    return starts_with(source, TENSORS)


def read_tensors(source: Source, *, mapped: bool = False, private: bool = False) -> TensorFile:
    """The arrays of a file or binary stream, all checks passed.

    mapped: leave the data in the file and return read-only arrays that are read from it when touched. Otherwise arrays
    are one's own; those of files from 1 GiB on, and all if `private`, stay in the file, too, until they are touched or
    written into: for those who read a file that nobody writes into meanwhile (ours are replaced, never changed).
    Raises FileFormatError when the file is cut short, changed or of another kind; OSError when it can't be opened.
    """
    large = not mapped and isinstance(source, (str, os.PathLike)) and (private or os.path.getsize(source) >= LARGE)
    container = read_container(source, TENSORS, private=large)
    name = source if isinstance(source, str) else "the tensor file"
    arrays = _arrays(container, str(name))
    if not mapped and not large:
        arrays = {key: array.copy() for key, array in arrays.items()}
    return TensorFile(arrays, container.content["note"], container.digest)


def _arrays(container: Container, source: str) -> dict[str, Array]:
    table = _table(container.content, source)
    if len(table) != len(container.blocks):
        raise FileFormatError(f"{source} lists {len(table)} tensors and has {len(container.blocks)} blocks")
    return {
        name: np.frombuffer(block, dtype.np).reshape(shape)
        for (name, (dtype, shape)), block in zip(table.items(), container.blocks)
        if _fits(source, name, dtype, shape, block)
    }


def _table(content: Any, source: str) -> dict[str, tuple[DType, tuple[int, ...]]]:
    """Names with dtypes and shapes; the checksums hold here, so what is wrong was written wrongly."""
    table: dict[str, tuple[DType, tuple[int, ...]]] = {}
    rows = content.get("tensors") if isinstance(content, dict) and set(content) == {"tensors", "note"} else None
    for row in rows if isinstance(rows, list) else [None]:
        if not _is_row(row) or row[0] in table:
            raise FileFormatError(f"{source} has no proper table of tensors")
        table[row[0]] = (_DTYPES[row[1]], tuple(row[2]))
    return table


def _is_row(row: Any) -> TypeGuard[list[Any]]:
    if not (isinstance(row, list) and len(row) == 3 and isinstance(row[0], str)):
        return False
    _, dtype, shape = row
    if not (isinstance(dtype, str) and dtype in _DTYPES and isinstance(shape, list) and len(shape) <= MAX_DIMS):
        return False
    return all(type(dim) is int and dim >= 0 for dim in shape)


def _fits(source: str, name: str, dtype: DType, shape: tuple[int, ...], block: memoryview) -> bool:
    wanted = numel(shape) * dtype.itemsize
    # NumPy multiplies the other sizes even where one is 0.
    if wanted != block.nbytes or numel([d for d in shape if d]) * dtype.itemsize > MAX_BYTES:
        raise FileFormatError(
            f"{source}: tensor {name!r} is {dtype.name}{list(shape)}, {wanted} bytes, but {block.nbytes} are stored"
        )
    if dtype.is_bool and np.frombuffer(block, np.uint8).max(initial=0) > 1:
        raise FileFormatError(f"{source}: tensor {name!r} is bool and holds bytes other than 0 and 1")
    return True
