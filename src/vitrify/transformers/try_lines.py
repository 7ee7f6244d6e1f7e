"""Which `try` statements stand around a line of a source file, for those who meet a frame, not a tree."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.cache import BoundedCache

Lines = tuple[int, int]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TRIES = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))


@dataclass(frozen=True)
class TryLines:
    """A `try` or `with suppress(...)`: the lines whose exceptions it catches, and those that its `finally` follows."""

    line: int
    start: tuple[int, int]
    """Line and column of its first statement."""
    body: Lines
    everything: Lines
    handlers: tuple[ast.expr | None, ...]
    """What is caught, None for a bare `except:`."""
    has_final: bool
    """Whether a `finally` follows that does something."""
    manager: ast.expr | None = None
    """Of a `with suppress(...)`: what it calls, which may be another function of that name."""


Spans = tuple[tuple[Lines, tuple[TryLines, ...]], ...]
_INDEXES: BoundedCache[str, tuple[Sequence[str], Spans]] = BoundedCache("try lines", 64)
"""By file, the lines as they were when they were read, and the functions with their `try` statements."""


def tries_around(filename: str, text: Sequence[str], line: int, col: Callable[[], int | None]) -> list[TryLines]:
    """The `try` statements of the function around `line` that an exception from that line passes through.

    text: the file's lines, which are read again where they are another object. col: gives the column (in bytes), if
    known: a body may start on the line of its `try`.
    """
    held = _INDEXES.get(filename)
    if held is None or held[0] is not text:
        held = text, tuple(_functions("".join(text)))
        _INDEXES.put(filename, held)
    around = [(end - start, tries) for (start, end), tries in held[1] if start <= line <= end]
    if not around:
        return []
    tries = min(around, key=lambda found: found[0])[1]
    inside = [t for t in tries if _within(line, t.body) or (t.has_final and _within(line, t.everything))]
    if not inside:
        return []
    column = col()
    at = line, 1 << 30 if column is None else column
    return [t for t in inside if t.start <= at]


def _within(line: int, lines: Lines) -> bool:
    return lines[0] <= line <= lines[1]


def _functions(text: str) -> Iterator[tuple[Lines, tuple[TryLines, ...]]]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            yield (node.lineno, node.end_lineno or node.lineno), tuple(_tries(node.body))


def _tries(body: list[ast.stmt]) -> Iterator[TryLines]:
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, _TRIES):
            yield _try_lines(node)
        elif isinstance(node, ast.With) and len(node.items) == 1:
            yield from _suppressing(node, node.items[0].context_expr)
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
            pending += ast.iter_child_nodes(node)


def _suppressing(node: ast.With, call: ast.expr) -> Iterator[TryLines]:
    """The statement as a `try`, if it may be a `with suppress(...)`."""
    if isinstance(call, ast.Call) and getattr(call.func, "attr", getattr(call.func, "id", None)) == "suppress":
        lines = _span(node.body[0], node.body[-1])
        start = node.body[0].lineno, node.body[0].col_offset
        yield TryLines(node.lineno, start, lines, lines, tuple(call.args), has_final=False, manager=call.func)


def _try_lines(node: Any) -> TryLines:
    last = (node.orelse or node.handlers or node.body)[-1]
    return TryLines(
        node.lineno,
        (node.body[0].lineno, node.body[0].col_offset),
        _span(node.body[0], node.body[-1]),
        _span(node.body[0], last),
        tuple(handler.type for handler in node.handlers),
        not all(map(_does_nothing, node.finalbody)),
    )


def _does_nothing(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Pass) or (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant))


def _span(first: ast.AST, last: ast.AST) -> Lines:
    return first.lineno, last.end_lineno  # type: ignore[attr-defined]
