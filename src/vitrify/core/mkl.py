"""MKL from the package `mkl`, where that is installed: its library, without the package, which has no module."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any

from .lazy import lazy_module

_metadata = lazy_module("importlib.metadata")

# The library that loads the rest of MKL, as Linux, Windows and macOS name it.
_RUNTIME = ("libmkl_rt.", "mkl_rt.")
_PARTS = (".so", ".dll", ".dylib")


@functools.lru_cache(maxsize=1)
def mkl() -> Any:
    """The library, loaded; None where the package is not installed, or is not for this machine."""
    path = runtime_path()
    if path is None:
        return None
    try:
        return ctypes.CDLL(str(path))
    except OSError:
        return None


def is_loaded() -> bool:
    """Whether somebody has asked for MKL, and got it."""
    return mkl.cache_info().currsize > 0 and mkl() is not None


def runtime_path() -> Path | None:
    """Where the package `mkl` says that the library is; None where there is no such package or file."""
    try:
        files = _metadata.distribution("mkl").files or []
    except _metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name.startswith(_RUNTIME) and any(part in file.name for part in _PARTS):
            path = Path(str(file.locate()))
            if path.is_file():
                return path
    return None


__all__ = ["is_loaded", "mkl", "runtime_path"]
