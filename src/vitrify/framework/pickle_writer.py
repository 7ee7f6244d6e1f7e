"""Writing objects in the format of Paddle's own files: a pickle of plain data, whose tensors are (name, array).

The few instructions that plain data needs are written here; reading such a file runs nothing (`pickle_data`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..core.errors import DTypeError
from ..eager.tensor import Tensor

_NONE, _TRUE, _FALSE, _STOP = b"N", b"\x88", b"\x89", b"."
_MARK, _LIST, _APPENDS, _DICT, _SETITEMS, _TUPLE = b"(", b"]", b"e", b"}", b"u", b"t"
_REDUCE, _BUILD = b"R", b"b"


def to_pickle(obj: Any, protocol: int) -> bytes:
    """The file that Paddle's `load` reads `obj` from; DTypeError names the place of what is no plain data.

    protocol: 2 to 4, of pickle.
    """
    return b"".join([b"\x80", bytes([protocol]), *_Writer(protocol).parts(obj, "obj"), _STOP])


class _Writer:
    """Gives the instructions that make an object again."""

    def __init__(self, protocol: int) -> None:
        self.protocol = protocol

    def parts(self, obj: Any, where: str) -> Iterable[bytes]:
        if obj is None or isinstance(obj, (bool, np.bool_)):
            return [_NONE if obj is None else _TRUE if obj else _FALSE]
        for kind, write in _KINDS:
            if isinstance(obj, kind):
                return write(self, obj, where)
        raise DTypeError(f"save: {where} is a {type(obj).__name__}, which is no plain data")

    def integer(self, obj: Any, where: str) -> Iterable[bytes]:
        value = int(obj)
        data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        return [b"\x8b", struct.pack("<i", len(data)), data]

    def number(self, obj: Any, where: str) -> Iterable[bytes]:
        return [b"G", struct.pack(">d", float(obj))]

    def text(self, obj: str, where: str) -> Iterable[bytes]:
        data = obj.encode("utf-8", "surrogatepass")
        return [b"X", struct.pack("<I", len(data)), data]

    def data(self, obj: bytes, where: str) -> Iterable[bytes]:
        """Bytes: as text of the same numbers in protocol 2, which has none."""
        if self.protocol < 3:
            return self.call("_codecs", "encode", obj.decode("latin1"), "latin1")
        if len(obj) < 2**32:
            return [b"B", struct.pack("<I", len(obj)), obj]
        if self.protocol < 4:
            raise DTypeError(f"save: {where} has {len(obj)} bytes, too many for protocol {self.protocol}")
        return [b"\x8e", struct.pack("<Q", len(obj)), obj]

    def items(self, obj: Iterable[Any], where: str) -> Iterable[bytes]:
        for place, item in enumerate(obj):
            yield from self.parts(item, f"{where}[{place}]")

    def list(self, obj: Any, where: str) -> Iterable[bytes]:
        return [_LIST, _MARK, *self.items(obj, where), _APPENDS]

    def tuple(self, obj: Any, where: str) -> Iterable[bytes]:
        return [_MARK, *self.items(obj, where), _TUPLE]

    def mapping(self, obj: Mapping[Any, Any], where: str) -> Iterable[bytes]:
        found = [_DICT, _MARK]
        for key, value in obj.items():
            found += [*self.parts(key, f"a key of {where}"), *self.parts(value, f"{where}[{key!r}]")]
        return [*found, _SETITEMS]

    def call(self, module: str, name: str, *arguments: Any) -> Iterable[bytes]:
        return [*_named(module, name), *self.tuple(arguments, name), _REDUCE]

    def array(self, obj: Any, where: str) -> Iterable[bytes]:
        """An array as NumPy itself pickles it; bfloat16 as the integers that its bits are, as Paddle does."""
        kept = np.asarray(obj)
        kept = kept.view(np.uint16) if kept.dtype.kind == "V" else kept
        if kept.dtype.kind not in "biufc":
            raise DTypeError(f"save: {where} is an array of {kept.dtype}")
        kept = kept.astype(kept.dtype.newbyteorder("<"))
        dtype = [
            *self.call("numpy", "dtype", kept.dtype.str[1:], False, True),
            *self.tuple((3, "<", None, None, None, -1, -1, 0), where), _BUILD,
        ]  # fmt: skip
        state = [_MARK, *self.integer(1, where), *self.tuple(kept.shape, where), *dtype, _FALSE]
        made = [*_named("numpy.core.multiarray", "_reconstruct"), _MARK, *_named("numpy", "ndarray")]
        made += [*self.tuple((0,), where), *self.data(b"b", where), _TUPLE, _REDUCE]
        return [*made, *state, *self.data(kept.tobytes(), where), _TUPLE, _BUILD]

    def scalar(self, obj: np.generic, where: str) -> Iterable[bytes]:
        return self.parts(obj.item(), where)

    def tensor(self, obj: Tensor, where: str) -> Iterable[bytes]:
        builtins = "builtins" if self.protocol >= 3 else "__builtin__"
        pair = [_MARK, *self.text(obj.name, where), *self.array(obj.numpy(), where), _TUPLE]
        return [*_named(builtins, "tuple"), _MARK, *pair, _TUPLE, _REDUCE]


def _named(module: str, name: str) -> list[bytes]:
    return [f"c{module}\n{name}\n".encode()]


_KINDS: tuple[tuple[Any, Callable[[_Writer, Any, str], Iterable[bytes]]], ...] = (
    (Tensor, _Writer.tensor),
    (np.ndarray, _Writer.array),
    (np.generic, _Writer.scalar),
    (int, _Writer.integer),
    (float, _Writer.number),
    (str, _Writer.text),
    (bytes, _Writer.data),
    (Mapping, _Writer.mapping),
    (list, _Writer.list),
    (tuple, _Writer.tuple),
)
