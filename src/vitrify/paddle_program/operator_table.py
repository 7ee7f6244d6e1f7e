"""The table of Paddle's operators that are read: name in `.json` programs -> what it means in our own ops.

A reader is `reader(*inputs, **attrs)`, inputs in the order of `.json` programs: tensors, arrays that are known now,
arrays of objects (sizes of which some are known), lists of these, or None where left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..core.errors import FileFormatError, UnsupportedError
from ..ir.known_values import as_tensor
from ..ops.registry import get_op
from .reader_homes import HOMES
from .table import ROWS

Reader = Callable[..., Any]


class Readers:
    """The readers by operator name."""

    def __init__(self) -> None:
        self._readers: dict[str, tuple[Reader, frozenset[str]]] = {}

    def __call__(self, *names: str) -> Callable[[Reader], Reader]:
        """Enter the decorated function under these names."""

        def enter(reader: Reader) -> Reader:
            code = reader.__code__
            takes = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
            for name in names:
                self.enter(name, reader, takes)
            return reader

        return enter

    def enter(self, name: str, reader: Reader, takes: Iterable[str]) -> None:
        """Enter a reader that takes these attributes."""
        self._readers[name] = (reader, frozenset(takes))

    def elementwise(self, theirs: str, ours: str) -> None:
        """Let an operator of tensors alone be our op."""
        self(theirs)(lambda *inputs: get_op(ours)(*map(as_tensor, inputs)))

    def names(self) -> frozenset[str]:
        """The operators that are read."""
        return frozenset(HOMES)

    def call(self, name: str, inputs: list[Any], attrs: Mapping[str, Any]) -> Any:
        """What the operator gives for these inputs; attributes that its reader does not ask for change nothing."""
        if name not in self._readers:
            import_module(HOMES[name])
        reader, takes = self._readers[name]
        return reader(*inputs, **{key: value for key, value in attrs.items() if key in takes})


reads = Readers()

_KINDS: Mapping[str, tuple[type, ...]] = {
    "bool": (bool, int), "int": (int,), "long": (int,), "float": (int, float), "double": (int, float), "str": (str,),
}  # fmt: skip
_LISTS = {"strings": "str", "ints": "int", "longs": "int", "intarray": "int", "floats": "float", "doubles": "float"}
_LARGEST = 1 << 63


def check_call(name: str, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> None:
    """Raise FileFormatError where an input is missing or an attribute of another kind than the operator's row says."""
    row = ROWS.get(name)
    for given, value in zip(row.inputs if row is not None else (), inputs):
        if value is None and not given.optional and not given.attr:
            raise FileFormatError(f"operator {name} has no input {given.name!r}")
    for attr in row.attrs if row is not None else ():
        kinds = (attr.kind, attr.new_kind)
        if attr.name in attrs and not any(_is_of(kind, attrs[attr.name]) for kind in kinds):
            raise FileFormatError(f"operator {name}: {attr.name} is {attrs[attr.name]!r:.60}, no {' or '.join(kinds)}")


def _is_of(kind: str, value: Any) -> bool:
    if kind in _LISTS:
        return isinstance(value, list) and all(_is_of(_LISTS[kind], item) for item in value)
    if kind not in _KINDS:
        return True
    return isinstance(value, _KINDS[kind]) and (not isinstance(value, int) or -_LARGEST <= value < _LARGEST)


def number(value: Any) -> Any:
    """A number that stands in a tensor: known now, or a 0-D tensor."""
    if isinstance(value, np.ndarray):
        if value.size != 1:
            raise UnsupportedError(f"{value.size} numbers stand where one is expected")
        return value.reshape(-1)[0].item() if value.dtype != object else value.reshape(-1)[0]
    if isinstance(value, (int, float)):
        return value
    return value if value.ndim == 0 else get_op("reshape")(value, shape=())


def known_numbers(value: Any) -> list[float]:
    """Numbers that must be known now; raises UnsupportedError."""
    if not isinstance(value, np.ndarray) or value.dtype == object:
        raise UnsupportedError("factors must be constants of the file")
    return [float(v) for v in value.reshape(-1)]


def known_number(value: Any) -> Any:
    """A number that must be known now; raises UnsupportedError."""
    found = number(value)
    if not isinstance(found, (int, float, bool)):
        raise UnsupportedError("an axis or count must be a constant of the file")
    return found
