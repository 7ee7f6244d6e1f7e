"""Ops written in simpler ones for files of others: those have neither these ops nor a use for how we compute them.

Unlike the registry's `decompose`, which compiled programs use as well, a form here may be slower than the op.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.dtype import float32, float64, int64
from ..core.meta import UNKNOWN
from ..ops.creation import constant
from ..ops.registry import OpDef, get_op
from .elimination import SOLVERS, loop

Composition = Callable[..., Any]


def composition_of(op: OpDef) -> Composition | None:
    """How an op is written in simpler ones; None where it is not."""
    return op.decompose or _COMPOSITIONS.get(op.name)


# -- small pieces ------------------------------------------------------------------------------------------------------


def _cast(x: Any, dtype: Any) -> Any:
    return x if x.dtype is dtype else get_op("cast")(x, dtype=dtype)


def _number(value: Any, dtype: Any) -> Any:
    return constant(np.asarray(value, dtype.np))


def _where(flag: Any, x: Any, y: Any) -> Any:
    return get_op("where")(flag, x, y)


def _reduced(name: str, x: Any, axis: int | None = None) -> Any:
    axes = tuple(range(x.meta.ndim)) if axis is None else (axis,)
    return get_op(name)(x, axis=axes, keepdim=False) if axes else x


def _flat(x: Any) -> Any:
    return get_op("reshape")(x, shape=(-1,))


# -- whole numbers and floats ------------------------------------------------------------------------------------------


def _gcd(x: Any, y: Any) -> Any:
    """Euclid's algorithm, for all elements until the last is done."""
    kind = get_op("gcd").meta(x.meta, y.meta).dtype
    zero, one = _number(0, int64), _number(1, int64)
    a, b = (_cast(v, int64) for v in (x, y))
    nothing = (a + b) * zero  # the shape of both
    a, b = a + nothing, b + nothing

    def step(a: Any, b: Any) -> tuple[Any, Any]:
        goes_on = get_op("not_equal")(b, zero)
        rest = get_op("mod")(a, _where(goes_on, b, one))
        return _where(goes_on, b, a), _where(goes_on, rest, b)

    found = loop([a, b], lambda a, b: _reduced("any", get_op("not_equal")(b, zero)), step)[0]
    return _cast(get_op("abs")(found), kind)


def _lcm(x: Any, y: Any) -> Any:
    """|x / gcd * y|."""
    kind = get_op("lcm").meta(x.meta, y.meta).dtype
    divisor = _cast(_gcd(x, y), int64)
    one = _number(1, int64)
    whole = get_op("floor_divide")(_cast(x, int64), get_op("maximum")(divisor, one))
    return _cast(get_op("abs")(whole * _cast(y, int64)), kind)


_STEPS = {"float32": (64, 32, 16, 8, 4, 2, 1), "float64": (512, 256, 128, 64, 32, 16, 8, 4, 2, 1)}


def _frexp(x: Any) -> tuple[Any, Any]:
    """|x| times powers of two, which are exact, until it lies in [0.5, 1)."""
    kind = x.dtype
    wide = float64 if kind is float64 else float32
    given = _cast(x, wide)
    part, exponent = get_op("abs")(given), get_op("full_like")(given, fill_value=0.0, dtype=wide)
    steps = _STEPS[wide.name]
    for bits in steps:
        part, exponent = _scaled(part, exponent, get_op("greater_equal")(part, _number(2.0**bits, wide)), -bits, wide)
    for bits in (steps[0], *steps):  # one more for numbers below the smallest normal one
        part, exponent = _scaled(part, exponent, get_op("less_than")(part, _number(2.0**-bits, wide)), bits, wide)
    part, exponent = _scaled(part, exponent, get_op("greater_equal")(part, _number(1.0, wide)), -1, wide)
    zero = _number(0.0, wide)
    # `not_equal` of PaddlePaddle's takes numbers below 1e-8 for zeros
    has_bits = get_op("logical_or")(get_op("less_than")(given, zero), get_op("greater_than")(given, zero))
    is_plain = get_op("logical_and")(get_op("isfinite")(given), has_bits)
    signed = _where(get_op("less_than")(given, zero), get_op("neg")(part), part)
    return _cast(_where(is_plain, signed, given), kind), _cast(_where(is_plain, exponent, zero), kind)


def _scaled(part: Any, exponent: Any, flag: Any, bits: int, kind: Any) -> tuple[Any, Any]:
    scaled = _where(flag, part * _number(2.0**bits, kind), part)
    return scaled, _where(flag, exponent - _number(float(bits), kind), exponent)


# -- places ------------------------------------------------------------------------------------------------------------


def _isin(x: Any, test_x: Any, *, assume_unique: bool, invert: bool) -> Any:
    """Whether any of all is equal."""
    same = get_op("equal")(get_op("unsqueeze")(x, axes=(x.meta.ndim,)), _flat(test_x))
    found = _reduced("any", same, x.meta.ndim)
    return get_op("logical_not")(found) if invert else found


def _as_strided(x: Any, *, shape: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Any:
    """The elements of the flat x at these places."""
    places = np.full((), offset, np.int64)
    for size, step in zip(shape, stride):
        places = places[..., None] + np.arange(size) * step
    found = get_op("gather")(_flat(x), constant(places.reshape(-1)), axis=0)
    return get_op("reshape")(found, shape=tuple(shape))


# -- counting ----------------------------------------------------------------------------------------------------------


def _range_of(column: Any) -> tuple[Any, Any]:
    """The least and the largest element; half a one around it where there is no other."""
    low, high = _reduced("min", column), _reduced("max", column)
    margin = _cast(get_op("equal")(low, high), column.dtype) * _number(0.5, column.dtype)
    return low - margin, high + margin


def _spaced(low: Any, high: Any, count: int) -> Any:
    """`count` numbers from low to high; the last is high itself."""
    steps = constant(np.arange(max(count - 1, 1), dtype=low.dtype.np))
    begin = low + steps * ((high - low) / _number(max(count - 1, 1), low.dtype))
    if count < 2:
        return begin
    return get_op("concat")(begin, get_op("reshape")(high, shape=(1,)), axis=0)


def _bin_edges(x: Any, *, edges: int, min: float, max: float) -> Any:
    if not edges:
        return None
    if min or max:
        if min == max:
            min, max = min - 0.5, max + 0.5
        return constant(np.linspace(min, max, edges).astype(np.float32))
    return _cast(_spaced(*_range_of(_cast(_flat(x), float64)), edges), float32)


def _histogramdd(x: Any, weights: Any, *edges: Any, bins: Any, ranges: Any, density: bool) -> tuple[Any, ...] | None:
    """Each point's cell by the bounds of each dimension, one more cell for those outside, and a sum for each cell."""
    sizes = [e.meta.shape[0] - 1 for e in edges] if bins is None else list(bins)
    if any(size < 1 for size in sizes):
        return None
    points = get_op("reshape")(_cast(x, float64), shape=(-1, len(sizes)))
    place, inside, bounds = _number(0, int64), None, []
    for axis, size in enumerate(sizes):
        column = get_op("getitem")(points, index=(slice(None), axis))
        given = None if bins is not None else edges[axis]
        bound = _bounds_of(column, given, None if ranges is None else ranges[axis], size)
        last = get_op("getitem")(bound, index=(size,))
        at = get_op("searchsorted")(bound, column, right=True, dtype=int64)
        at = at - _cast(get_op("equal")(column, last), int64)
        is_in = get_op("logical_and")(
            get_op("greater_equal")(at, _number(1, int64)), get_op("less_equal")(at, _number(size, int64))
        )
        place = place * _number(size, int64) + (at - _number(1, int64))
        inside = is_in if inside is None else get_op("logical_and")(inside, is_in)
        bounds.append(bound)
    counts = _summed(place, inside, weights, sizes)
    if density:
        counts = counts / _reduced("sum", counts)
        counts = counts / _volumes(bounds)
    return (_cast(counts, x.dtype), *[_cast(b, x.dtype) for b in bounds])


def _bounds_of(column: Any, given: Any, limits: Any, size: int) -> Any:
    if given is not None:
        return _cast(given, float64)
    if limits is None:
        return _spaced(*_range_of(column), size + 1)
    low, high = limits
    return constant(np.linspace(low - 0.5 * (low == high), high + 0.5 * (low == high), size + 1))


def _summed(place: Any, inside: Any, weights: Any, sizes: Sequence[int]) -> Any:
    total = int(np.prod(sizes))
    cell = _where(inside, place, _number(total, int64))
    one = (
        get_op("full_like")(place, fill_value=1.0, dtype=float64) if weights is None else _cast(_flat(weights), float64)
    )
    counts = get_op("index_add")(constant(np.zeros(total + 1)), cell, one, axis=0)
    return get_op("reshape")(get_op("getitem")(counts, index=(slice(0, total),)), shape=tuple(sizes))


def _volumes(bounds: Sequence[Any]) -> Any:
    found = None
    for axis, bound in enumerate(bounds):
        upper = get_op("getitem")(bound, index=(slice(1, None),))
        width = upper - get_op("getitem")(bound, index=(slice(None, -1),))
        shape = [1] * len(bounds)
        shape[axis] = -1
        width = get_op("reshape")(width, shape=tuple(shape))
        found = width if found is None else found * width
    return found


# -- matrices ----------------------------------------------------------------------------------------------------------

# Numerators of the Padé approximant of degree 13, and the norm up to which it is exact in double precision (Higham
# 2005, "The scaling and squaring method for the matrix exponential revisited").
_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
_LARGEST_NORM = 5.371920351148152


def _product(x: Any, y: Any) -> Any:
    return get_op("matmul")(x, y, transpose_x=False, transpose_y=False)


def _matrix_exp(x: Any) -> Any:
    """The quotient of two polynomials of x / 2**s, squared s times, in double precision."""
    if x.dtype.is_complex or UNKNOWN in x.meta.shape[-2:]:
        return None
    wide = _cast(x, float64)
    columns = _reduced("sum", get_op("abs")(wide), x.meta.ndim - 2)
    share = get_op("maximum")(_reduced("max", columns) / _number(_LARGEST_NORM, float64), _number(1.0, float64))
    halvings = get_op("ceil")(get_op("log2")(share))
    small = wide * get_op("pow")(_number(2.0, float64), get_op("neg")(halvings))
    even, odd = _parts(small)
    first = get_op("solve")(even - odd, even + odd)
    one = _number(1.0, float64)
    start = [_number(0.0, float64), first]
    found = loop(start, lambda i, _: get_op("less_than")(i, halvings), lambda i, x: (i + one, _product(x, x)))[1]
    return _cast(found, x.dtype)


def _parts(x: Any) -> tuple[Any, Any]:
    """The even and the odd part of the numerator."""
    one = constant(np.eye(x.meta.shape[-1]))
    two = _product(x, x)
    four = _product(two, two)
    six = _product(two, four)

    def sum_of(a: int) -> Any:
        high = six * _number(_PADE[a + 12], float64) + four * _number(_PADE[a + 10], float64)
        high = _product(six, high + two * _number(_PADE[a + 8], float64))
        low = six * _number(_PADE[a + 6], float64) + four * _number(_PADE[a + 4], float64)
        return high + low + two * _number(_PADE[a + 2], float64) + one * _number(_PADE[a], float64)

    return sum_of(0), _product(x, sum_of(1))


_COMPOSITIONS: dict[str, Composition] = {
    "as_strided": _as_strided, "frexp": _frexp, "gcd": _gcd, "histogram_bin_edges": _bin_edges,
    "histogramdd": _histogramdd, "isin": _isin, "lcm": _lcm, "matrix_exp": _matrix_exp,
    **SOLVERS,
}  # fmt: skip

__all__ = ["Composition", "composition_of"]
