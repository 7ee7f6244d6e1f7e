"""NVIDIA GPUs by CuPy, which is imported when the first array on a GPU is asked for; `paddle.device.cuda`.

`device` is a CUDAPlace, its name or number; None is the current place if that is a GPU, else the first GPU.
"""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError
from ..core.place import CUDAPlace, as_place, current_place
from . import gpu_graph as graphs
from .available import device_count, get_device_capability, get_device_name, get_device_properties
from .cuda_memory import CudaMemory, cupy
from .gpu_streams import Event, Stream, current_stream, stream_guard, synchronize


def _memory(device: Any) -> CudaMemory:
    place = current_place() if device is None else CUDAPlace(device) if type(device) is int else as_place(device)
    if device is not None and not place.is_gpu_place():
        raise ArgumentError(f"paddle.device.cuda: expects a GPU, such as 'gpu:0', but received {device!r}")
    return CudaMemory(place.index if place.is_gpu_place() else 0)


def memory_allocated(device: Any = None) -> int:
    """The bytes that arrays occupy now. Source: paddle.device.cuda.memory_allocated."""
    return _memory(device).usage.allocated.now


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that arrays occupied since the peak was reset. Source: paddle.device.cuda.max_memory_allocated."""
    return _memory(device).usage.allocated.peak


def memory_reserved(device: Any = None) -> int:
    """The bytes that CuPy's pool holds. Source: paddle.device.cuda.memory_reserved."""
    return _memory(device).usage.reserved.now


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes that CuPy's pool held since the peak was reset. Source: paddle.device.cuda.max_memory_reserved."""
    return _memory(device).usage.reserved.peak


def reset_max_memory_allocated(device: Any = None) -> None:
    """Let the peaks be what is in use now. Source: paddle.device.cuda.reset_max_memory_allocated."""
    _memory(device).reset_peaks()


def reset_max_memory_reserved(device: Any = None) -> None:
    """Let the peaks be what is in use now. Source: paddle.device.cuda.reset_max_memory_reserved."""
    _memory(device).reset_peaks()


def empty_cache() -> None:
    """Give back what CuPy's pool keeps; nothing to do without a GPU. Source: paddle.device.cuda.empty_cache."""
    if current_place().is_gpu_place():
        _memory(None).empty_cache()


__all__ = [
    "Event", "Stream", "cupy", "current_stream", "device_count", "empty_cache", "get_device_capability",
    "get_device_name", "get_device_properties", "graphs", "max_memory_allocated", "max_memory_reserved",
    "memory_allocated", "memory_reserved",
    "reset_max_memory_allocated", "reset_max_memory_reserved", "stream_guard", "synchronize",
]  # fmt: skip
