"""Arrays and places: which array library holds an array, and moving arrays between places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ..core.place import CPUPlace, CUDAPlace, Place, current_place
from .cuda_memory import cupy

_CPU = CPUPlace()


def namespace_of(arrays: Sequence[Any]) -> Any:
    """The array library (numpy or cupy) of the first array; that of the current place when there is none."""
    for array in arrays:
        cls = array.__class__
        if cls is np.ndarray:
            return np
        if cls.__module__.startswith("cupy"):
            return cupy()
    return cupy() if isinstance(current_place(), CUDAPlace) else np


def namespace_at(place: Place) -> Any:
    """The array library for kernels at a place: cupy on a CUDA device, else numpy."""
    return cupy() if isinstance(place, CUDAPlace) else np


def on_device(place: Place) -> AbstractContextManager[Any]:
    """A context in which CuPy works on the device of a place; for other places it does nothing."""
    return cupy().cuda.Device(place.index) if isinstance(place, CUDAPlace) else nullcontext()


def place_of(array: Any) -> Place:
    """Where an array's memory is."""
    if isinstance(array, (np.ndarray, np.generic)):
        return _CPU
    return CUDAPlace(int(array.device.id))


def wait_for(values: Iterable[Any]) -> None:
    """Wait until what computes these arrays on a device is done; those of the host are there already."""
    for value in values:
        if value.__class__ is not np.ndarray and hasattr(value, "device") and hasattr(value.device, "synchronize"):
            value.device.synchronize()
            return


def put(array: Any, place: Place, copy: bool = False) -> Any:
    """`array` at `place`: itself if it is there already and no copy is asked for."""
    here = place_of(array)
    if here == place:
        return array.copy() if copy else array
    if isinstance(place, CUDAPlace):
        with on_device(place):  # an array of another device is copied as it is copied anyway: by `copy`
            return cupy().asarray(array) if here == _CPU else array.copy()
    return array.get() if hasattr(array, "get") else np.asarray(array)
