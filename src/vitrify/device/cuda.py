"""NVIDIA GPUs by CuPy, which is imported when the first array on a GPU is asked for; `paddle.device.cuda`.

`device` is a CUDAPlace, its name or number; None is the current place if that is a GPU, else the first GPU.
"""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError
from ..core.place import CUDAPlace, Place, as_place, current_place
from . import gpu_graph as graphs
from . import statistics
from .available import device_count, get_device_capability, get_device_name, get_device_properties
from .cuda_memory import CudaMemory, cupy
from .gpu_streams import Event, Stream, current_stream, stream_guard, synchronize
from .memory_summary import summary_of


def _gpu(device: Any) -> Place:
    place = current_place() if device is None else CUDAPlace(device) if type(device) is int else as_place(device)
    if device is not None and not place.is_gpu_place():
        raise ArgumentError(f"paddle.device.cuda: expects a GPU, such as 'gpu:0', but received {device!r}")
    return place if place.is_gpu_place() else CUDAPlace(0)


def memory_allocated(device: Any = None) -> int:
    """The bytes that arrays occupy now. Source: paddle.device.cuda.memory_allocated.

    Example:
        >>> import vitrify as paddle
        >>> if paddle.device.is_available():
        ...     assert paddle.device.cuda.memory_allocated(0) >= 0
    """
    return statistics.memory_allocated(_gpu(device))


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that arrays occupied since the peak was reset. Source: paddle.device.cuda.max_memory_allocated.

    Example:
        >>> import vitrify as paddle
        >>> if paddle.device.is_available():
        ...     assert paddle.device.cuda.max_memory_allocated(0) >= paddle.device.cuda.memory_allocated(0)
    """
    return statistics.max_memory_allocated(_gpu(device))


def memory_reserved(device: Any = None) -> int:
    """The bytes that CuPy's pool holds. Source: paddle.device.cuda.memory_reserved.

    Example:
        >>> import vitrify as paddle
        >>> if paddle.device.is_available():
        ...     assert paddle.device.cuda.memory_reserved(0) >= paddle.device.cuda.memory_allocated(0)
    """
    return statistics.memory_reserved(_gpu(device))


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that CuPy's pool held since the peak was reset. Source: paddle.device.cuda.max_memory_reserved.

    Example:
        >>> import vitrify as paddle
        >>> if paddle.device.is_available():
        ...     assert paddle.device.cuda.max_memory_reserved(0) >= paddle.device.cuda.memory_reserved(0)
    """
    return statistics.max_memory_reserved(_gpu(device))


def memory_stats(device: Any = None) -> dict[str, int]:
    """All numbers by name: `allocated_bytes`, `reserved_bytes` and `arrays`, each `.current`, `.peak` and `.total`."""
    return statistics.memory_stats(_gpu(device))


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """The bytes of the GPU that are free, and how many it has. Source: paddle.cuda.mem_get_info."""
    return CudaMemory(_gpu(device).index).free_and_all


def memory_summary(device: Any = None) -> None:
    """Print how much memory the GPU has, what arrays and the pool take of it, and how large the arrays are.

    Source: paddle.device.cuda.memory_summary.

    Example:
        >>> import vitrify as paddle
        >>> if paddle.device.is_available():
        ...     paddle.device.cuda.memory_summary(0)
    """
    place = _gpu(device)
    print(summary_of(f"gpu:{place.index}", CudaMemory(place.index)))


def reset_max_memory_allocated(device: Any = None) -> None:
    """Let the peaks be what is in use now. Source: paddle.device.cuda.reset_max_memory_allocated.

    Example:
        >>> import vitrify as paddle
        >>> if paddle.device.is_available():
        ...     paddle.device.cuda.reset_max_memory_allocated(0)
    """
    statistics.reset_max_memory_allocated(_gpu(device))


def reset_max_memory_reserved(device: Any = None) -> None:
    """Let the peaks be what is in use now. Source: paddle.device.cuda.reset_max_memory_reserved.

    Example:
        >>> import vitrify as paddle
        >>> if paddle.device.is_available():
        ...     paddle.device.cuda.reset_max_memory_reserved(0)
    """
    statistics.reset_max_memory_reserved(_gpu(device))


def reset_peak_memory_stats(device: Any = None) -> None:
    """Let all peaks be what is in use now. Source: paddle.cuda.reset_peak_memory_stats."""
    statistics.reset_peak_memory_stats(_gpu(device))


def empty_cache() -> None:
    """Give back what CuPy's pool keeps; nothing to do without a GPU. Source: paddle.device.cuda.empty_cache.

    Example:
        >>> import vitrify as paddle
        >>> paddle.device.cuda.empty_cache()
    """
    if current_place().is_gpu_place():
        statistics.empty_cache()


__all__ = [
    "Event", "Stream", "cupy", "current_stream", "device_count", "empty_cache", "get_device_capability",
    "get_device_name", "get_device_properties", "graphs", "max_memory_allocated", "max_memory_reserved", "mem_get_info",
    "memory_allocated", "memory_reserved", "memory_stats", "memory_summary", "reset_max_memory_allocated",
    "reset_max_memory_reserved", "reset_peak_memory_stats", "stream_guard", "synchronize",
]  # fmt: skip
