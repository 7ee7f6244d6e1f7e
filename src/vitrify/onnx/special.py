"""Functions that no ONNX operator computes, of other scalar primitives: the gamma family and Bessel functions.

All compute in double precision and round once. `s` are the scalar primitives, `x` is an operand of `s` in doubles.
Sources: Abramowitz and Stegun, 6.1.41 and 6.3.18 (asymptotic series), 23.2.7 (Euler and Maclaurin); Wichura, AS 241.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

_SHIFT = 8  # so many steps of the recurrence bring an argument to where the series has all digits
# B(2k) / (2k (2k - 1)), the asymptotic series of log gamma, and B(2k) / 2k, that of its derivative.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


def polynomial(x: Any, factors: Sequence[float]) -> Any:
    """The sum of factors[k] * x ** k."""
    found: Any = factors[-1]
    for factor in reversed(factors[:-1]):
        found = found * x + factor
    return found


def lgamma(s: Any, x: Any) -> Any:
    """log |gamma(x)|: by reflection below 1/2, and by the asymptotic series behind some steps of the recurrence."""
    reflected = x < 0.5
    y = s.where(reflected, 1 - x, x)
    near = y < _SHIFT
    steps = s.where(near, y, 1)
    product = steps
    for k in range(1, _SHIFT):
        product = product * (steps + k)
    z = s.where(near, y + _SHIFT, y)
    inverse = s.reciprocal(z)
    series = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(_BERNOULLI, 1)]
    tail = polynomial(inverse * inverse, series) * inverse
    found = (z - 0.5) * (s.log(z) - 1) + (0.5 * math.log(2 * math.pi) - 0.5) + tail
    found = s.where(near, found - s.log(product), found)
    size = s.abs(x)
    whole = size - s.floor(size)
    away = s.where(whole > 0.5, 1 - whole, whole)  # the distance from a pole, of which sin takes no more
    turned = math.log(math.pi) - s.log(s.sin(away * math.pi)) - found
    turned = s.where(whole == 0, math.inf, turned)
    return s.where(s.isnan(x) | s.isinf(x), x, s.where(reflected, turned, found))


def digamma(s: Any, x: Any) -> Any:
    """The derivative of log gamma: by reflection below 0, else as `lgamma`; NaN at the poles, inf or -inf at zeros."""
    reflected = x < 0
    y = s.where(reflected, 1 - x, x)
    near = y < _SHIFT
    steps = s.where(near, y, 1)
    total: Any = None
    for k in range(_SHIFT):
        part = s.reciprocal(steps + k) if k else s.reciprocal(steps)
        total = part if total is None else total + part
    z = s.where(near, y + _SHIFT, y)
    inverse = s.reciprocal(z)
    square = inverse * inverse
    series = [-b / (2 * k) for k, b in enumerate(_BERNOULLI, 1)]
    found = s.log(z) - inverse * 0.5 + polynomial(square, series) * square
    found = s.where(near, found - total, found)
    size = s.abs(x)
    whole = size - s.floor(size)
    beyond = whole > 0.5
    away = s.where(beyond, 1 - whole, whole)
    slope = s.cos(away * math.pi) / s.sin(away * math.pi) * math.pi
    turned = found + s.where(beyond, -slope, slope)
    found = s.where(reflected, s.where(whole == 0, math.nan, turned), found)
    return s.where(x == 0, -s.reciprocal(x), found)  # whose sign says from which side


# -- the inverse of the error function ---------------------------------------------------------------------------------

_MIDDLE = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
     4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3, 2.1213794301586595867e4,
     3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3),
)  # fmt: skip
_NEAR = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1,
     1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9),
)  # fmt: skip
_FAR = (
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4,
     1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15),
)  # fmt: skip


def _ratio(x: Any, of: Any) -> Any:
    return polynomial(x, of[0]) / polynomial(x, of[1])


def erfinv(s: Any, x: Any) -> Any:
    """The number whose error function is x: a quantile of the normal distribution, divided by the root of 2."""
    half = x * 0.5
    size = s.abs(half)
    inside = size < 0.5
    middle = size <= 0.425
    held = s.where(middle, half, 0)
    center = held * _ratio(0.180625 - held * held, _MIDDLE)
    depth = s.sqrt(-s.log(s.where(middle | ~inside, 0.25, 0.5 - size)))
    tail = s.where(depth <= 5, _ratio(depth - 1.6, _NEAR), _ratio(depth - 5, _FAR))
    found = s.where(middle, center, s.where(half < 0, -tail, tail)) * math.sqrt(0.5)
    infinite = s.where(half < 0, s.number(-math.inf, x), math.inf)
    edge = s.where(size == 0.5, infinite, math.nan)
    return s.where(inside, found, edge)


# -- Bessel functions --------------------------------------------------------------------------------------------------

_EDGE = 8.0  # where the two series meet


def _integral(order: int, x: float) -> float:
    """exp(-x) I(x) by the trapezoidal rule over a period, which is exact to the last digits (9.6.19)."""
    angles = np.arange(400) * (2 * math.pi / 400)
    return float(np.mean(np.exp(x * (np.cos(angles) - 1)) * np.cos(order * angles)))


@cache
def _series(order: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Chebyshev series of exp(-x) I(x) / x**order up to the edge, and of exp(-x) I(x) sqrt(x) over 1 / x beyond."""
    fit: Any = np.polynomial.chebyshev.chebinterpolate
    below = fit(lambda t: np.array([_below(order, (v + 1) * _EDGE / 2) for v in t]), 30)
    beyond = fit(lambda t: np.array([_beyond(order, (v + 1) / 2 / _EDGE) for v in t]), 24)
    return tuple(below.tolist()), tuple(beyond.tolist())


def _below(order: int, x: float) -> float:
    return _integral(order, x) / x if order and x else 0.5 if order else _integral(order, x)


def _beyond(order: int, inverse: float) -> float:
    if inverse == 0:
        return 1 / math.sqrt(2 * math.pi)
    if inverse < 1e-3:  # the rule would need more angles there; two terms of the asymptotic series say all
        mu = 4 * order * order
        terms = [1.0]
        for k in range(1, 8):
            terms.append(-terms[-1] * (mu - (2 * k - 1) ** 2) * inverse / (8 * k))
        return sum(terms) / math.sqrt(2 * math.pi)
    return _integral(order, 1 / inverse) / math.sqrt(inverse)


def _chebyshev(x: Any, factors: Sequence[float]) -> Any:
    """A Chebyshev series by Clenshaw's recurrence."""
    twice = x + x
    last: Any = factors[-1]
    before: Any = 0.0
    for factor in reversed(factors[1:-1]):
        last, before = last * twice - before + factor, last
    return last * x - before + factors[0]


def _scaled_bessel(order: int) -> Callable[[Any, Any], Any]:
    def function(s: Any, x: Any) -> Any:
        size = s.abs(x)
        below, beyond = _series(order)
        is_near = size <= _EDGE
        near = _chebyshev(s.where(is_near, size, 0) * (2 / _EDGE) - 1, below)
        held = s.where(is_near, _EDGE, size)
        far = _chebyshev(s.reciprocal(held) * (2 * _EDGE) - 1, beyond) * s.rsqrt(held)
        if not order:
            return s.where(is_near, near, far)
        return s.where(is_near, near * x, s.where(x < 0, -far, far))

    function.__doc__ = f"The modified Bessel function of order {order}, times exp(-|x|)."
    return function


def _grown(scaled: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def function(s: Any, x: Any) -> Any:
        half = s.exp(s.abs(x) * 0.5)  # in two steps, which together overflow no earlier than the result
        return scaled(s, x) * half * half

    function.__doc__ = (scaled.__doc__ or "").replace(", times exp(-|x|)", "")
    return function


i0e, i1e = _scaled_bessel(0), _scaled_bessel(1)
i0, i1 = _grown(i0e), _grown(i1e)

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "lgamma": lgamma, "digamma": digamma, "erfinv": erfinv, "i0": i0, "i0e": i0e, "i1": i1, "i1e": i1e,
}  # fmt: skip
