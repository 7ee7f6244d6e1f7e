"""Places and marks of programs written by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..core.errors import ArgumentError, DTypeError
from ..core.place import CPUPlace, CUDAPlace
from ..device import available


def cpu_places(device_count: int | None = None) -> list[CPUPlace]:
    """As many CPUPlaces, one by default. Source: paddle.static.cpu_places.

    Example:
        >>> import vitrify as paddle
        >>> paddle.static.cpu_places(2)
        [Place(cpu), Place(cpu)]
    """
    return [CPUPlace()] * (1 if device_count is None else int(device_count))


def cuda_places(device_ids: Sequence[int] | int | None = None) -> list[CUDAPlace]:
    """The GPUs of these numbers, by default all that there are. Source: paddle.static.cuda_places.

    Example:
        >>> import vitrify as paddle
        >>> paddle.static.cuda_places([0, 1])
        [Place(gpu:0), Place(gpu:1)]
    """
    if device_ids is None:
        device_ids = range(available.device_count())
    return [CUDAPlace(number) for number in ([device_ids] if isinstance(device_ids, int) else device_ids)]


@contextmanager
def device_guard(device: str | None = None) -> Iterator[None]:
    """A block whose operators should run on "cpu" or "gpu"; here a program runs at one place, that of its Executor.

    Raises ArgumentError for another device. Source: paddle.static.device_guard.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.device_guard("cpu"):
        ...     pass
    """
    if device is not None and not isinstance(device, str):
        raise DTypeError(f"device_guard: device must be a string or None, got {type(device).__name__}")
    kind, _, number = (device or "cpu").partition(":")
    if kind not in ("cpu", "gpu", "xpu") or (number and not (kind != "cpu" and number.isdigit())):
        raise ArgumentError(f"device_guard: device must be 'cpu', 'gpu', 'gpu:x' or None, got {device!r}")
    yield


__all__ = ["cpu_places", "cuda_places", "device_guard"]
