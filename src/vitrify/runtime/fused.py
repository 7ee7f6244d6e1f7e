"""How a group of operators runs: one by one, and as machine code once that has paid for compiling.

Like renting skis: what a group's runs have cost, by estimate, is summed up until it is as much as compiling costs. So
small programs never wait for a compiler, and what runs often or on much data does so for a short time only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from ..core.config import NATIVE, NATIVE_AFTER_MS, kernel_threads
from ..core.lazy import lazy_module
from ..ir.program import Block, Operator
from ..ops.expression_size import steps_of
from .interpreter import InterpreterCore
from .options import ALWAYS, NEVER, ExecutionOptions
from .parts import cut, share

# What a step of an operator costs by estimate, in milliseconds: each time, and for each element.
_CALL_MS, _ELEMENT_MS = 1e-3, 1e-6
# The first kernel of a process also waits until the compiler is loaded: all groups together must be worth so many times
# what one must be.
_LOADING = 6.0


# Elements times operators from which on several threads work on one group: about a millisecond for one.
_SHARED = 1 << 20


if TYPE_CHECKING:
    from ..codegen.native import NativeKernel, RowKernel

Kernel: TypeAlias = "NativeKernel | RowKernel"
_native = lazy_module("vitrify.codegen.native")  # many processes end before anything pays for compiling


class _Account:
    """What all groups of the process have cost before any was compiled, in milliseconds."""

    spent = 0.0


class LoweredLater:
    """The operators of a group, lowered when something is asked of them: most groups soon run as machine code."""

    suspends = False

    def __init__(self, lowered: Callable[[], InterpreterCore]) -> None:
        self._lowered = lowered

    @cached_property
    def core(self) -> InterpreterCore:
        """What runs them one by one."""
        return self._lowered()

    def consume(self, arrays: list[Any]) -> Sequence[Any]:
        """The group's results from a list of arrays, which it takes over."""
        return self.core.consume(arrays)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.core, name)


class Fallback(Protocol):
    """What computes a group's results without machine code."""

    def consume(self, arrays: list[Any]) -> Sequence[Any]:
        """The group's results from a list of arrays, which it takes over."""


def runner(body: Block, core: Fallback, options: ExecutionOptions) -> Callable[[list[Any]], Sequence[Any]]:
    """What computes a group's results from a list of arrays, which it takes over.

    core: what runs the operators of `body` one by one. What only the list refers to may be overwritten.
    """
    return core.consume if options.native == NEVER else _Group(body, core, options).run


def _steps(op: Operator) -> int:
    return steps_of(op.op, len(op.inputs) - op.ref_count, op.attrs)


class _Group:
    """A group of operators, which becomes machine code at some time. Threads may share it."""

    __slots__ = (
        "_at_once", "_body", "_core", "_has_none", "_kernel", "_may_overwrite", "_operators", "_shared_from",
        "_spent",
    )  # fmt: skip

    def __init__(self, body: Block, core: Fallback, options: ExecutionOptions) -> None:
        self._body = body
        self._core = core
        self._operators = sum(map(_steps, body.ops))
        self._may_overwrite = options.inplace
        self._kernel: Kernel | None = None
        self._at_once = options.native == ALWAYS or NATIVE_AFTER_MS.value == 0
        self._shared_from = _SHARED / self._operators
        self._spent = 0.0
        self._has_none = False

    def run(self, arrays: list[Any]) -> Sequence[Any]:
        """The group's results."""
        kernel = self._kernel
        if kernel is None:
            if self._has_none or not self._is_worth_it(arrays):
                return self._core.consume(arrays)
            kernel = self._kernel = cast("Kernel | None", _native.native_kernel(self._body))
            if kernel is None:
                self._has_none = True
                return self._core.consume(arrays)
        if self._is_large(arrays):
            shared = self._shared(kernel, arrays)
            if shared is not None:
                return shared
        found = kernel.run(arrays, self._may_overwrite)
        return self._core.consume(arrays) if found is None else found

    def _is_large(self, arrays: list[Any]) -> bool:
        """Whether several threads are worth it."""
        return any(array.size >= self._shared_from for array in arrays)

    def _shared(self, kernel: Kernel, arrays: list[Any]) -> Sequence[Any] | None:
        """The results, computed on several threads; None where one has to do it."""
        threads = kernel_threads()
        found = kernel.prepared(arrays, self._may_overwrite) if threads > 1 else None
        if found is None:
            return None
        parts = cut(found.inputs, found.outputs, threads, kernel.whole)
        written: list[list[Any]] = [[]] * len(parts)

        def work(number: int) -> None:
            written[number] = kernel.write(*parts[number])

        share(work, len(parts), min(threads, len(parts)))
        return kernel.finish(found, written)

    def _is_worth_it(self, arrays: list[Any]) -> bool:
        """Whether the runs so far have cost as much as compiling will; this one counts as one more."""
        if not NATIVE.value:
            return False
        if self._at_once:
            return True
        is_paid = self._spent >= NATIVE_AFTER_MS.value
        if is_paid and (_native.is_ready() or _Account.spent >= _LOADING * NATIVE_AFTER_MS.value):
            return True
        cost = self._operators * (_CALL_MS + _ELEMENT_MS * max(a.size for a in arrays))
        self._spent += cost
        _Account.spent += cost
        return False


__all__ = ["runner"]
