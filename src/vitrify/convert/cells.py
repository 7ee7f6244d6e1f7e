"""Variables that a function called in a region may write although the region itself does not: `nonlocal` ones."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

from ..core.cache import BoundedCache
from .journal import CellPlace

MAX_DEPTH = 4
_STORED: BoundedCache[CodeType, frozenset[str]] = BoundedCache("stored_cells", 4096)


def closed_over(functions: Iterable[Callable[..., Any]]) -> list[CellPlace]:
    """The cells that functions within reach of `functions` (through closures) assign to, each once."""
    found: dict[Any, CellPlace] = {}
    for function in functions:
        for place in _written(function, MAX_DEPTH):
            found[place.key] = place
    return list(found.values())


def _written(value: Any, depth: int) -> Iterator[CellPlace]:
    function = value.__func__ if isinstance(value, MethodType) else value
    if depth == 0 or not isinstance(function, FunctionType):
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        if name in stored_cells(function.__code__):
            yield CellPlace(name, cell)
        try:
            inner = cell.cell_contents
        except ValueError:  # not set yet
            continue
        yield from _written(inner, depth - 1)


def stored_cells(code: CodeType) -> frozenset[str]:
    """The free variables that the code assigns to or deletes."""

    def build() -> frozenset[str]:
        stores = {i.argval for i in dis.get_instructions(code) if i.opname in ("STORE_DEREF", "DELETE_DEREF")}
        return frozenset(stores & set(code.co_freevars))

    return _STORED.get_or_build(code, build)
