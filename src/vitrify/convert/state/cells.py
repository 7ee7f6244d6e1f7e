"""Variables that a function called in a region may write although the region itself does not: `nonlocal` ones."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

from ...core.cache import BoundedCache
from .places import CellPlace, GlobalPlace

MAX_DEPTH = 4
_NAMES: BoundedCache[CodeType, frozenset[str]] = BoundedCache("names_in_code", 4096)
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


def names_in(code: CodeType) -> frozenset[str]:
    """The global and captured variables and the attributes that the code, functions inside it included, names."""

    def build() -> frozenset[str]:
        inner = [names_in(const) for const in code.co_consts if isinstance(const, CodeType)]
        return frozenset((*code.co_names, *code.co_freevars, *code.co_cellvars)).union(*inner)

    return _NAMES.get_or_build(code, build)


def outer_variables(function: FunctionType) -> list[Any]:
    """The places of the variables around a function that it assigns to: `nonlocal` and `global` ones."""
    names = _globals_stored(function.__code__)
    return [*closed_over([function]), *[GlobalPlace(name, function.__globals__) for name in sorted(names)]]


def _globals_stored(code: CodeType) -> frozenset[str]:
    """The global variables that the code assigns to, the functions inside it included."""
    stores = {i.argval for i in dis.get_instructions(code) if i.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")}
    inner = [_globals_stored(const) for const in code.co_consts if isinstance(const, CodeType)]
    return frozenset(stores).union(*inner)


def stored_cells(code: CodeType) -> frozenset[str]:
    """The free variables that the code assigns to or deletes."""

    def build() -> frozenset[str]:
        stores = {i.argval for i in dis.get_instructions(code) if i.opname in ("STORE_DEREF", "DELETE_DEREF")}
        for inner in code.co_consts:  # the branches and loop bodies that converted code is cut into
            if isinstance(inner, CodeType):
                stores |= stored_cells(inner)
        return frozenset(stores & set(code.co_freevars))

    return _STORED.get_or_build(code, build)
