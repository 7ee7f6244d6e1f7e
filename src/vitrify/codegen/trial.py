"""A product of bfloat16 that a machine has never run is tried in a process of its own, beside one that is known.

The CPU may end a process that runs what it says it has (a hypervisor or a container may not let it through), and may be
slower at it. A forked process needs nothing but the machine code, which is loaded already, and memory that both share.
"""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import os
import signal
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .emit import BFLOAT16

Sizes = tuple[int, int, int]
_WORD, _POINTER = ctypes.c_int64, ctypes.c_void_p
# As `gemm_bf16` says.
_SIGNATURE = [*[_WORD] * 3, *[_POINTER, _WORD, _WORD] * 2, _POINTER, _WORD, *[_POINTER] * 5]
_ALIGNED = 64
# Rounds in turns, of which the fastest counts, and multiplications that one does at least, some 50 microseconds.
_ROUNDS, _WORK = 9, 1 << 23
_MOST_REPEATS = 64
# Seconds below which a product has taken nothing that could be told.
_LEAST = 1e-7
# When a process is taken to hang, in seconds, and how often it is looked after.
_DEADLINE, _PAUSE = 20.0, 0.002
# How far a result may lie from the true one: half a unit of its last place, and what sums of float32 lose.
_ROUNDING, _SLACK = 2.0**-8, 1e-5


class Undecided(Exception):
    """There was no trial: no process could be made, or it did not end in time. Another day it may."""


class Product(NamedTuple):
    """A function such as `gemm_bf16`, and the bytes of working memory for given sizes."""

    address: int
    scratch: Callable[[int, int, int], int]

    @property
    def function(self) -> Any:
        return ctypes.CFUNCTYPE(ctypes.c_int32, *_SIGNATURE)(self.address)


def ratios(
    tried: Product, known: Product, cases: Sequence[Sizes], prepare: Callable[[], bool]
) -> list[float] | None:  # fmt: skip
    """For each of the sizes the time of one product over that of the other.

    None where the process ended early, `prepare`, which runs in it first, said no, or a result was wrong. Raises
    Undecided.
    """
    memory = _Memory(tried, known, cases)

    def work() -> None:
        if prepare():
            memory.run()

    _run_apart(work, _DEADLINE)
    return memory.found()


class _Memory:
    """Operands, results and times, in memory that a forked process shares."""

    def __init__(self, tried: Product, known: Product, cases: Sequence[Sizes]) -> None:
        self._functions = tried.function, known.function
        self._cases = cases
        room = [max(p.scratch(*sizes) for p in (tried, known)) for sizes in cases]
        parts = [(m * k, k * n, m * n, m * n) for m, n, k in cases]
        size = sum(-(-2 * count // _ALIGNED) * _ALIGNED for part in parts for count in part) + max(room) + _ALIGNED
        self._bytes = np.frombuffer(mmap.mmap(-1, size + 8 * (2 * len(cases) + 1) + _ALIGNED), np.uint8)
        self._used = 0
        self._times = self._taken((len(cases), 2), np.dtype(np.float64))
        self._is_done = self._taken((1,), np.dtype(np.int64))
        rng = np.random.default_rng(0)
        self._arrays = []
        for m, n, k in cases:
            shapes = (m, k), (k, n), (m, n), (m, n)
            arrays = [self._taken(shape, BFLOAT16) for shape in shapes]
            for x in arrays[:2]:
                x[:] = rng.standard_normal(x.shape)
            self._arrays.append(arrays)
        self._scratch = self._taken((max(room),), np.dtype(np.uint8))

    def _taken(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        size = int(np.prod(shape)) * dtype.itemsize
        start = self._used
        self._used += -(-size // _ALIGNED) * _ALIGNED
        return self._bytes[start : start + size].view(dtype).reshape(shape)

    def run(self) -> None:
        """Compute and time everything."""
        calls = []
        for arrays, (m, n, k) in zip(self._arrays, self._cases):
            a, b, *results = arrays
            for c, function in zip(results, self._functions):
                given = (m, n, k, a.ctypes.data, *a.strides, b.ctypes.data, *b.strides, c.ctypes.data, c.strides[0],
                         self._scratch.ctypes.data, None, None, None, None)  # fmt: skip
                function(*given)
                calls.append((function, given))
        rounds = [[_seconds(*call) for call in calls] for _ in range(_ROUNDS)]
        whole, nothing = np.min(rounds, 0).T
        self._times[:] = np.maximum(whole - nothing, _LEAST).reshape(self._times.shape)
        self._is_done[0] = 1

    def found(self) -> list[float] | None:
        """What the process has left."""
        if not self._is_done[0] or not all(_is_right(*arrays[:3]) for arrays in self._arrays):
            return None
        return [float(tried / known) for tried, known in self._times]


def _seconds(function: Any, given: Sequence[Any]) -> tuple[float, float]:
    """What a product takes when Python calls it, and what one of no columns does, which is the call alone."""
    m, n, k = given[:3]
    repeats = min(-(-_WORK // (m * n * k)), _MOST_REPEATS)
    return _timed(function, given, repeats), _timed(function, (m, 0, *given[2:]), repeats)


def _timed(function: Any, given: Sequence[Any], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        function(*given)
    return time.perf_counter() - start


def _is_right(a: Any, b: Any, found: Any) -> bool:
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    exact = wide_a @ wide_b
    slack = np.abs(wide_a) @ np.abs(wide_b) * _SLACK
    return bool((np.abs(found.astype(np.float64) - exact) <= np.abs(exact) * _ROUNDING + slack).all())


def _run_apart(work: Callable[[], object], deadline: float) -> None:
    """Let a forked process do this. How it ends says nothing: what it wrote does. Raises Undecided."""
    try:
        with warnings.catch_warnings():
            # Python warns of forking where there are threads, as their locks may be held: nothing here asks for any.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
    except (OSError, RuntimeError) as error:  # the latter where an interpreter is inside another, or ends
        raise Undecided("no process can be made") from error
    if child == 0:
        _work_and_end(work)
    end = time.monotonic() + deadline
    with suppress(ChildProcessError):  # somebody else waits for all processes
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                raise Undecided("the process did not end")
            time.sleep(_PAUSE)


def _work_and_end(work: Callable[[], object]) -> NoReturn:
    """The life of the forked process, of which nobody shall hear anything."""
    try:
        faulthandler.disable()
        for fault in (signal.SIGILL, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGTRAP):
            signal.signal(fault, signal.SIG_DFL)
        work()
    finally:
        os._exit(0)


__all__ = ["Product", "Undecided", "ratios"]
