"""print, assert and checks that must happen when the program runs."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from ..eager.host_ops import assert_op, print_op
from ..ir.builder import current_builder
from .merge import unset_flag
from .values import Undefined, is_graph, is_tensor


def convert_assert(test: Any, message: Callable[[], Any] | None = None) -> None:
    """`assert test, message()`."""
    if not is_graph(test):
        assert test, "" if message is None else message()
        return
    text = () if message is None else _parts((message(),))
    values = [v for v in text if is_tensor(v)]
    assert_op(test, *values, message=_template(text), kind="assert")


def convert_print(*args: Any, sep: str | None = None, end: str | None = None, **kwargs: Any) -> None:
    """`print(*args)`, each time the program runs; now if no program is being built, or it goes to another file."""
    if current_builder() is None or kwargs.get("file") is not None:
        builtins.print(*args, sep=sep, end=end, **kwargs)
        return
    parts = _parts(args)
    values = [p for p in parts if is_tensor(p)]
    stops = tuple(bool(v.stop_gradient) for v in values)
    gap = " " if sep is None else sep
    print_op(*values, template=_template(parts), stops=stops, sep=gap, end="\n" if end is None else end)


def _parts(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(v if is_tensor(v) else str(v) for v in values)


def _template(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Text as it is, tensors as their index among the tensors."""
    counter = iter(range(len(parts)))
    return tuple(next(counter) if is_tensor(p) else p for p in parts)


def load(value: Any) -> Any:
    """The value of a variable that may be unset; raises (now, or when the program runs) if it is."""
    if isinstance(value, Undefined):
        raise value.fail()
    held = unset_flag(value)
    if held is not None:
        flag, name, line = held
        message = f"local variable {name!r} is read, but the path taken did not set it (it is set near line {line})"
        assert_op(flag, message=(message,), kind="unset")
    return value
