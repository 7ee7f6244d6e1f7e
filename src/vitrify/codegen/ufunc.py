"""Machine code as a ufunc of NumPy, through NumPy's C interface."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.lazy import lazy_module
from .emit import Dtype

_umath = lazy_module("numpy._core.umath")
# Places in the table of NumPy's ufunc interface, the same since NumPy 1.
_FROM_FUNCTIONS, _REGISTER_LOOP, _FROM_SIGNATURE = 1, 2, 31
_NO_IDENTITY = -1
# Type numbers from here on are those of other packages' dtypes.
_USER = 256


@functools.lru_cache(maxsize=1)
def _interface() -> Any:
    """NumPy's table of functions for making ufuncs."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(pointer(_umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))


_from_functions_type = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int] * 4, ctypes.c_char_p,
    ctypes.c_char_p, ctypes.c_int,
)  # fmt: skip
_from_signature_type = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int] * 4, ctypes.c_char_p,
    ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p,
)  # fmt: skip
_register_type = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.py_object, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)


class _Kept:
    """Memory that ufuncs point to; they live as long as the process, as their machine code does."""

    def __init__(self) -> None:
        self.parts: list[object] = []


_KEPT = _Kept()


def keep(data: np.ndarray) -> np.ndarray:
    """The array itself, kept as long as the process lives, as machine code has its address."""
    _KEPT.parts.append(data)
    return data


def make_ufunc(
    address: int, data: np.ndarray, inputs: Sequence[Dtype], outputs: Sequence[Dtype], signature: str = ""
) -> np.ufunc:
    """A ufunc with the one loop at this address, which is given `data`, for exactly these dtypes.

    It is a generalized one where there is a signature, such as `(n),()->(n)`. Raises TypeError, when called, for dtypes
    that do not become these without loss.
    """
    dtypes = [*inputs, *outputs]
    types = [d.num for d in dtypes]
    is_foreign = any(t >= _USER for t in types)
    functions, datas = (ctypes.c_void_p * 1)(address), (ctypes.c_void_p * 1)(data.ctypes.data)
    codes = (ctypes.c_byte * len(types))(*[0 if is_foreign else t for t in types])
    text = ctypes.create_string_buffer(b"fused")
    empty = ctypes.create_string_buffer(b"a group of operators, compiled")
    core = ctypes.create_string_buffer(signature.encode())
    count = 0 if is_foreign else 1
    given = (
        ctypes.addressof(functions), ctypes.addressof(datas), ctypes.addressof(codes), count, len(inputs), len(outputs),
        _NO_IDENTITY, ctypes.cast(text, ctypes.c_char_p), ctypes.cast(empty, ctypes.c_char_p), 0,
    )  # fmt: skip
    ufunc: np.ufunc
    if signature:
        make = _from_signature_type(_interface()[_FROM_SIGNATURE])
        ufunc = make(*given, ctypes.cast(core, ctypes.c_char_p))
    else:
        ufunc = _from_functions_type(_interface()[_FROM_FUNCTIONS])(*given)
    _KEPT.parts.append((functions, datas, data, codes, text, empty, core))
    if is_foreign:
        wanted = (ctypes.c_int * len(types))(*types)
        user = next(t for t in types if t >= _USER)
        register = _register_type(_interface()[_REGISTER_LOOP])
        register(ufunc, user, ctypes.c_void_p(address), ctypes.addressof(wanted), ctypes.c_void_p(data.ctypes.data))
    return ufunc
