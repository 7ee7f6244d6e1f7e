"""One op on arrays: its meta rule and its kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.dispatch import EAGER
from ..core.rng import default_generator
from ..device.api import namespace_of
from ..ops.failure import metas_of
from ..ops.registry import OpDef

MAX_PASSED = 256
LARGE = 1 << 14
"""Elements of an array from which on it is asked whether there is a better way than NumPy's functions."""
_ndarray = np.ndarray


def on_numpy(op: OpDef, arrays: list[Any], attrs: Mapping[str, Any]) -> Any:
    """What NumPy's functions give."""
    return op.on_numpy(*arrays, **attrs)


EAGER.large = on_numpy


def run_kernel(op: OpDef, arrays: list[Any], attrs: Mapping[str, Any]) -> Any:
    """What the op's kernel gives for arrays."""
    xp = np if arrays and arrays[0].__class__ is _ndarray else namespace_of(arrays)
    if op.random:
        return op.kernel(xp, *arrays, key=default_generator(), **attrs)
    if xp is not np:
        return op.kernel(xp, *arrays, **attrs)
    for array in arrays:
        if array.__class__ is _ndarray and array.size >= LARGE:
            return EAGER.large(op, arrays, attrs)
    return op.on_numpy(*arrays, **attrs) if attrs else op.on_numpy(*arrays)


def check_inputs(op: OpDef, arrays: list[Any], attrs: Mapping[str, Any]) -> None:
    """Run the meta rule, which raises the errors users see, unless it passed this very signature before."""
    passed = op.passed
    key = (
        *[(a.shape, a.dtype) if a.__class__ is _ndarray else a for a in arrays],
        *attrs.items(),
    )
    try:
        if key in passed:
            return
    except TypeError:  # an attribute that has no hash, such as a slice
        op.meta(*metas_of(arrays), **attrs)
        return
    op.meta(*metas_of(arrays), **attrs)
    if len(passed) < MAX_PASSED and namespace_of(arrays) is np:
        passed.add(key)


def check_dtype(op: OpDef, arrays: list[Any], attrs: Mapping[str, Any], dtype: Any) -> None:
    """Run the meta rule of an elementwise op for a dtype that it did not let pass before: NumPy's functions find bad
    shapes by themselves, but take dtypes that programs refuse.
    """
    op.meta(*metas_of(arrays), **attrs)
    op.passed.add(dtype)
