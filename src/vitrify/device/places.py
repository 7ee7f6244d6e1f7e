"""The device of each place: its streams, and bringing arrays there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..core.lazy import lazy_module
from ..core.place import Place

if TYPE_CHECKING:
    from .graphs import GraphDevice
    from .stream_device import StreamDevice

# Most programs meet none of the devices that run streams, and those that do, one.
_api, _cpu, _cuda, _simulated = (
    lazy_module(f"vitrify.device.{name}") for name in ("api", "cpu_streams", "cuda_streams", "simulated")
)


def device_at(place: Place) -> StreamDevice:
    """The device that runs streams at a place.

    That of a CPU or GPU is this thread's and kept; a simulated one is new, and its number is the seed of its delays.
    """
    return cast("StreamDevice", _cpu.cpu_streams()) if place.is_cpu_place() else graph_device_at(place)


def graph_device_at(place: Place) -> GraphDevice:
    """The same for places other than the CPU, whose devices capture graphs."""
    return cast(
        "GraphDevice",
        _cuda.cuda_streams(place.index) if place.is_gpu_place() else _simulated.SimulatedDevice(place.index),
    )


def is_on_host(value: Any) -> bool:
    """Whether a value, or some array in a list, lies in the memory of the host."""
    if isinstance(value, (list, tuple)):
        return any(map(is_on_host, value))
    return isinstance(value, (np.ndarray, np.generic))


def arrived(values: Sequence[Any], place: Place) -> Sequence[Any]:
    """The arrays at a place, those in lists as well; the host's own where kernels run on the host."""
    if not place.is_gpu_place() or not is_on_host(values):
        return values
    return [_arrived(value, place) for value in values]


def _arrived(value: Any, place: Place) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)([_arrived(item, place) for item in value])
    return _api.put(value, place) if is_on_host(value) else value
