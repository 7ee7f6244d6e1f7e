"""`paddle.cuda`: what code written for PyTorch asks of GPUs, answered by `paddle.device`. Source: paddle.cuda."""

from .core import rng
from .core.place import current_place, set_device
from .device.available import (
    device,
    device_count,
    get_device_capability,
    get_device_name,
    get_device_properties,
    is_available,
    is_bf16_supported,
)
from .device.cuda import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    reset_peak_memory_stats,
)
from .device.gpu_streams import Event, Stream, StreamContext, current_stream, set_stream, stream_guard, synchronize
from .device.random_state import get_rng_state, manual_seed, set_rng_state
from .eager.constructors import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)

stream = stream_guard


def current_device() -> int:
    """The number of the current GPU, 0 where new tensors go to host memory. Source: paddle.cuda.current_device.

    Example:
        >>> import vitrify as paddle
        >>> paddle.cuda.current_device()
        0
    """
    return current_place().gpu_device_id()


def is_initialized() -> bool:
    """Whether there is a GPU, and new tensors go to it. Source: paddle.cuda.is_initialized.

    Example:
        >>> import vitrify as paddle
        >>> paddle.cuda.is_initialized() and not paddle.cuda.is_available()
        False
    """
    return is_available() and current_place().is_gpu_place()


def manual_seed_all(seed: int) -> None:
    """Let the default generator, whose numbers are those of every device, start from `seed`.

    Source: paddle.cuda.manual_seed_all.

    Example:
        >>> import vitrify as paddle
        >>> paddle.cuda.manual_seed_all(102)
        >>> paddle.random.initial_seed()
        102
    """
    rng.seed(seed)


__all__ = [
    "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "Event", "FloatTensor", "HalfTensor",
    "IntTensor", "LongTensor", "ShortTensor", "Stream", "StreamContext", "current_device", "current_stream", "device",
    "device_count", "empty_cache", "get_device_capability", "get_device_name", "get_device_properties", "get_rng_state",
    "is_available", "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated",
    "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_reserved", "reset_peak_memory_stats",
    "set_device", "set_rng_state", "set_stream", "stream", "synchronize",
]  # fmt: skip
