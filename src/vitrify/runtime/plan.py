"""How a program will run: the mode that suits it, and why."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..core.config import NATIVE, blas_is_single, kernel_threads
from ..core.lazy import lazy_module
from ..core.place import Place
from ..ir.program import Operator
from .access import Access
from .costs import seconds
from .dependencies import Dependencies, find_dependencies
from .options import NEVER, ExecutionOptions
from .streams import critical_paths

TRACE, THREADS, STREAMS = "trace", "threads", "streams"
LEAST_SECONDS = 2e-3
"""A program shorter than this is over before other threads have begun."""
LEAST_GAIN = 1.25
NATIVE_PART = 0.5
"""Native calls share their work among threads themselves: a program most of whose work they do is left to them."""
_llvm = lazy_module("vitrify.codegen.llvm")


def _program_order(a: int, b: int) -> bool:
    return a < b


@dataclass(frozen=True)
class Choice:
    """The mode of one program and the reason for it. `order`: the dependencies, where they were asked for."""

    mode: str
    reason: str
    order: Dependencies | None = None
    costs: tuple[float, ...] = field(default=(), repr=False)
    captured: bool = False

    @property
    def precedes(self) -> Callable[[int, int], bool]:
        """Whether one instruction is done before another starts, in all schedules of this mode."""
        return _program_order if self.order is None else self.order.happens_before


def choose_mode(
    operators: Sequence[Operator], accesses: Sequence[Access], options: ExecutionOptions, place: Place
) -> Choice:
    """The mode for these instructions: the one asked for, else several threads or streams where that pays."""
    if options.serial or options.mode == TRACE:
        return Choice(TRACE, "asked for")
    if not place.is_cpu_place():
        return _on_device(operators, accesses, options, place)
    if options.mode in (THREADS, STREAMS):
        return Choice(options.mode, "asked for", _dependencies(accesses, options), tuple(map(seconds, operators)))
    if core_count(options) < 2:
        return Choice(TRACE, "one thread")
    if not options.threads and kernel_threads() < 2:
        return Choice(TRACE, "one thread, as the flag num_threads or $OMP_NUM_THREADS says")
    if not blas_is_single():
        return Choice(TRACE, "BLAS uses all cores itself (OPENBLAS_NUM_THREADS=1 leaves them to independent operators)")
    costs = tuple(map(seconds, operators))
    total = sum(costs)
    if total < LEAST_SECONDS:
        return Choice(TRACE, f"about {total * 1e6:.0f} us of work, too little to share")
    native = _native_part(operators, costs, options)
    if native > NATIVE_PART:
        return Choice(TRACE, f"native calls, which use several threads themselves, do {native:.0%} of the work")
    order = _dependencies(accesses, options)
    longest = max(critical_paths(order, costs), default=0.0)
    if total < LEAST_GAIN * longest:
        return Choice(TRACE, f"its longest chain takes {longest / total:.0%} of the work")
    return Choice(THREADS, f"its longest chain takes {longest / total:.0%} of the work", order, costs)


def _native_part(operators: Sequence[Operator], costs: Sequence[float], options: ExecutionOptions) -> float:
    """Which part of the work native calls may do (`native_runs.py`), as far as the operators say."""
    is_off = not options.passes or options.native == NEVER or not NATIVE.value
    if is_off or kernel_threads() < 2 or _llvm.why_not_here():
        return 0.0
    return sum(cost for operator, cost in zip(operators, costs) if _has_native_form(operator)) / sum(costs)


def _has_native_form(operator: Operator) -> bool:
    op = operator.op
    is_plain = not (op.random or op.effect or operator.ref_count)
    return op.native is not None or (is_plain and (op.scalar is not None or op.decompose is not None or op.view))


def _dependencies(accesses: Sequence[Access], options: ExecutionOptions) -> Dependencies:
    return find_dependencies(accesses, sequential=options.sequential, deterministic=options.deterministic)


def _on_device(
    operators: Sequence[Operator], accesses: Sequence[Access], options: ExecutionOptions, place: Place
) -> Choice:
    """The mode at a device: its streams, unless all work is one chain or too little to spread."""
    order, costs = _dependencies(accesses, options), tuple(map(seconds, operators))
    if options.mode == STREAMS:
        return Choice(STREAMS, "asked for", order, costs)
    if place.is_simulated_place():
        return Choice(STREAMS, "a simulated device has nothing else", order, costs)
    total, longest = sum(costs), max(critical_paths(order, costs), default=0.0)
    asked = "threads were asked for, but kernels of a device need none: " if options.mode == THREADS else ""
    if total < LEAST_SECONDS:
        return Choice(TRACE, f"{asked}one stream, for there is too little work to spread")
    if total < LEAST_GAIN * longest:
        return Choice(TRACE, f"{asked}one stream, for its longest chain takes {longest / total:.0%} of the work")
    return Choice(STREAMS, f"{asked}its longest chain takes {longest / total:.0%} of the work", order, costs)


def core_count(options: ExecutionOptions) -> int:
    """How many threads may compute at once."""
    if options.threads:
        return options.threads
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
