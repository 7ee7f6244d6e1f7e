"""Which devices there are and what they can do: `paddle.device.device_count` and its kin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..core.errors import ArgumentError
from ..core.place import is_compiled_with_cuda, place_guard
from .cuda_memory import cupy
from .gpu_streams import gpu_place


@dataclass(frozen=True)
class DeviceProperties:
    """What a GPU is: its name, compute capability, memory in bytes and number of multiprocessors."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int


def device_count() -> int:
    """How many GPUs there are. Source: paddle.device.device_count.

    >>> device_count() >= 0
    True
    """
    if not is_compiled_with_cuda():
        return 0
    runtime = cupy().cuda.runtime
    try:
        return int(runtime.getDeviceCount())
    except runtime.CUDARuntimeError:  # CuPy without a driver
        return 0


def is_available() -> bool:
    """Whether there is a GPU. Source: paddle.device.is_available.

    Example:
        >>> import vitrify as paddle
        >>> paddle.device.is_available() == (paddle.device.cuda.device_count() > 0)
        True
    """
    return device_count() > 0


def get_device_properties(device: Any = None) -> DeviceProperties:
    """What a GPU is. Raises NoDeviceError for another place. Source: paddle.device.get_device_properties.

    Example:
        >>> import vitrify as paddle
        >>> if paddle.device.is_available():
        ...     assert paddle.device.get_device_properties(0).major >= 5
    """
    index = gpu_place("get_device_properties", device).index
    count = device_count()
    if index >= count:
        raise ArgumentError(f"get_device_properties: there are {count} GPUs, but received number {index}")
    found = cupy().cuda.runtime.getDeviceProperties(index)
    name = found["name"].decode() if isinstance(found["name"], bytes) else found["name"]
    return DeviceProperties(name, found["major"], found["minor"], found["totalGlobalMem"], found["multiProcessorCount"])


def get_device_name(device: Any = None) -> str:
    """The name of a GPU. Raises NoDeviceError for another place. Source: paddle.device.get_device_name.

    Example:
        >>> import vitrify as paddle
        >>> if paddle.device.is_available():
        ...     assert "NVIDIA" in paddle.device.get_device_name(0)
    """
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The compute capability of a GPU, major and minor. Raises NoDeviceError for another place.

    Source: paddle.device.get_device_capability.

    Example:
        >>> import vitrify as paddle
        >>> if paddle.device.is_available():
        ...     major, minor = paddle.device.get_device_capability(0)
    """
    found = get_device_properties(device)
    return found.major, found.minor


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether there is a GPU that computes with bfloat16. Source: paddle.device.is_bf16_supported.

    Example:
        >>> import vitrify as paddle
        >>> paddle.device.is_bf16_supported() in (True, False)
        True
    """
    return is_available() and get_device_properties(0).major >= 8


def get_available_device() -> list[str]:
    """The names of the GPUs. Source: paddle.device.get_available_device.

    Example:
        >>> import vitrify as paddle
        >>> len(paddle.device.get_available_device()) == paddle.device.cuda.device_count()
        True
    """
    return [f"gpu:{i}" for i in range(device_count())]


def get_all_device_type() -> list[str]:
    """The kinds of devices besides the CPU. Source: paddle.device.get_all_device_type.

    Example:
        >>> import vitrify as paddle
        >>> ("gpu" in paddle.device.get_all_device_type()) == paddle.device.is_available()
        True
    """
    return ["gpu"] if is_available() else []


def get_available_custom_device() -> list[str]:
    """An empty list: there are no other devices than CPU and GPU. Source: paddle.device.get_available_custom_device.

    Example:
        >>> import vitrify as paddle
        >>> paddle.device.get_available_custom_device()
        []
    """
    return []


def get_all_custom_device_type() -> list[str]:
    """An empty list: there are no other devices than CPU and GPU. Source: paddle.device.get_all_custom_device_type.

    Example:
        >>> import vitrify as paddle
        >>> paddle.device.get_all_custom_device_type()
        []
    """
    return []


def get_cudnn_version() -> int | None:
    """None: cuDNN is not used. Source: paddle.device.get_cudnn_version.

    Example:
        >>> import vitrify as paddle
        >>> paddle.device.get_cudnn_version() is None
        True
    """
    return None


def is_compiled_with_rocm() -> bool:
    """False: AMD's GPUs are not supported. Source: paddle.device.is_compiled_with_rocm.

    Example:
        >>> import vitrify as paddle
        >>> paddle.is_compiled_with_rocm()
        False
    """
    return False


def is_compiled_with_xpu() -> bool:
    """False: Baidu's accelerators are not supported. Source: paddle.device.is_compiled_with_xpu.

    Example:
        >>> import vitrify as paddle
        >>> paddle.is_compiled_with_xpu()
        False
    """
    return False


def is_compiled_with_ipu() -> bool:
    """False: Graphcore's accelerators are not supported. Source: paddle.device.is_compiled_with_ipu.

    Example:
        >>> import vitrify as paddle
        >>> paddle.device.is_compiled_with_ipu()
        False
    """
    return False


def is_compiled_with_cinn() -> bool:
    """False: the compiler is our own. Source: paddle.device.is_compiled_with_cinn.

    Example:
        >>> import vitrify as paddle
        >>> paddle.device.is_compiled_with_cinn()
        False
    """
    return False


def is_compiled_with_distribute() -> bool:
    """False: there is one process. Source: paddle.device.is_compiled_with_distribute.

    Example:
        >>> import vitrify as paddle
        >>> paddle.device.is_compiled_with_distribute()
        False
    """
    return False


def is_compiled_with_custom_device(device_type: str) -> bool:
    """False: there are no other devices. Source: paddle.device.is_compiled_with_custom_device.

    Example:
        >>> import vitrify as paddle
        >>> paddle.device.is_compiled_with_custom_device("npu")
        False
    """
    return False


@contextmanager
def device_guard(device: Any) -> Iterator[None]:
    """Put new tensors on `device` inside the block. Source: paddle.device.device_guard.

    Raises ArgumentError for a GPU without CuPy.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.device.device_guard("cpu"):
        ...     print(paddle.ones([1]).place)
        Place(cpu)
    """
    with place_guard(f"gpu:{device}" if type(device) is int else device):
        yield


@contextmanager
def device(device: Any = None) -> Iterator[None]:
    """`device_guard`; None changes nothing. Source: paddle.device.device.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.device.device("cpu"):
        ...     print(paddle.ones([1]).place)
        Place(cpu)
    """
    if device is None:
        yield
        return
    with device_guard(device):
        yield


__all__ = [
    "device", "device_count", "device_guard", "get_all_custom_device_type", "get_all_device_type",
    "get_available_custom_device", "get_available_device", "get_cudnn_version", "get_device_capability",
    "get_device_name", "get_device_properties", "is_available", "is_bf16_supported", "is_compiled_with_cinn",
    "is_compiled_with_custom_device", "is_compiled_with_distribute", "is_compiled_with_ipu", "is_compiled_with_rocm",
    "is_compiled_with_xpu",
]  # fmt: skip
