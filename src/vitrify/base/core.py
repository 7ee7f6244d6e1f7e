"""`paddle.base.core`: see `paddle.framework.core`."""

from ..framework.core import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    DataType,
    Place,
    Scope,
    VarDesc,
    _is_all_prim_enabled,
    _is_bwd_prim_enabled,
    _is_eager_prim_enabled,
    _is_fwd_prim_enabled,
    _set_prim_all_enabled,
    _set_prim_backward_enabled,
    _set_prim_forward_enabled,
    default_cpu_generator,
    eager,
    get_cuda_device_count,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
    set_prim_eager_enabled,
)

__all__ = [
    "CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "DataType", "Place", "Scope", "VarDesc", "_is_all_prim_enabled",
    "_is_bwd_prim_enabled", "_is_eager_prim_enabled", "_is_fwd_prim_enabled", "_set_prim_all_enabled",
    "_set_prim_backward_enabled", "_set_prim_forward_enabled", "default_cpu_generator", "eager",
    "get_cuda_device_count", "is_compiled_with_cinn", "is_compiled_with_cuda", "is_compiled_with_rocm",
    "is_compiled_with_xpu", "set_prim_eager_enabled",
]  # fmt: skip
