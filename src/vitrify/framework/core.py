"""`paddle.framework.core`, also `paddle.base.core`: what model code asks the native core of PaddlePaddle."""

from __future__ import annotations

from ..core import dtype as dtypes
from ..core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, Place, is_compiled_with_cuda
from ..core.rng import default_generator as default_cpu_generator
from ..core.setting import Setting
from ..device.available import device_count as get_cuda_device_count
from ..device.available import is_compiled_with_cinn, is_compiled_with_rocm, is_compiled_with_xpu
from ..eager.tensor import Tensor
from ..runtime.scope import Scope

__all__ = [
    "CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "DataType", "Place", "Scope", "VarDesc", "default_cpu_generator",
    "eager", "get_cuda_device_count", "is_compiled_with_cinn", "is_compiled_with_cuda", "is_compiled_with_rocm",
    "is_compiled_with_xpu", "set_prim_eager_enabled",
]  # fmt: skip


class DataType:
    """The dtypes by the names of PaddlePaddle's enumeration: `DataType.FLOAT32 is paddle.float32`."""

    BOOL = dtypes.bool_
    UINT8 = dtypes.uint8
    INT8 = dtypes.int8
    INT16 = dtypes.int16
    INT32 = dtypes.int32
    INT64 = dtypes.int64
    FLOAT16 = dtypes.float16
    BFLOAT16 = dtypes.bfloat16
    FLOAT32 = dtypes.float32
    FLOAT64 = dtypes.float64
    COMPLEX64 = dtypes.complex64
    COMPLEX128 = dtypes.complex128


class VarDesc:
    """Holds the older enumeration of dtypes."""

    class VarType(DataType):
        """`VarDesc.VarType.FP32 is paddle.float32`, so that comparing with `x.dtype` means the same."""

        FP16 = dtypes.float16
        BF16 = dtypes.bfloat16
        FP32 = dtypes.float32
        FP64 = dtypes.float64
        # kinds of variables, as `x.type` tells them
        DENSE_TENSOR = LOD_TENSOR = "tensor"
        DENSE_TENSOR_ARRAY = LOD_TENSOR_ARRAY = "list"
        SELECTED_ROWS = "selected_rows"
        STRING, STRINGS, VOCAB, RAW, FEED_MINIBATCH = "string", "strings", "vocab", "raw", "feed_minibatch"


class eager:
    """Holds the class of eager tensors: `isinstance(x, core.eager.Tensor)`."""

    Tensor = Tensor


_FORWARD: Setting[bool] = Setting("prim_forward", False)
_BACKWARD: Setting[bool] = Setting("prim_backward", False)
_EAGER: Setting[bool] = Setting("prim_eager", False)


def _set_prim_forward_enabled(value: bool) -> None:
    """Note the wish for primitives in forward programs.

    Every gradient here is made of operators that have gradients themselves, so it changes no program.
    """
    _FORWARD.set(value)


def _set_prim_backward_enabled(value: bool) -> None:
    """Note the wish for primitives in backward programs; see `_set_prim_forward_enabled`."""
    _BACKWARD.set(value)


def _set_prim_all_enabled(value: bool) -> None:
    """Note both wishes."""
    _set_prim_forward_enabled(value)
    _set_prim_backward_enabled(value)


def set_prim_eager_enabled(value: bool) -> None:
    """Note the wish for primitives in eager gradients; see `_set_prim_forward_enabled`."""
    _EAGER.set(value)


def _is_eager_prim_enabled() -> bool:
    return _EAGER.get()


def _is_fwd_prim_enabled() -> bool:
    return _FORWARD.get()


def _is_bwd_prim_enabled() -> bool:
    return _BACKWARD.get()


def _is_all_prim_enabled() -> bool:
    return _FORWARD.get() and _BACKWARD.get()
