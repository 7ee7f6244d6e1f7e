"""Variables that a function called in a region may write although the region itself does not: `nonlocal` ones."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

from ...core.cache import BoundedCache
from ...core.closures import cell_contents
from ...core.identity import ById
from .places import CellPlace, GlobalPlace

MAX_ITEMS = 32
_NAMES: BoundedCache[ById, frozenset[str]] = BoundedCache("names_in_code", 4096)
_GLOBALS_STORED: BoundedCache[ById, frozenset[str]] = BoundedCache("stored_globals", 4096)
_STORED: BoundedCache[ById, frozenset[str]] = BoundedCache("stored_cells", 4096)


def closed_over(functions: Iterable[Callable[..., Any]]) -> list[CellPlace]:
    """The cells that functions within reach of `functions` assign to, each once.

    Functions reach those in their closures, partial functions and containers what they hold: long ones are data.
    """
    found: dict[Any, CellPlace] = {}
    seen: set[int] = set()
    waiting: list[Any] = list(functions)[::-1]
    while waiting:
        value = waiting.pop()
        function = value.__func__ if isinstance(value, MethodType) else value
        if id(function) in seen:
            continue
        seen.add(id(function))
        if isinstance(function, (tuple, list, dict, partial)):
            waiting += _held(function)[::-1]
        elif isinstance(function, FunctionType):
            cells = list(zip(function.__code__.co_freevars, function.__closure__ or ()))
            stored = stored_cells(function.__code__)
            for place in (CellPlace(name, cell) for name, cell in cells if name in stored):
                found.setdefault(place.key, place)
            waiting += [content for _, cell in cells[::-1] for content in cell_contents(cell)]
    return list(found.values())


def _held(value: Any) -> list[Any]:
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    # By the methods of the builtin class: containers of a program have their own, and hold nothing while unknown.
    base = next(kind for kind in (tuple, list, dict) if isinstance(value, kind))
    items = dict.values(value) if base is dict else base.__iter__(value)
    return list(items) if base.__len__(value) <= MAX_ITEMS else []


def names_in(code: CodeType) -> frozenset[str]:
    """The global and captured variables and the attributes that the code, functions inside it included, names."""

    def build() -> frozenset[str]:
        inner = [names_in(const) for const in code.co_consts if isinstance(const, CodeType)]
        return frozenset((*code.co_names, *code.co_freevars, *code.co_cellvars)).union(*inner)

    return _NAMES.get_or_build(ById(code), build)


def outer_variables(function: FunctionType) -> list[Any]:
    """The places of the variables around a function that it assigns to: `nonlocal` and `global` ones."""
    return [*closed_over([function]), *outer_globals(function)]


def outer_globals(function: FunctionType) -> list[GlobalPlace]:
    """The places of the global variables that a function assigns to."""
    return [GlobalPlace(name, function.__globals__) for name in sorted(_globals_stored(function.__code__))]


def _globals_stored(code: CodeType) -> frozenset[str]:
    """The global variables that the code assigns to, the functions inside it included."""

    def build() -> frozenset[str]:
        stores = {i.argval for i in dis.get_instructions(code) if i.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")}
        inner = [_globals_stored(const) for const in code.co_consts if isinstance(const, CodeType)]
        return frozenset(stores).union(*inner)

    return _GLOBALS_STORED.get_or_build(ById(code), build)


def stored_cells(code: CodeType) -> frozenset[str]:
    """The free variables that the code assigns to or deletes."""

    def build() -> frozenset[str]:
        stores = {i.argval for i in dis.get_instructions(code) if i.opname in ("STORE_DEREF", "DELETE_DEREF")}
        for inner in code.co_consts:  # the branches and loop bodies that converted code is cut into
            if isinstance(inner, CodeType):
                stores |= stored_cells(inner)
        return frozenset(stores & set(code.co_freevars))

    return _STORED.get_or_build(ById(code), build)
