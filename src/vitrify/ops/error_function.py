"""The error function of arrays: SciPy's, and for float32 a rational function that is several times as fast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.lazy import lazy_module
from .blocks import in_blocks

_special = lazy_module("scipy.special")
# From here on erf is 1 in float32.
_END = 3.92
# erf(x) / x as a quotient of polynomials in x * x, rising powers, fitted on [0, _END**2] to a relative error of 2e-8.
_OVER = (1.1283791, 0.1904074, 0.052748814, 0.003765648, 0.00028488203, 2.0500622e-06)
_UNDER = (1.0, 0.50207692, 0.11410946, 0.014969279, 0.0011625404, 3.8091417e-05)


def error_function(x: Any) -> Any:
    """erf(x), elementwise: float32 within 4e-7 of the value, other dtypes as SciPy has it."""
    if x.__class__ is np.ndarray and x.ndim and x.dtype == np.float32:
        return _rational(x)
    return _special.erf(x)


@in_blocks
def _rational(x: Any) -> Any:
    near = np.clip(x, -_END, _END)
    squared = near * near
    out = _polynomial(squared, _OVER)
    out *= near
    out /= _polynomial(squared, _UNDER)
    return np.clip(out, -1, 1, out=out)  # rounding may lead beyond


def _polynomial(x: Any, factors: Sequence[float]) -> Any:
    out = x * factors[-1]
    out += factors[-2]
    for factor in factors[-3::-1]:
        out *= x
        out += factor
    return out
