"""What arrays take of a device's memory: `paddle.device.memory_allocated` and its kin.

`device` is a place or its name, a GPU's number, or None for the current place. A GPU's peaks are counted from the first
of these calls on; the host is counted inside `count_host_memory` only, for there it has a price.
"""

from __future__ import annotations

from typing import Any, Protocol

from ..core.errors import ArgumentError
from ..core.place import CUDAPlace, Place, as_place, current_place
from .cuda_memory import CudaMemory
from .host_memory import HostMemory
from .usage import Usage


class DeviceMemory(Protocol):
    """What is asked of a device's memory."""

    @property
    def usage(self) -> Usage:
        """What is in use now and was at most."""

    def reset_peaks(self) -> None:
        """Let the peaks be what is in use now."""

    def empty_cache(self) -> Any:
        """Give back what is kept for later arrays."""


def memory_at(device: Any = None) -> DeviceMemory:
    """The memory of a device; raises ArgumentError for one whose memory nobody counts."""
    place = _place(device)
    if place.is_gpu_place():
        return CudaMemory(place.index)
    if place.is_cpu_place():
        return HostMemory()
    raise ArgumentError(
        f"the memory of {place!r} is not counted for all programs together",
        hint="name 'cpu' or 'gpu:0'; a SimulatedDevice has its own `memory.usage`",
    )


def _place(device: Any) -> Place:
    if device is None:
        return current_place()
    return CUDAPlace(device) if type(device) is int else as_place(device)


def memory_allocated(device: Any = None) -> int:
    """The bytes that arrays occupy now. Source: paddle.device.cuda.memory_allocated."""
    return memory_at(device).usage.allocated.now


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that arrays occupied since the peak was reset. Source: paddle.device.max_memory_allocated.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.device.count_host_memory():
        ...     x = paddle.ones([1000])
        ...     print(paddle.device.max_memory_allocated("cpu") >= 4000)
        True
    """
    return memory_at(device).usage.allocated.peak


def memory_reserved(device: Any = None) -> int:
    """The bytes taken from the device, for arrays or to be kept for later ones.

    Source: paddle.device.cuda.memory_reserved.
    """
    return memory_at(device).usage.reserved.now


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes taken from the device since the peak was reset. Source: paddle.device.max_memory_reserved.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.device.count_host_memory():
        ...     x = paddle.ones([1000])
        ...     print(paddle.device.max_memory_reserved("cpu") >= 4000)
        True
    """
    return memory_at(device).usage.reserved.peak


def reset_max_memory_allocated(device: Any = None) -> None:
    """Let the peak of allocated bytes be what is in use now. Source: paddle.device.reset_max_memory_allocated.

    Example:
        >>> import vitrify as paddle
        >>> paddle.device.reset_max_memory_allocated("cpu")
    """
    memory_at(device).reset_peaks()


def reset_max_memory_reserved(device: Any = None) -> None:
    """Let the peak of reserved bytes be what is in use now. Source: paddle.device.reset_max_memory_reserved.

    Example:
        >>> import vitrify as paddle
        >>> paddle.device.reset_max_memory_reserved("cpu")
    """
    memory_at(device).reset_peaks()


def reset_peak_memory_stats(device: Any = None) -> None:
    """Let all peaks be what is in use now. Source: paddle.device.reset_peak_memory_stats.

    Example:
        >>> import vitrify as paddle
        >>> paddle.device.reset_peak_memory_stats("cpu")
    """
    memory_at(device).reset_peaks()


def memory_stats(device: Any = None) -> dict[str, int]:
    """All numbers by name: `allocated_bytes`, `reserved_bytes` and `arrays`, each `.current`, `.peak` and `.total`."""
    return memory_at(device).usage.as_dict()


def empty_cache() -> None:
    """Give back what is kept for later arrays at the current place. Source: paddle.device.cuda.empty_cache."""
    memory_at().empty_cache()


__all__ = [
    "empty_cache", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
    "reset_max_memory_allocated", "reset_max_memory_reserved", "reset_peak_memory_stats",
]  # fmt: skip
