"""Devices: where arrays live. Knows arrays, not Tensors."""

from typing import TYPE_CHECKING

from ..core.lazy import lazy_attributes
from ..core.place import get_device, is_compiled_with_cuda, set_device
from . import memory as memory  # its import keeps freed memory for the next arrays

if TYPE_CHECKING:
    from .available import (
        DeviceProperties,
        device,
        device_count,
        device_guard,
        get_all_custom_device_type,
        get_all_device_type,
        get_available_custom_device,
        get_available_device,
        get_cudnn_version,
        get_device_capability,
        get_device_name,
        get_device_properties,
        is_available,
        is_bf16_supported,
        is_compiled_with_cinn,
        is_compiled_with_custom_device,
        is_compiled_with_distribute,
        is_compiled_with_ipu,
        is_compiled_with_rocm,
        is_compiled_with_xpu,
    )
    from .gpu_streams import (
        Event,
        Stream,
        StreamContext,
        current_stream,
        is_current_stream_capturing,
        set_stream,
        stream_guard,
        synchronize,
    )
    from .host_memory import count_host_memory
    from .random_state import get_rng_state, manual_seed, set_rng_state
    from .statistics import (
        empty_cache,
        max_memory_allocated,
        max_memory_reserved,
        memory_allocated,
        memory_reserved,
        memory_stats,
        reset_max_memory_allocated,
        reset_max_memory_reserved,
        reset_peak_memory_stats,
    )

__all__ = [
    "DeviceProperties",
    "Event",
    "Stream",
    "StreamContext",
    "count_host_memory",
    "current_stream",
    "device",
    "device_count",
    "device_guard",
    "empty_cache",
    "get_all_custom_device_type",
    "get_all_device_type",
    "get_available_custom_device",
    "get_available_device",
    "get_cudnn_version",
    "get_device",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "is_available",
    "is_bf16_supported",
    "is_compiled_with_cinn",
    "is_compiled_with_cuda",
    "is_compiled_with_custom_device",
    "is_compiled_with_distribute",
    "is_compiled_with_ipu",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
    "is_current_stream_capturing",
    "manual_seed",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "reset_peak_memory_stats",
    "set_device",
    "set_rng_state",
    "set_stream",
    "stream_guard",
    "synchronize",
]  # fmt: skip
# Running a model needs few of them: each is imported when it is first asked for.
_HOMES = {
    "available": (
        "DeviceProperties device device_count device_guard get_all_custom_device_type get_all_device_type "
        "get_available_custom_device get_available_device get_cudnn_version get_device_capability "
        "get_device_name get_device_properties is_available is_bf16_supported is_compiled_with_cinn "
        "is_compiled_with_custom_device is_compiled_with_distribute is_compiled_with_ipu is_compiled_with_rocm "
        "is_compiled_with_xpu"
    ),
    "gpu_streams": (
        "Event Stream StreamContext current_stream is_current_stream_capturing set_stream stream_guard synchronize"
    ),
    "host_memory": "count_host_memory",
    "random_state": "get_rng_state manual_seed set_rng_state",
    "statistics": (
        "empty_cache max_memory_allocated max_memory_reserved memory_allocated memory_reserved memory_stats "
        "reset_max_memory_allocated reset_max_memory_reserved reset_peak_memory_stats"
    ),
}
__getattr__ = lazy_attributes(__name__, names={name: home for home, names in _HOMES.items() for name in names.split()})
