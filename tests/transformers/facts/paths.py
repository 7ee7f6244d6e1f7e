"""A brute-force oracle for flow facts: run small programs on every path and watch what happens to their variables.

Programs run as module code on a mapping of ours, so that Python itself says when a name is read, bound or deleted.
Every `c()` in them is a choice: each way to answer all of them is one path. `m()` may raise E, `xs()` gives up to two
items. `return` leaves as an exception that no handler names.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

NAMES = ("a", "b", "d")


@dataclass
class Seen:
    """What some path showed at one statement's start, or when it has ended normally."""

    unbound: set[str] = field(default_factory=set)
    live: set[str] = field(default_factory=set)


class Observed(dict[tuple[str, int], Seen]):
    """By ("start" or "end", line)."""

    def __missing__(self, key: tuple[str, int]) -> Seen:
        return self.setdefault(key, Seen())


class E(Exception):
    """What `m()` raises."""


class Return(BaseException):
    """`return`."""


class Stop(BaseException):
    """The end of a path that is of no more interest: a read of an unbound name, or too many choices."""


class Path(dict[str, object]):
    """The variables of one run: notes events until it stops."""

    def __init__(self, observed: Observed, answers: list[bool], limit: int) -> None:
        self.observed = observed
        self.answers = answers
        self.limit = limit
        self.asked = 0
        self.stopped = False
        self.waiting: dict[str, list[Seen]] = {name: [] for name in NAMES}

    def choose(self) -> bool:
        if self.asked == self.limit:
            self.stop()
        if self.asked == len(self.answers):
            self.answers.append(False)
        self.asked += 1
        return self.answers[self.asked - 1]

    def stop(self) -> None:
        self.stopped = True
        raise Stop

    def at(self, kind: str, line: int) -> None:
        """The start or end of the statement on a line."""
        if self.stopped:
            return
        seen = self.observed[kind, line]
        seen.unbound |= {name for name in NAMES if not dict.__contains__(self, name)}
        for waiting in self.waiting.values():
            waiting.append(seen)

    def read(self, name: str) -> None:
        if name in self.waiting and not self.stopped:
            for seen in self.waiting[name]:
                seen.live.add(name)
            self.waiting[name].clear()

    def forget(self, name: str) -> None:
        if name in self.waiting:
            self.waiting[name].clear()

    def __getitem__(self, name: str) -> object:
        self.read(name)
        if name in NAMES and not dict.__contains__(self, name):
            self.stop()
        return dict.__getitem__(self, name)

    def __setitem__(self, name: str, value: object) -> None:
        self.forget(name)
        dict.__setitem__(self, name, value)

    def __delitem__(self, name: str) -> None:
        self.read(name)
        if not dict.__contains__(self, name):
            self.stop()
        dict.__delitem__(self, name)


class Swallow:
    """A context manager that hides every E."""

    def __enter__(self) -> Swallow:
        return self

    def __exit__(self, kind: type | None, *rest: object) -> bool:
        return kind is E


class _Instrument(ast.NodeTransformer):
    """Puts `at(...)` before and after each statement, and makes `return` an exception."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field_name in ("body", "orelse", "finalbody"):
            block = getattr(node, field_name, None)
            if isinstance(block, list) and not isinstance(node, ast.Module):
                setattr(node, field_name, [new for stmt in block for new in self._watched(stmt)])
        for owner in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
            self.generic_visit(owner)
        return node

    def _watched(self, stmt: ast.stmt) -> list[ast.stmt]:
        line = stmt.lineno
        if isinstance(stmt, ast.Return):
            new: list[ast.stmt] = ast.parse("_ = 0\nraise Return").body
            new[0].value = stmt.value  # type: ignore[attr-defined]
        else:
            new = [self.generic_visit(stmt)]  # type: ignore[list-item]
        return [*ast.parse(f"at('start', {line})").body, *new, *ast.parse(f"at('end', {line})").body]


def observe(text: str, limit: int = 9, paths: int = 4000) -> Observed:
    """What every path through the body of the function `text`, of at most `limit` choices, shows."""
    module = ast.parse(text)
    (fn,) = module.body
    _Instrument().generic_visit(fn)
    module.body = fn.body  # type: ignore[attr-defined]
    code = compile(ast.fix_missing_locations(module), "<program>", "exec")
    observed = Observed()
    answers: list[bool] = []
    for _ in range(paths):
        run(code, Path(observed, answers, limit))
        while answers and answers[-1]:
            answers.pop()
        if not answers:
            break
        answers[-1] = True
    return observed


def run(code: object, path: Path) -> None:
    """One path."""

    def m() -> int:
        if path.choose():
            raise E
        return 0

    def xs() -> Iterator[int]:
        while path.choose():
            yield 0

    tools: dict[str, object] = {
        "c": path.choose,
        "m": m,
        "xs": xs,
        "at": path.at,
        "E": E,
        "Return": Return,
        "Swallow": Swallow,
        "Meta": lambda *args, **kwargs: 0,
    }
    with suppress(Return, Stop, E, NameError, TypeError):  # what a `del` raises becomes a NameError
        exec(code, {**tools, "suppress": suppress, "__builtins__": builtins}, path)  # type: ignore[arg-type]
