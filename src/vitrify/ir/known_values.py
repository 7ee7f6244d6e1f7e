"""Values of a program being read that are known already: arrays, and sizes of which some are known.

A reader of foreign programs holds constants as arrays, and what is made of sizes as arrays of objects: ints where a
size is known, 0-D variables where only the run knows it. They become variables where an operator needs a tensor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import int64
from ..core.errors import UnsupportedError
from ..ops.creation import constant
from ..ops.registry import get_op

Array = np.ndarray[Any, Any]


def sizes_array(values: Any) -> Array:
    """Sizes as an array: of int64 where all are known, else of objects. One size alone, not in a list, is 0-D."""
    if isinstance(values, np.ndarray):
        found = values.astype(object)
    elif isinstance(values, (list, tuple)):
        found = np.empty((len(values),), object)
        for i, value in enumerate(values):
            found[i] = value
    else:
        found = np.empty((), object)
        found[()] = values
    known = all(isinstance(v, (int, np.integer)) for v in found.reshape(-1))
    return found.astype(np.int64) if known else found


def as_tensor(value: Any) -> Any:
    """A value as a tensor; sizes are put together."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype != object:
        return constant(value)
    parts = [constant(np.asarray(v, np.int64)) if isinstance(v, (int, np.integer)) else v for v in value.reshape(-1)]
    if value.ndim == 0:
        return parts[0]
    stacked = get_op("stack")(*parts, axis=0)
    return stacked if value.ndim == 1 else get_op("reshape")(stacked, shape=value.shape)


def optional_tensor(value: Any) -> Any:
    """`as_tensor(value)`; None stays None."""
    return None if value is None else as_tensor(value)


def known_ints(value: Any) -> list[int]:
    """Integers that must be known now; raises UnsupportedError."""
    if not isinstance(value, np.ndarray) or value.dtype == object:
        raise UnsupportedError("axes, steps and other structure must be constants of the file")
    return [int(v) for v in value.reshape(-1)]


def sizes_argument(value: Any) -> Any:
    """Sizes as the attribute of an op: a tuple of ints and 0-D tensors."""
    if isinstance(value, np.ndarray):
        return tuple(int(v) if isinstance(v, (int, np.integer)) else v for v in value.reshape(-1))
    if value.ndim == 0:
        return (value,)
    count = value.shape[0]
    if count < 0:
        raise UnsupportedError("a shape whose length is known only at run time cannot be read")
    place = get_op("gather")
    return tuple(place(value, constant(np.asarray(i, int64.np)), axis=0) for i in range(count))
