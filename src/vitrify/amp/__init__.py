"""Automatic mixed precision, with Paddle's names."""

from . import debugging
from .auto_cast import (
    auto_cast,
    autocast,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    get_autocast_gpu_dtype,
    is_autocast_enabled,
    is_bfloat16_supported,
    is_float16_supported,
)
from .decorate import decorate
from .grad_scaler import GradScaler

amp_guard = auto_cast

__all__ = [
    "GradScaler",
    "amp_guard",
    "auto_cast",
    "autocast",
    "debugging",
    "decorate",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_enabled",
    "is_bfloat16_supported",
    "is_float16_supported",
]
