"""How many threads NumPy's matrix library uses, limited for the length of a `with` block."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from threading import Lock
from typing import Any

# OpenBLAS as NumPy's own wheels name it, as systems do, and MKL: (what sets the number, what tells it).
_NAMES = (
    ("scipy_openblas_set_num_threads64_", "scipy_openblas_get_num_threads64_"),
    ("scipy_openblas_set_num_threads", "scipy_openblas_get_num_threads"),
    ("openblas_set_num_threads64_", "openblas_get_num_threads64_"),
    ("openblas_set_num_threads", "openblas_get_num_threads"),
    ("MKL_Set_Num_Threads", "MKL_Get_Max_Threads"),
)


@lru_cache(maxsize=1)
def _functions() -> tuple[Callable[[int], object], Callable[[], int]] | None:
    """What sets and what tells the number of threads; None for a library without such functions."""
    try:  # what an extension module is linked with is found through it
        library: Any = ctypes.CDLL(import_module("numpy._core._multiarray_umath").__file__)
    except (ImportError, OSError):
        return None
    for put, get in _NAMES:
        if hasattr(library, put) and hasattr(library, get):
            return getattr(library, put), getattr(library, get)
    return None


class _Limits:
    """The blocks that are open. The library knows one number for the process: the first block to begin finds what it
    was, the last to end restores it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._open = 0
        self._before = 0

    def enter(self, threads: int) -> None:
        """Begin a block."""
        put, get = _functions() or (None, None)
        if put is None or get is None:
            return
        with self._lock:
            if self._open == 0:
                self._before = get()
            self._open += 1
            put(threads)

    def leave(self) -> None:
        """End one."""
        put, _ = _functions() or (None, None)
        if put is None:
            return
        with self._lock:
            self._open -= 1
            if self._open == 0:
                put(self._before)


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
