"""Special functions, elementwise: error function, gamma family, Bessel functions, sigmoid and its relatives."""

from __future__ import annotations

import functools
import math
from typing import Any

from ..core.errors import ArgumentError
from .define import binary, unary
from .elementwise import add_op, conj
from .like import as_float
from .meta_rules import elementwise, floating, real_floating, same_as
from .registry import define_elementwise
from .select import kept, where_op
from .trig import cos
from .unary import exp, log, sign, square

# -- sigmoid ---------------------------------------------------------------------------------------------------------

sigmoid = unary(
    "sigmoid",
    scalar=lambda s, x: s.sigmoid(x),
    vjp={"x": lambda ct, *, out: ct * conj(out * (1 - out))},
    doc="1 / (1 + exp(-x)) without overflow",
    example=("[0.0]", "[0.5]"),
    onnx="Sigmoid",
    where="nn.functional.",
)
_logit_op = define_elementwise(
    "logit",
    scalar=lambda s, x, *, eps: s.log(_inside_unit(s, x, eps)) - s.log1p(-_inside_unit(s, x, eps)),
    meta=same_as("logit", accepts=real_floating),
    vjp={"x": lambda ct, *, x, eps: where_op((x >= eps) & (x <= 1 - eps), ct / (x * (1 - x)), 0 if eps else math.nan)},
    maps={"paddle": "logit"},
)


def _inside_unit(s: Any, x: Any, eps: float) -> Any:
    return s.minimum(s.maximum(x, eps), 1 - eps) if eps else x


def logit(x: Any, eps: float | None = None, name: str | None = None) -> Any:
    """log(x / (1 - x)), x first moved into [eps, 1 - eps] where eps is given; NaN outside [0, 1] otherwise.

    Source: paddle.logit.

    Example:
        >>> import vitrify as paddle
        >>> paddle.logit(paddle.to_tensor([0.5])).tolist()
        [0.0]
    """
    return _logit_op(as_float(x), eps=0.0 if eps is None else float(eps))


def _stanh_vjp(ct: Any, *, out: Any, scale_a: float, scale_b: float) -> Any:
    within = square(out) * (1 / scale_b) if scale_b else 0.0  # scaled by 0 there is nothing, however steep
    return ct * (scale_b - within) * scale_a


_stanh_op = define_elementwise(
    "stanh",
    scalar=lambda s, x, *, scale_a, scale_b: s.tanh(x * scale_a) * scale_b,
    meta=same_as("stanh", accepts=floating),
    vjp={"x": _stanh_vjp},
    maps={"paddle": "stanh"},
)


def stanh(x: Any, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None) -> Any:
    """scale_b * tanh(scale_a * x), elementwise. Source: paddle.stanh.

    Example:
        >>> import vitrify as paddle
        >>> paddle.stanh(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    return _stanh_op(as_float(x), scale_a=float(scale_a), scale_b=float(scale_b))


# -- error function --------------------------------------------------------------------------------------------------

erf = unary(
    "erf",
    scalar="erf",
    vjp={"x": lambda ct, *, x: ct * exp(-square(x)) * (2 / math.sqrt(math.pi))},
    doc="The error function of x",
    example=("[0.0]", "[0.0]"),
    meta=elementwise("erf", ("x",), real_floating),
    out=False,
    onnx="Erf",
)
erfinv = unary(
    "erfinv",
    amp="wide",
    scalar="erfinv",
    vjp={"x": lambda ct, *, out: ct * exp(square(out)) * (math.sqrt(math.pi) / 2)},
    doc="The number whose error function is x",
    example=("[0.0]", "[0.0]"),
    meta=elementwise("erfinv", ("x",), real_floating),
    out=False,
)

# -- gamma family ----------------------------------------------------------------------------------------------------

lgamma = unary(
    "lgamma",
    scalar="lgamma",
    vjp={"x": lambda ct, *, x: ct * digamma(x)},
    doc="The logarithm of the absolute value of the gamma function of x",
    example=("[1.0]", "[0.0]"),
    meta=elementwise("lgamma", ("x",), real_floating),
    out=False,
)
gammaln = lgamma
digamma: Any = unary(
    "digamma",
    scalar="digamma",
    vjp={"x": lambda ct, *, x: ct * polygamma(x, 1)},
    doc="The derivative of the logarithm of the gamma function at x",
    example=('[float("inf")]', "[inf]"),
    meta=elementwise("digamma", ("x",), real_floating),
    out=False,
)
_polygamma_op = define_elementwise(
    "polygamma",
    scalar=lambda s, x, *, n: s.zeta(n + 1.0, x) * ((-1.0) ** (n + 1) * math.factorial(n)),
    meta=same_as("polygamma", accepts=real_floating),
    vjp={"x": lambda ct, *, x, n: ct * polygamma(x, n + 1)},
)


def polygamma(x: Any, n: int, name: str | None = None) -> Any:
    """The n-th derivative of digamma at x, elementwise; n = 0 is digamma. Source: paddle.polygamma.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0])
        >>> round(paddle.polygamma(x, 1).item(), 4)
        1.6449
    """
    if n < 0:
        raise ArgumentError(f"polygamma: n must be >= 0, got {n}")
    return digamma(x) if n == 0 else _polygamma_op(as_float(x), n=int(n))


def multigammaln(x: Any, p: int, name: str | None = None) -> Any:
    """The logarithm of the multivariate gamma function of dimension p, elementwise. Source: paddle.multigammaln.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([2.0])
        >>> round(paddle.multigammaln(x, 1).item(), 4)
        0.0
    """
    if p < 1:
        raise ArgumentError(f"multigammaln: p must be >= 1, got {p}")
    terms = [lgamma(x - i / 2) for i in range(p)]
    return functools.reduce(add_op, terms) + p * (p - 1) / 4 * math.log(math.pi)


def _gamma_density(ct: Any, x: Any, y: Any) -> Any:
    """ct times y^(x-1) e^(-y) / Γ(x), the derivative of gammainc(x, y) in y."""
    return ct * exp((x - 1) * log(y) - y - lgamma(x))


gammainc = binary(
    "gammainc",
    scalar="gammainc",
    vjp={"y": lambda ct, *, x, y: _gamma_density(ct, x, y)},
    doc="The regularized lower incomplete gamma function of order x at y",
    example=("[1.0]", "[0.0]", "[0.0]"),
    accepts=real_floating,
)
gammaincc = binary(
    "gammaincc",
    scalar="gammaincc",
    vjp={"y": lambda ct, *, x, y: -_gamma_density(ct, x, y)},
    doc="The regularized upper incomplete gamma function of order x at y",
    example=("[1.0]", "[0.0]", "[1.0]"),
    accepts=real_floating,
)

# -- Bessel functions ------------------------------------------------------------------------------------------------


def _bessel(name: str, doc: str, result: str, vjp: Any) -> Any:
    return unary(
        name, scalar=name, vjp={"x": vjp}, doc=doc, example=("[0.0]", result), out=False,
        meta=elementwise(name, ("x",), real_floating),
    )  # fmt: skip


def _i1_slope(x: Any, i0_x: Any, i1_x: Any) -> Any:
    """I0(x) - I1(x) / x, which is 1/2 at 0."""
    return where_op(x == 0, 0.5, i0_x - i1_x / x)


i0 = _bessel("i0", "The modified Bessel function of order 0 at x", "[1.0]", lambda ct, *, x: ct * i1(x))
i1: Any = _bessel(
    "i1",
    "The modified Bessel function of order 1 at x",
    "[0.0]",
    lambda ct, *, x, out: ct * _i1_slope(x, i0(x), out),
)
i0e = _bessel(
    "i0e",
    "exp(-|x|) times the modified Bessel function of order 0 at x",
    "[1.0]",
    lambda ct, *, x, out: ct * (i1e(x) - sign(x) * out),
)
i1e: Any = _bessel(
    "i1e",
    "exp(-|x|) times the modified Bessel function of order 1 at x",
    "[0.0]",
    lambda ct, *, x, out: ct * (_i1_slope(x, i0e(x), out) - sign(x) * out),
)

# -- sinc ------------------------------------------------------------------------------------------------------------


def _sinc(s: Any, x: Any) -> Any:
    angle = s.where(x == 0, 1.0, x * math.pi)
    return s.where(x == 0, 1.0, s.sin(angle) / angle)


sinc = unary(
    "sinc",
    scalar=_sinc,
    vjp={"x": lambda ct, *, x, out: ct * conj(kept(x != 0, (cos(x * math.pi) - out) / x))},
    doc="sin(πx) / (πx), 1 at 0",
    example=("[0.0]", "[1.0]"),
    out=False,
)

METHODS: dict[str, Any] = {
    fn.__name__: fn
    for fn in (
        sigmoid, logit, stanh, erf, erfinv, lgamma, digamma, polygamma, multigammaln, gammainc, gammaincc, i0, i1, i0e,
        i1e, sinc,
    )
} | {"gammaln": gammaln}  # fmt: skip
INPLACE = (
    "sigmoid", "logit", "erf", "erfinv", "lgamma", "gammaln", "digamma", "polygamma", "multigammaln", "gammainc",
    "gammaincc", "i0", "sinc",
)  # fmt: skip
__all__ = [
    "digamma",
    "erf",
    "erfinv",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "lgamma",
    "logit",
    "multigammaln",
    "polygamma",
    "sinc",
    "stanh",
]
