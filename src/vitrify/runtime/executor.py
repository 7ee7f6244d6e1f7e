"""StandaloneExecutor: runs a Program against a Scope, lowering it once per (feed names, fetch names)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np

from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta
from ..ir.dead_code import live_operators
from ..ir.program import Program, Variable
from .interpreter import InterpreterCore, lower
from .scope import Scope


class _Prepared:
    """A program lowered for given feeds and fetches: what it reads from the scope and writes back."""

    def __init__(self, program: Program, feeds: Sequence[str], fetches: Sequence[Variable]) -> None:
        block = program.global_block()
        self.n_ops = len(block.ops)
        self.feeds = [block.var(name) for name in feeds]
        live = live_operators(block, fetches)
        written = dict.fromkeys(v for op in live for v in op.outputs if v.persistable)
        self.read = _read_first(live, [*fetches, *written], self.feeds)
        self.written = list(written)
        self.core: InterpreterCore = lower(block, [*self.feeds, *self.read], [*fetches, *self.written])


def _read_first(live: Sequence[Any], wanted: Sequence[Variable], feeds: Sequence[Variable]) -> list[Variable]:
    """Variables that must come from the scope: read before any operator writes them, and not fed."""
    defined: set[Variable] = set(feeds)
    read: dict[Variable, None] = {}
    for op in live:
        read.update((v, None) for v in op.variables if v not in defined)
        defined.update(op.outputs)
    read.update((v, None) for v in wanted if v not in defined)
    for var in read:
        if not var.persistable:
            raise ArgumentError(f"variable {var.name!r} ({var.meta}) is needed but was not fed")
    return list(read)


class StandaloneExecutor:
    """Runs one Program. Threads may share it; a program that grew since is lowered again."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._prepared: dict[Any, _Prepared] = {}
        self._lock = Lock()

    def run(self, feed: Mapping[str, Any], fetches: Sequence[Variable], scope: Scope) -> list[Any]:
        """The arrays of `fetches`; persistable variables are read from and written to `scope`."""
        names = tuple(sorted(feed))
        plan = self._plan(names, fetches)
        arrays = [_checked(var, feed[var.name]) for var in plan.feeds]
        arrays += [scope.value_of(var.name) for var in plan.read]
        results = plan.core(*arrays)
        n = len(fetches)
        for var, value in zip(plan.written, results[n:]):
            (scope.find_var(var.name) or scope.var(var.name)).set(value)
        return list(results[:n])

    def _plan(self, names: tuple[str, ...], fetches: Sequence[Variable]) -> _Prepared:
        key = (names, tuple(fetches))
        plan = self._prepared.get(key)
        if plan is None or plan.n_ops != len(self.program.global_block().ops):
            with self._lock:
                plan = self._prepared[key] = _Prepared(self.program, names, fetches)
        return plan


def _checked(var: Variable, value: Any) -> Any:
    """`value` as an array that fits the variable; raises ShapeError or DTypeError."""
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    meta = var.meta
    assert isinstance(meta, Meta)
    if array.dtype != meta.dtype.np:
        if not np.can_cast(array.dtype, meta.dtype.np, "same_kind"):
            raise DTypeError(f"feed {var.name!r}: expected {meta}, got {array.dtype}{list(array.shape)}")
        array = array.astype(meta.dtype.np)
    fits = len(array.shape) == len(meta.shape) and all(w in (UNKNOWN, g) for w, g in zip(meta.shape, array.shape))
    if not fits:
        raise ShapeError(f"feed {var.name!r}: expected {meta}, got {array.dtype}{list(array.shape)}")
    return array
