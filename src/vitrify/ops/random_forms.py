"""Random numbers as steps of a native program: what the kernels of `random` make, from the same words."""

from __future__ import annotations

import math
from typing import Any

from ..core.dtype import DType, as_dtype, float64
from ..core.philox import SIGNIFICANT_BITS
from .arguments import entries
from .elementwise import add_op, multiply_op
from .like import cast_op
from .registry import get_op


def _scaled(n: Any, x: Any, scale: float, shift: float) -> Any:
    """x * scale + shift, rounded after each."""
    product = n.apply(multiply_op, x, n.full((), scale, x.dtype))
    return n.apply(add_op, product, n.full((), shift, x.dtype))


def _as(n: Any, x: Any, dtype: DType) -> Any:
    return x if x.dtype == dtype.np else n.apply(cast_op, x, dtype=dtype)


def uniform_form(n: Any, *, shape: Any, dtype: DType, low: float, high: float, seed: int) -> Any:
    """Numbers from [low, high): `philox.uniform`."""
    sizes = entries(shape)
    if dtype is float64:
        found = n.draw_wide_units(sizes, seed)
    else:
        found = n.draw_units(sizes, SIGNIFICANT_BITS[dtype], seed)
    return _as(n, found if (low, high) == (0.0, 1.0) else _scaled(n, found, high - low, low), dtype)


def _pair(above_zero: Any, turn: Any) -> tuple[Any, Any]:
    """Two normal numbers of two uniform ones (Box-Muller)."""
    radius, angle = get_op("sqrt")(get_op("log")(above_zero) * -2.0), turn * (2.0 * math.pi)
    return radius * get_op("cos")(angle), radius * get_op("sin")(angle)


def _pair32(first: Any, second: Any) -> tuple[Any, Any]:
    return _pair(first + 2.0**-33, second)


def _pair64(first: Any, second: Any) -> tuple[Any, Any]:
    return _pair(1.0 - first, second)


def gaussian_form(n: Any, *, shape: Any, dtype: DType, mean: float, std: float, seed: int) -> Any:
    """Normal numbers: `philox.normal`, but for the last places of functions of libm."""
    sizes = entries(shape)
    count = math.prod(sizes)
    pairs, is_wide = -(-count // 2), dtype is float64
    units = n.draw_wide_units((pairs, 2), seed) if is_wide else n.draw_units((pairs, 2), 32, seed)
    first, second = n.view(lambda a: (a[:, 0], a[:, 1]), units)
    made = n.new((pairs, 2), units.dtype)
    n.compute_into(n.view(lambda a: (a[:, 0], a[:, 1]), made), _pair64 if is_wide else _pair32, first, second)
    found = n.reshape(n.view(lambda a: a.reshape(-1)[:count], made), sizes)
    return _as(n, found if (mean, std) == (0.0, 1.0) else _scaled(n, found, std, mean), dtype)


def randint_form(n: Any, *, shape: Any, low: Any, high: Any, dtype: DType) -> Any:
    """Integers from [low, high): `philox.randint`."""
    if not (isinstance(low, int) and isinstance(high, int)):
        n.refuse("integers within bounds that only the run knows are drawn without a native form")
    return _as(n, n.draw_integers(entries(shape), low, high, dtype.itemsize == 8), dtype)


def bernoulli_form(n: Any, x: Any) -> Any:
    """1 with the probability that an element gives, else 0; one outside of [0, 1] ends the run."""
    return n.apply(cast_op, n.draw_below_each(_as(n, x, float64)), dtype=as_dtype(x.dtype))


__all__ = ["bernoulli_form", "gaussian_form", "randint_form", "uniform_form"]
