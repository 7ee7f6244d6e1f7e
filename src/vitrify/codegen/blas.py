"""Addresses of BLAS's functions, taken from SciPy."""

from __future__ import annotations

import ctypes
import functools

from ..core.lazy import extension_module
from .emit import FLOAT32, FLOAT64, Dtype

_NAMES = {FLOAT32: "sgemm", FLOAT64: "dgemm"}
DTYPES = tuple(_NAMES)


@functools.lru_cache(maxsize=4)
def gemm(dtype: Dtype) -> int:
    """The address of the matrix product of float32 or float64, with Fortran's arguments."""
    capsule = extension_module("scipy.linalg.cython_blas").__pyx_capi__[_NAMES[dtype]]
    name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    found = pointer(capsule, name(capsule))
    assert isinstance(found, int)
    return found
