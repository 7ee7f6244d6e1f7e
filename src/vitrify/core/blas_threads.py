"""How many threads matrix libraries use, NumPy's and MKL, limited for the length of a `with` block."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from itertools import zip_longest
from threading import Lock
from typing import Any

from .lazy import lazy_module

_mkl = lazy_module("vitrify.core.mkl")  # of native programs that multiply matrices only

# OpenBLAS as NumPy's own wheels name it, as systems do, and MKL: (what sets the number, what tells it).
_NAMES = (
    ("scipy_openblas_set_num_threads64_", "scipy_openblas_get_num_threads64_"),
    ("scipy_openblas_set_num_threads", "scipy_openblas_get_num_threads"),
    ("openblas_set_num_threads64_", "openblas_get_num_threads64_"),
    ("openblas_set_num_threads", "openblas_get_num_threads"),
    ("MKL_Set_Num_Threads", "MKL_Get_Max_Threads"),
)


_Pair = tuple[Callable[[int], object], Callable[[], int]]


@lru_cache(maxsize=1)
def _functions() -> _Pair | None:
    """What sets and what tells the number of threads; None for a library without such functions."""
    try:  # what an extension module is linked with is found through it
        library: Any = ctypes.CDLL(import_module("numpy._core._multiarray_umath").__file__)
    except (ImportError, OSError):
        return None
    return _of(library)


def _of(library: Any) -> _Pair | None:
    for put, get in _NAMES:
        if hasattr(library, put) and hasattr(library, get):
            return getattr(library, put), getattr(library, get)
    return None


def _libraries() -> list[_Pair]:
    """NumPy's library, and MKL where products go to it."""
    found = [_functions(), _of(_mkl.mkl()) if _is_mkl_loaded() else None]
    return [pair for pair in found if pair is not None]


def _is_mkl_loaded() -> bool:
    return "vitrify.core.mkl" in sys.modules and bool(_mkl.is_loaded())


def match_threads() -> None:
    """Let MKL use as many threads as NumPy's library does now, which environment and blocks have told."""
    own, told = _of(_mkl.mkl()), blas_thread_count()
    if own is not None and told is not None:
        own[0](told)


class _Limits:
    """The blocks that are open. A library knows one number for the process: the first block to begin finds what it
    was, the last to end restores it. All have the same number; one that is loaded in a block gets what NumPy's had.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._open = 0
        self._before: list[int] = []

    def enter(self, threads: int) -> None:
        """Begin a block."""
        with self._lock:
            libraries = _libraries()
            if self._open == 0:
                self._before = [get() for _, get in libraries]
            self._open += 1
            for put, _ in libraries:
                put(threads)

    def leave(self) -> None:
        """End one."""
        with self._lock:
            self._open -= 1
            if self._open == 0 and self._before:
                for put, before in zip_longest([put for put, _ in _libraries()], self._before):
                    put(self._before[0] if before is None else before)


_LIMITS = _Limits()


@contextmanager
def blas_threads(threads: int) -> Iterator[None]:
    """Let matrix products use so many threads inside the block, of whichever Python thread they are.

    Where several blocks are open at once, the one that began last decides. A library that cannot be told is left alone.

    >>> with blas_threads(1):
    ...     pass
    """
    _LIMITS.enter(threads)
    try:
        yield
    finally:
        _LIMITS.leave()


def blas_thread_count() -> int | None:
    """How many threads matrix products use now; None where the library does not say."""
    found = _functions()
    return None if found is None else int(found[1]())
