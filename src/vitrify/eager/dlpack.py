"""DLPack, the protocol by which array libraries share memory."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..core.errors import DTypeError
from ..core.place import PlaceLike
from ..device.cuda import cupy
from .moving import move
from .tensor import Tensor, wrap

_CPU, _CUDA = 1, 2


class _DLDevice(ctypes.Structure):
    _fields_ = (("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32))


class _DLTensorHead(ctypes.Structure):
    """The first fields of a DLTensor: where the data lies, and on which device."""

    _fields_ = (("data", ctypes.c_void_p), ("device", _DLDevice))


class _Capsule:
    """A bare capsule as an object with DLPack's two methods, which is what NumPy and CuPy read."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
        pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        head = _DLTensorHead.from_address(pointer_of(self.capsule, b"dltensor"))
        return int(head.device.device_type), int(head.device.device_id)


def to_dlpack(x: Tensor) -> Any:
    """A capsule that another library can take `x`'s memory from. Source: paddle.utils.dlpack.to_dlpack.

    Example:
        >>> import vitrify as paddle
        >>> capsule = paddle.utils.dlpack.to_dlpack(paddle.to_tensor([1.0, 2.0]))
        >>> paddle.utils.dlpack.from_dlpack(capsule).tolist()
        [1.0, 2.0]
    """
    return x.__dlpack__()


def from_dlpack(dlpack: Any, *, device: PlaceLike | None = None, copy: bool | None = None) -> Tensor:
    """A Tensor on the memory of another library's array, or of a capsule.

    device: move it there. copy: True for memory of its own. Raises DTypeError for an object without DLPack, or on a
    device that is neither the host nor CUDA. Source: paddle.utils.dlpack.from_dlpack.

    Example:
        >>> import numpy as np
        >>> import vitrify as paddle
        >>> paddle.utils.dlpack.from_dlpack(np.ones(2)).tolist()
        [1.0, 1.0]
    """
    is_capsule = type(dlpack).__name__ == "PyCapsule"
    if not is_capsule and not hasattr(dlpack, "__dlpack__"):
        raise DTypeError(f"from_dlpack: expects a capsule or an array with __dlpack__, got {type(dlpack).__name__}")
    source = _Capsule(dlpack) if is_capsule else dlpack
    kind = int(source.__dlpack_device__()[0])
    if kind not in (_CPU, _CUDA):
        raise DTypeError(f"from_dlpack: cannot read memory of DLPack device type {kind}")
    array = (np if kind == _CPU else cupy()).from_dlpack(source)
    out = wrap(array.copy() if copy else array)
    return out if device is None else move(out, device)


__all__ = ["from_dlpack", "to_dlpack"]
