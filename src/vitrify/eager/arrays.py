"""Arrays from whatever users pass: nested lists, scalars, NumPy arrays, Tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import as_dtype, default_dtype
from ..core.errors import ArgumentError, DTypeError
from ..core.modes import is_tracing
from ..core.place import CPUPlace, as_place, current_place
from ..device.api import place_of, put
from ..ops.methods import TensorMethods
from .holder import Holder


def has_tensors(data: Any) -> bool:
    """Whether a nested list holds a Tensor somewhere."""
    return isinstance(data, (list, tuple)) and any(isinstance(d, Holder) or has_tensors(d) for d in data)


def has_variables(data: Any) -> bool:
    """Whether `data` is, or a nested list holds, a tensor whose value is not known yet: a graph variable, or while
    a function is traced any tensor.
    """
    if isinstance(data, TensorMethods):
        return is_tracing() or not isinstance(data, Holder)
    return is_host_value(data) or (isinstance(data, (list, tuple)) and any(map(has_variables, data)))


def is_host_value(data: Any) -> bool:
    """Whether `data` stands for what Python code computes when a program runs; its `tensor()` is a graph variable."""
    return hasattr(type(data), "__vitrify_host_value__")


def _unwrapped(data: Any) -> Any:
    if isinstance(data, Holder):
        return put(data._data, CPUPlace())
    return [_unwrapped(d) for d in data] if isinstance(data, (list, tuple)) else data


def _as_numpy(data: Any) -> np.ndarray[Any, Any]:
    try:
        array = np.array(_unwrapped(data) if has_tensors(data) else data)
    except ValueError as err:
        raise ArgumentError(f"to_tensor: the nested list has rows of different lengths ({err})") from None
    if array.dtype.kind in "OUSMm":
        wrong = ArgumentError if isinstance(data, (list, tuple, np.ndarray)) else DTypeError
        raise wrong(f"to_tensor: cannot make a tensor of {type(data).__name__} with elements of {array.dtype}")
    return array


def _keeps_float64(data: Any) -> bool:
    """Whether float64 is what the user asked for: by an array or a Tensor, not by Python's floats."""
    if isinstance(data, (list, tuple)):
        return has_tensors(data) and any(map(_keeps_float64, data))
    if isinstance(data, Holder):
        return data.dtype.name in ("float64", "complex128")
    return isinstance(data, (np.ndarray, np.generic)) or hasattr(data, "__array_interface__")


_IN_LISTS = "ie"  # NumPy's int32 and float16, which count as Python's numbers in lists; other dtypes stay as they are


def _default_for(data: Any, array: np.ndarray[Any, Any]) -> np.dtype[Any]:
    """The dtype when none is given: Python's floats are the default dtype, its complex numbers follow it."""
    own: np.dtype[Any] = array.dtype
    if isinstance(data, (list, tuple)) and own.char in _IN_LISTS and not has_tensors(data):
        return np.dtype(np.int64) if own.kind == "i" else default_dtype().np
    if own.char not in "dD" or _keeps_float64(data):
        return own
    real: np.dtype[Any] = default_dtype().np
    return real if own.kind == "f" else np.dtype(np.result_type(real, np.complex64))


def to_array(data: Any, dtype: Any = None, place: Any = None) -> Any:
    """A new array of `data` at `place` (the current one for None), as `dtype` or what the data says.

    Raises ArgumentError for ragged lists and for elements that are no numbers.
    """
    if isinstance(data, Holder):
        held = data._data if dtype is None else data._data.astype(as_dtype(dtype).np)
        target = place_of(data._data) if place is None else as_place(place)
        return put(held, target, copy=held is data._data)
    array = _as_numpy(data)
    wanted = _default_for(data, array) if dtype is None else as_dtype(dtype).np
    if array.dtype != wanted:
        array = array.astype(wanted)
    return put(array, current_place() if place is None else as_place(place))


__all__ = ["has_tensors", "has_variables", "to_array"]
