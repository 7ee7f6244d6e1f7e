"""Native programs in Python, through ctypes: as C would call them."""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ..codegen.ahead.abi import DTYPES, MOST_DIMS, OK, RAISED
from ..core.dtype import as_dtype
from ..core.errors import (
    ArgumentError,
    DTypeError,
    FileFormatError,
    MissingFileError,
    ShapeError,
    UnsupportedError,
    exception_named,
)
from ..core.meta import Meta
from .files import native_file
from .sealing import check_seal

Array = np.ndarray[Any, Any]
_ERRORS = {2: DTypeError, 3: ShapeError}


class CArray(ctypes.Structure):
    """vitrify_array of the header."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("bytes", ctypes.c_int64), ("dtype", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("shape", ctypes.c_int64 * MOST_DIMS),
    )  # fmt: skip


def no_operators(file: str, params: str | None) -> NoReturn:
    """What reading a native program as operators does: raise UnsupportedError."""
    raise UnsupportedError(
        f"{file} is a native program: machine code, without the operators that it was made of",
        hint="run it by paddle.inference or vitrify.aot.load; save the Layer in another format for anything else",
    )


class NativeFunction:
    """One function of a native program. Threads may share it."""

    def __init__(self, library: ctypes.CDLL, prefix: str) -> None:
        self._library = library
        self._prefix = prefix
        self.input_names, self.input_metas = self._ports("input")
        self.output_names, self.output_metas = self._ports("output")

    def _function(self, name: str, returns: Any) -> Any:
        found = getattr(self._library, f"{self._prefix}_{name}")
        found.restype = returns
        return found

    def _ports(self, kind: str) -> tuple[list[str], list[Meta]]:
        count = self._function(f"{kind}_count", ctypes.c_int64)()
        name, dtype = self._function(f"{kind}_name", ctypes.c_char_p), self._function(f"{kind}_dtype", ctypes.c_int32)
        ndim = self._function(f"{kind}_ndim", ctypes.c_int32)
        shape = self._function(f"{kind}_shape", ctypes.POINTER(ctypes.c_int64))
        numbers = [ctypes.c_int64(i) for i in range(count)]
        metas = [Meta(tuple(shape(i)[: ndim(i)]), as_dtype(DTYPES[dtype(i)])) for i in numbers]
        return [name(i).decode() for i in numbers], metas

    def __call__(self, *arrays: Array) -> list[Array]:
        """The outputs for these inputs. Raises ShapeError, DTypeError or ArgumentError with the program's own words."""
        held = [np.asarray(a, order="C") for a in arrays]
        inputs = (CArray * max(len(held), 1))(*[_seen(a) for a in held])
        outputs = (CArray * max(len(self.output_metas), 1))()
        counts = ctypes.c_int64(len(held)), ctypes.c_int64(len(self.output_metas))
        if any(-1 in m.shape for m in self.output_metas):
            self._done(self._function("shapes", ctypes.c_int32)(inputs, counts[0], outputs, counts[1]))
            shapes = [tuple(o.shape[: o.ndim]) for o in outputs]
        else:
            shapes = [tuple(m.shape) for m in self.output_metas]
        # Arrays of sizes that only the run knows are made by the library.
        found = [None if -1 in s else np.empty(s, m.dtype.np) for s, m in zip(shapes, self.output_metas)]
        for room, array in zip(outputs, found):
            room.data, room.bytes = (None, 0) if array is None else (array.ctypes.data, array.nbytes)
        self._done(self._function("run", ctypes.c_int32)(inputs, counts[0], outputs, counts[1]))
        return [self._taken(o, m) if a is None else a for o, a, m in zip(outputs, found, self.output_metas)]

    def set_threads(self, threads: int) -> None:
        """Let runs of all functions of this library use so many threads; those saved before there was this use one."""
        if hasattr(self._library, f"{self._prefix}_set_threads"):
            self._done(self._function("set_threads", ctypes.c_int32)(ctypes.c_int32(threads)))

    def _taken(self, output: CArray, meta: Meta) -> Array:
        """What the library made, in memory of Python's."""
        found: Array = np.empty(tuple(output.shape[: output.ndim]), meta.dtype.np)
        ctypes.memmove(found.ctypes.data, output.data, found.nbytes)
        self._function("free", None)(ctypes.c_void_p(output.data))
        return found

    def _done(self, code: int) -> None:
        if code != OK:
            text = self._function("last_error", ctypes.c_char_p)().decode(errors="replace")  # it may be cut
            if code == RAISED:
                raise _raised(text)
            raise _ERRORS.get(code, ArgumentError)(f"{self._prefix}: {text}")


def _raised(text: str) -> Exception:
    """What the program raises: of the class that its text begins with."""
    name, _, words = text.partition(": ")
    found = exception_named(name)
    if found is None or not issubclass(found, Exception):
        return RuntimeError(text)
    return found(words) if words else found()


def _seen(array: Array) -> CArray:
    name = as_dtype(array.dtype).name
    if name not in DTYPES or array.ndim > MOST_DIMS:
        raise DTypeError(f"a native program takes no {name} of {array.ndim} dimensions")
    shape = (ctypes.c_int64 * MOST_DIMS)(*array.shape)
    return CArray(array.ctypes.data, array.nbytes, DTYPES.index(name), array.ndim, shape)


class NativeModel:
    """The functions of a native program by name; calling it calls `forward`."""

    def __init__(self, file: str) -> None:
        check_seal(file)
        try:
            library = _opened(file)
            text = ctypes.cast(library.vitrify_functions, ctypes.c_char_p).value or b""
            pairs: Sequence[Sequence[str]] = [line.split(" ") for line in text.decode().splitlines()]
            self.functions = {name: NativeFunction(library, prefix) for name, prefix in pairs}
        except (OSError, AttributeError, ValueError, IndexError) as err:
            raise FileFormatError(f"{file} is no native program of vitrify: {err}") from None

    def __call__(self, *arrays: Array) -> list[Array]:
        """The outputs of `forward`."""
        return self.functions["forward"](*arrays)


def _opened(file: str) -> ctypes.CDLL:
    """The library; the system would give the one that it has already for a name it knows, though the file is new."""
    with tempfile.TemporaryDirectory() as folder:
        link = os.path.join(folder, os.path.basename(file))
        os.symlink(os.path.abspath(file), link)
        return ctypes.CDLL(link)


def load(path: str | os.PathLike[str]) -> NativeModel:
    """The native program at `path`, with or without the library's ending. Its code runs in this process: load what you
    trust. Raises MissingFileError, FileFormatError.
    """
    file = native_file(os.fspath(path))
    if file is None:
        raise MissingFileError(f"there is no native program {os.fspath(path)!r}")
    return NativeModel(file)
