"""Paddle's forms of what a program says and refuses: print, assert, exceptions.

Its operators show tensors and no text of Python's: what is said stands in front, "..." for what only the run knows.
"""

from __future__ import annotations

from typing import Any

from ..core.dtype import bool_
from ..core.meta import Meta
from .emitter import FORMS, Emitter, Value


@FORMS("print")
def print_(g: Emitter, *values: Value, text: Any, file: Any, flush: bool) -> list[Value]:
    """print of each tensor, the first one behind the text; of a constant where there is none."""
    message = _text(text)
    for i, value in enumerate(values or (g.full(True, bool_),)):
        _shown(g, value, message if not i else "", -1, bool(values))
    return []


@FORMS("print_tensor")
def print_tensor(
    g: Emitter, x: Value, *, label: str, message: str | None, summarize: int, shown: tuple[str, ...],
    phases: tuple[str, ...], counter: Any,
) -> list[Value]:  # fmt: skip
    """print, where it is not for gradients alone."""
    if "forward" not in phases:
        return [g.op("assign", x)]
    return [_shown(g, x, message or "", summarize, True, -1 if counter is None else counter.left, shown)]


def _shown(
    g: Emitter, x: Value, message: str, summarize: int, has_data: bool, first_n: int = -1, shown: Any = ()
) -> Value:
    flags = {f"print_tensor_{name}": name in shown for name in ("name", "type", "shape", "layout", "lod")}
    count = summarize if has_data else 0
    return g.op("print", x, first_n=first_n, message=message, summarize=count, **flags)


def _text(expression: Any) -> str:
    """What is known of a text now."""
    if type(expression) is not tuple:
        return str(expression).rstrip("\n")
    kind, *parts = expression
    if kind == "value":
        return str(parts[0])
    if kind == "call" and type(parts[1]) in (tuple, list):
        return "".join(map(_text, parts[1])).rstrip("\n") if parts[0] == "concat" else "..."
    return "..."


@FORMS("assert")
def assert_(g: Emitter, condition: Value, *values: Value, error: Any) -> list[Value]:
    """assert, which shows the tensors that the exception would name."""
    holds = condition
    if condition.dtype is not bool_:
        holds = g.cast(condition, bool_)
    if condition.ndim:
        axes = list(range(condition.ndim))
        holds = g.op("all", holds, meta=Meta((), bool_), axis=axes, keepdim=False, reduce_all=True)
    _asserted(g, holds, values)
    return []


@FORMS("raise")
def raise_(g: Emitter, *values: Value, error: Any, cause: Any, chained: bool) -> list[Value]:
    """assert of what does not hold."""
    _asserted(g, g.full(False, bool_), values)
    return []


def _asserted(g: Emitter, holds: Value, values: Any) -> None:
    g.ops("assert", [holds, list(values) or [holds]], [], summarize=-1)
