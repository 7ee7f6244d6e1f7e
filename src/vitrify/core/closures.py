"""Functions taken apart into what they hold, and made anew of it: defaults, variables of other functions, arguments."""

from __future__ import annotations

from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

CLOSURES = (FunctionType, MethodType, partial, CellType)


def closure_node(value: Any) -> tuple[type, list[Any], Any]:
    """(kind, children, extra) of a function, method or partial, or of a cell that a function's variable lives in."""
    if isinstance(value, MethodType):
        return MethodType, [value.__func__, value.__self__], "method"
    if isinstance(value, partial):
        return type(value), [value.func, *value.args, *value.keywords.values()], ("partial", *value.keywords)
    if isinstance(value, CellType):
        return CellType, cell_contents(value), "cell"
    keywords, held = value.__kwdefaults__ or {}, value.__dict__
    children = [*(value.__defaults__ or ()), *keywords.values(), *(value.__closure__ or ()), *held.values()]
    return FunctionType, children, ("function", value, tuple(keywords), tuple(held))


def is_our_own(value: Any) -> bool:
    """Whether a function or method is of this package."""
    return (getattr(value, "__module__", None) or "").partition(".")[0] == "vitrify"


def cell_contents(cell: CellType) -> list[Any]:
    """What a variable of a function holds, alone in a list; an empty list while it is not set."""
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


def content_or_cell(cell: CellType) -> Any:
    """What a variable of a function holds; while it is not set the cell itself, which equals no content."""
    return next(iter(cell_contents(cell)), cell)


def remade(kind: Any, extra: Any, values: list[Any]) -> Any:
    """What `closure_node` took apart, of these values."""
    if kind is CellType:
        return CellType(*values)
    if kind is MethodType:
        return MethodType(*values)
    if extra[0] == "partial":
        count = len(values) - len(extra) + 1
        return kind(*values[:count], **dict(zip(extra[1:], values[count:])))
    _, function, keywords, held = extra
    rest = iter(values)
    defaults = tuple(next(rest) for _ in function.__defaults__ or ())
    named = {name: next(rest) for name in keywords}
    cells = tuple(next(rest) for _ in function.__closure__ or ())
    made = FunctionType(function.__code__, function.__globals__, function.__name__, defaults or None, cells or None)
    made.__kwdefaults__ = named or None
    made.__dict__.update(zip(held, rest))
    made.__qualname__, made.__doc__ = function.__qualname__, function.__doc__
    made.__module__, made.__annotations__ = function.__module__, dict(function.__annotations__)
    return made


__all__ = ["CLOSURES", "cell_contents", "closure_node", "content_or_cell", "is_our_own", "remade"]
