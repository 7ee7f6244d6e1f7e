"""Devices: where arrays live. Knows arrays, not Tensors."""

from . import memory as memory  # its import keeps freed memory for the next arrays
from .host_memory import count_host_memory
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
    "count_host_memory", "empty_cache", "max_memory_allocated", "max_memory_reserved", "memory_allocated",
    "memory_reserved", "memory_stats", "reset_max_memory_allocated", "reset_max_memory_reserved",
    "reset_peak_memory_stats",
]  # fmt: skip
