"""Addresses of BLAS's functions: those of MKL where the package `mkl` is installed, else those that SciPy has."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from ..core.blas_threads import match_threads
from ..core.lazy import extension_module
from ..core.mkl import mkl
from .emit import FLOAT32, FLOAT64, Dtype

_NAMES = {FLOAT32: "sgemm", FLOAT64: "dgemm"}
DTYPES = tuple(_NAMES)


@functools.lru_cache(maxsize=4)
def gemm(dtype: Dtype) -> int:
    """The address of the matrix product of float32 or float64, with Fortran's arguments; asked for once a process."""
    name = _NAMES[dtype]
    return _of_mkl(name) or _of_scipy(name)


def _of_mkl(name: str) -> int | None:
    """A function of MKL, by the interface whose sizes have 32 bits; None without MKL."""
    found: Any = getattr(mkl(), f"{name}_", None)
    if found is None:
        return None
    match_threads()
    return ctypes.cast(found, ctypes.c_void_p).value


def _of_scipy(name: str) -> int:
    capsule = extension_module("scipy.linalg.cython_blas").__pyx_capi__[name]
    name_of, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    found = pointer(capsule, name_of(capsule))
    assert isinstance(found, int)
    return found
