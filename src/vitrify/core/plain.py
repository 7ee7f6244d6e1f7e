"""Plain Python data as JSON and back, exactly: tuples stay tuples, 1.0 stays a float, NaN stays NaN.

A namedtuple comes back as one of the same names: its class is made anew, and lacks what else the user's had.
"""

from __future__ import annotations

import base64
import math
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from .dtype import ALL, DType
from .errors import DTypeError, FileFormatError
from .lazy import lazy_module

_size = lazy_module("vitrify.core.size")  # who reads a file without sizes needs none

MAX_DEPTH = 64
MOST_FIELDS, LONGEST = 256, 256
Json = Any
# A leaf encoder returns (tag, JSON) for a value it knows, given with its place, or None; decoders are found by tag.
LeafEncoder = Callable[[Any, str], "tuple[str, Json] | None"]
LeafDecoders = Mapping[str, Callable[[Json], Any]]
_DTYPES = {dtype.name: dtype for dtype in ALL}


def _no_leaf(value: Any, where: str) -> None:
    return None


def to_json(value: Any, leaf: LeafEncoder = _no_leaf, root: str = "the object") -> Json:
    """`value` as JSON data; `leaf` encodes what is not plain (tensors, arrays); errors call the whole `root`.

    Plain are None, bool, int, float, complex, str, bytes, DType, slice, Ellipsis, and list, tuple, namedtuple, Size,
    dict and OrderedDict of these. Raises DTypeError naming the place of anything else, and for nesting deeper than 64.

    >>> to_json({"a": (1, 2.0)})
    {'dict': [['a', {'tuple': [1, 2.0]}]]}
    """
    return _Encoder(leaf).encode(value, root, 0)


class _Encoder:
    def __init__(self, leaf: LeafEncoder) -> None:
        self._leaf = leaf
        self._containers: dict[type, Callable[[Any, str, int], Json]] = {
            list: self._items,
            tuple: lambda value, where, depth: {"tuple": self._items(value, where, depth)},
            _size.Size: lambda value, where, depth: {"size": self._items(value, where, depth)},
            dict: lambda value, where, depth: {"dict": self._pairs(value, where, depth)},
            OrderedDict: lambda value, where, depth: {"OrderedDict": self._pairs(value, where, depth)},
            slice: lambda value, where, depth: {
                "slice": self._items((value.start, value.stop, value.step), where, depth)
            },
        }

    def encode(self, value: Any, where: str, depth: int) -> Json:
        if depth > MAX_DEPTH:
            raise DTypeError(f"{where} is nested deeper than {MAX_DEPTH} levels (does it contain itself?)")
        container = self._containers.get(type(value))
        if container is not None:
            return container(value, where, depth + 1)
        scalar = _SCALARS.get(type(value))
        if scalar is not None:
            return scalar(value)
        if is_namedtuple(value):
            names = [type(value).__name__, *type(value)._fields]
            return {"namedtuple": [names, self._items(value, where, depth + 1)]}
        found = self._leaf(value, where)
        if found is None:
            raise DTypeError(f"{where} is a {type(value).__name__}, which cannot be saved")
        return {found[0]: found[1]}

    def _items(self, value: Any, where: str, depth: int) -> list[Json]:
        return [self.encode(item, f"{where}[{i}]", depth) for i, item in enumerate(value)]

    def _pairs(self, value: Any, where: str, depth: int) -> list[list[Json]]:
        return [
            [self.encode(key, f"a key of {where}", depth), self.encode(item, f"{where}[{key!r}]", depth)]
            for key, item in value.items()
        ]


def is_namedtuple(value: Any) -> bool:
    """Whether a value is of a class that `collections.namedtuple` or `typing.NamedTuple` made."""
    return isinstance(value, tuple) and isinstance(getattr(type(value), "_fields", None), tuple)


def _is_name(value: Any) -> bool:
    return type(value) is str and len(value) <= LONGEST and value.isidentifier()


@lru_cache(maxsize=256)
def _named(name: str, fields: tuple[str, ...]) -> Any:
    """The class of a stored namedtuple: one for all of the same names. Raises ValueError for a keyword as its name."""
    return namedtuple(name, fields, rename=True, module="builtins")


def _number(value: float) -> Json:
    return value if math.isfinite(value) else {"float": repr(value)}


_SCALARS: dict[type, Callable[[Any], Json]] = {
    type(None): lambda value: value,
    bool: lambda value: value,
    int: lambda value: value,
    str: lambda value: value,
    float: _number,
    complex: lambda value: {"complex": [repr(value.real), repr(value.imag)]},
    bytes: lambda value: {"bytes": base64.b64encode(value).decode()},
    DType: lambda value: {"dtype": value.name},
    type(...): lambda value: {"ellipsis": None},
}


def from_json(data: Json, leaves: LeafDecoders | None = None) -> Any:
    """The value that `to_json` encoded; `leaves` decodes foreign leaves by their tag.

    Raises FileFormatError for data that `to_json` cannot have made; runs nothing but `leaves`.

    >>> from_json({"dict": [["a", {"tuple": [1, 2.0]}]]})
    {'a': (1, 2.0)}
    """
    return _Decoder(leaves or {}).decode(data, 0)


class _Decoder:
    def __init__(self, leaves: LeafDecoders) -> None:
        self._leaves = leaves
        self._containers: dict[str, Callable[[Json, int], Any]] = {
            "tuple": lambda data, depth: tuple(self._items(data, depth)),
            "namedtuple": self._namedtuple,
            "size": lambda data, depth: _size.size_of_items(self._items(data, depth)),
            "dict": lambda data, depth: dict(self._pairs(data, depth)),
            "OrderedDict": lambda data, depth: OrderedDict(self._pairs(data, depth)),
            "slice": lambda data, depth: _slice(*self._items(data, depth)),
        }

    def decode(self, data: Json, depth: int) -> Any:
        if depth > MAX_DEPTH + 1:
            raise FileFormatError(f"stored data is nested deeper than {MAX_DEPTH} levels")
        if isinstance(data, list):
            return self._items(data, depth + 1)
        if not isinstance(data, dict):
            return data
        if len(data) != 1:
            raise FileFormatError(f"stored data has an entry with {len(data)} tags, expected 1")
        ((tag, body),) = data.items()
        try:
            return self._tagged(tag, body, depth + 1)
        except FileFormatError:
            raise
        except (TypeError, ValueError, ArithmeticError, LookupError):  # the ways in which nonsense fails to decode
            raise FileFormatError(f"stored data has a bad {tag!r} entry") from None

    def _tagged(self, tag: str, body: Json, depth: int) -> Any:
        container = self._containers.get(tag)
        if container is not None:
            return container(body, depth)
        return (_FROM_TAG.get(tag) or self._leaves[tag])(body)

    def _items(self, data: Json, depth: int) -> list[Any]:
        if not isinstance(data, list):
            raise FileFormatError("stored data has a sequence that is no list")
        return [self.decode(item, depth) for item in data]

    def _namedtuple(self, data: Json, depth: int) -> Any:
        names, items = data
        if not (isinstance(names, list) and 1 <= len(names) <= MOST_FIELDS and all(map(_is_name, names))):
            raise FileFormatError("stored data has a namedtuple without names")
        return _named(names[0], tuple(names[1:]))._make(self._items(items, depth))

    def _pairs(self, data: Json, depth: int) -> list[tuple[Any, Any]]:
        return [(self.decode(key, depth), self.decode(value, depth)) for key, value in data]


def _slice(start: Any, stop: Any, step: Any) -> slice:
    return slice(start, stop, step)


_FROM_TAG: dict[str, Callable[[Json], Any]] = {
    "float": lambda body: float({"nan": "nan", "inf": "inf", "-inf": "-inf"}[body]),
    "complex": lambda body: complex(float(body[0]), float(body[1])),
    "bytes": lambda body: base64.b64decode(body, validate=True),
    "dtype": lambda body: _DTYPES[body],
    "ellipsis": lambda body: ...,
}
