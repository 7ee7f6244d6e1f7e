"""Builtins that are called with `*values`, whose number is known only when the program runs: `max`, `zip`, `print`."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...core.errors import UnsupportedError
from ...eager.host_ops import assert_op
from ...ir.numbers import as_number
from ...ops.like import cast
from ..containers.displays import Spread
from ..containers.lists import GraphList
from ..containers.specs import StructSpec, TensorSpec
from ..containers.tuples import GraphTuple
from ..control.loops import convert_for
from ..guards.told import refuse_if_told
from ..host.effects import convert_print
from ..values.base import builder, is_graph
from ..values.deferred import Call, record
from ..values.handlers import refuse_if_caught
from ..values.sequences import GraphSequence
from .lazy_library import LAZY_LIBRARY
from .list_builtins import mapped
from .open_lists import OPEN_LISTS


def _extreme(python: Callable[..., Any]) -> Callable[..., Any]:
    of_list = OPEN_LISTS[python]

    def convert(args: Sequence[Any], least: int, **options: Any) -> Any:
        """The extreme of all values; a single one is itself gone through."""
        values = together(args)
        if least > 1:
            return of_list(values, **options)
        if not least:
            _assert(values.length() > 0, TypeError(f"{python.__name__} expected at least 1 argument, got 0"))

        def of_one() -> Any:
            return of_list(values[0], **options)

        return builder().choose(values.length() > 1, partial(of_list, values, **options), of_one, python.__name__)

    return convert


def together(args: Sequence[Any]) -> GraphList:
    """The arguments of a call in one list, with what is behind stars."""
    values = GraphList()
    for arg in args:
        values.extend(arg.values if isinstance(arg, Spread) else [arg])
    return values


def _assert(holds: Any, error: Exception) -> None:
    refuse_if_caught(error)
    refuse_if_told(type(error).__name__)
    record(assert_op, holds, error=Call(type(error), error.args))


def _zip(args: Sequence[Any], least: int, *, strict: bool = False) -> GraphSequence:
    """`zip(*rows)`: as many tuples as each row has items, or none where there is no row."""
    rows = together(args)
    width = None if strict else _width(rows.opened().spec)
    if width is None:
        raise UnsupportedError(
            "`zip` called with *rows, whose number is known only when the program runs: how long each is must be "
            "known, and without strict=True",
            hint="collect each column in a list of its own",
        )
    there = as_number(rows.length() > 0)
    length = width if least else as_number(cast(there, "int64")) * width

    def column(index: Any) -> GraphTuple:
        return GraphTuple(mapped(lambda row: _item(row, index), rows))

    return GraphSequence(length, column)


def _width(spec: Any) -> int | None:
    """How many items each row has; None where that differs between rows or only the program knows."""
    if isinstance(spec, StructSpec) and spec.kind in (list, tuple):
        return len(spec.children)
    if isinstance(spec, TensorSpec) and spec.meta.ndim > 0 and spec.meta.shape[0] >= 0:
        return int(spec.meta.shape[0])
    return None


def _item(row: Any, index: Any) -> Any:
    is_plain = isinstance(row, (list, tuple)) and not isinstance(index, int)
    return GraphList(row)[index] if is_plain else row[index]


def _print(args: Sequence[Any], least: int, *, sep: Any = None, end: Any = None, **to: Any) -> None:
    """`print(*values)`, piece by piece."""
    between = " " if sep is None else sep

    def write(value: Any, is_behind: Any) -> tuple[bool]:
        if is_graph(is_behind):
            builder().choose(is_behind, lambda: convert_print(between, end="", **to), lambda: None, "print")
        convert_print(*((between, value) if is_behind is True else (value,)), sep="", end="", **to)
        return (True,)

    is_behind: Any = False
    for arg in args:
        if isinstance(arg, Spread):
            (is_behind,) = convert_for(arg.values, write, (is_behind,), ("is_behind",))
        else:
            (is_behind,) = write(arg, is_behind)
    convert_print(end=end, **to)


def _chain(args: Sequence[Any], least: int) -> Any:
    """`itertools.chain(*rows)`."""
    return LAZY_LIBRARY[itertools.chain.from_iterable](together(args))


STARRED_BUILTINS: dict[Any, Callable[..., Any]] = {
    builtins.max: _extreme(builtins.max),
    builtins.min: _extreme(builtins.min),
    builtins.zip: _zip,
    builtins.print: _print,
    itertools.chain: _chain,
}
"""By builtin: what is given the arguments, some of them Spreads, and how many values these are at least."""
