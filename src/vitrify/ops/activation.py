"""Activation functions, elementwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..core.alias import aliased
from ..core.errors import ArgumentError
from .arguments import finish, need_tensors
from .complex_ import abs as abs_
from .define import in_place, only
from .elementwise import scale
from .meta_rules import Predicate, elementwise, floating, numeric, real_floating, same_as
from .registry import OpDef, define_elementwise
from .select import kept, minimum, where_op
from .special import sigmoid
from .trig import tanh
from .unary import exp, square


def _activation(
    name: str, scalar: Any, vjp: Any, accepts: Predicate = real_floating, onnx: str | None = None,
    amp: str | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """A new op, behind the check of its argument's dtype."""
    maps = {"paddle": name} if onnx is None else {"onnx": onnx, "paddle": name}
    meta = same_as(name, accepts=accepts)
    op: OpDef = define_elementwise(name, scalar=scalar, meta=meta, vjp={"x": vjp}, maps=maps, amp=amp)
    check = only(name, accepts)
    return lambda x, **attrs: op(check(x), **attrs)


# -- piecewise linear ------------------------------------------------------------------------------------------------

_relu = _activation(
    "relu", lambda s, x: s.fmax(x, 0), lambda ct, *, out: kept(out > 0, ct), accepts=numeric, onnx="Relu"
)
_relu6 = _activation(
    "relu6",
    lambda s, x: s.minimum(s.maximum(x, 0), 6),
    lambda ct, *, x: kept((x > 0) & (x < 6), ct),
)
_leaky_relu = _activation(
    "leaky_relu",
    lambda s, x, *, alpha: s.where(x >= 0, x, x * alpha),
    lambda ct, *, x, alpha: where_op(x >= 0, ct, scale(ct, alpha)),
    onnx="LeakyRelu",
)
_hardtanh = _activation(
    "hard_tanh",
    lambda s, x, *, low, high: s.minimum(s.maximum(x, low), high),
    lambda ct, *, x, low, high: kept((x > low) & (x < high), ct),
)
_hardsigmoid = _activation(
    "hard_sigmoid",
    lambda s, x, *, slope, offset: s.minimum(s.maximum(x * slope + offset, 0), 1),
    lambda ct, *, out, slope: kept((out > 0) & (out < 1), scale(ct, slope)),
    onnx="HardSigmoid",
)
_hardswish = _activation(
    "hard_swish",
    lambda s, x: x * s.minimum(s.maximum(x + 3, 0), 6) / 6,
    lambda ct, *, x: where_op(x >= 3, ct, kept(x > -3, ct * scale(x, 1 / 3, 0.5))),
    onnx="HardSwish",
)
_hardshrink = _activation(
    "hard_shrink",
    lambda s, x, *, threshold: s.where((x >= -threshold) & (x <= threshold), 0, x),
    lambda ct, *, x, threshold: kept((x > threshold) | (x < -threshold), ct),
)
_softshrink = _activation(
    "softshrink",
    lambda s, x, *, threshold: s.maximum(x - threshold, 0) + s.minimum(x + threshold, 0),
    lambda ct, *, x, threshold: kept((x > threshold) | (x < -threshold), ct),
)
_thresholded_relu = _activation(
    "thresholded_relu",
    lambda s, x, *, threshold, value: s.where(x <= threshold, value, x),
    lambda ct, *, x, threshold: kept(x > threshold, ct),
)


def relu(x: Any, name: str | None = None) -> Any:
    """max(x, 0), elementwise; 0 where x is NaN, as in Paddle. Source: paddle.nn.functional.relu.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.relu(paddle.to_tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """
    return _relu(x)


def relu6(x: Any, name: str | None = None) -> Any:
    """min(max(x, 0), 6), elementwise. Source: paddle.nn.functional.relu6.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.relu6(paddle.to_tensor([-1.0, 2.0, 8.0])).tolist()
        [0.0, 2.0, 6.0]
    """
    return _relu6(x)


def leaky_relu(x: Any, negative_slope: float = 0.01, name: str | None = None) -> Any:
    """x where it is >= 0, else negative_slope * x. Source: paddle.nn.functional.leaky_relu.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.leaky_relu(paddle.to_tensor([-2.0, 2.0]), 0.5).tolist()
        [-1.0, 2.0]
    """
    return _leaky_relu(x, alpha=float(negative_slope))


def hardtanh(x: Any, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Any:
    """x kept in [min, max], with no gradient at the bounds. Source: paddle.nn.functional.hardtanh.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.hardtanh(paddle.to_tensor([-2.0, 0.5])).tolist()
        [-1.0, 0.5]
    """
    return _hardtanh(x, low=float(min), high=float(max))


def hardsigmoid(x: Any, slope: float = 0.1666667, offset: float = 0.5, name: str | None = None) -> Any:
    """slope * x + offset kept in [0, 1]. Source: paddle.nn.functional.hardsigmoid.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.hardsigmoid(paddle.to_tensor([-4.0, 0.0, 4.0])).tolist()
        [0.0, 0.5, 1.0]
    """
    return _hardsigmoid(x, slope=float(slope), offset=float(offset))


def hardswish(x: Any, name: str | None = None) -> Any:
    """x * min(max(x + 3, 0), 6) / 6, elementwise. Source: paddle.nn.functional.hardswish.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.hardswish(paddle.to_tensor([-1.5, 3.0])).tolist()
        [-0.375, 3.0]
    """
    return _hardswish(x)


@aliased(x="input")
def hardshrink(x: Any, threshold: float = 0.5, name: str | None = None) -> Any:
    """x where |x| > threshold, else 0. Source: paddle.nn.functional.hardshrink.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.hardshrink(paddle.to_tensor([-1.0, 0.25])).tolist()
        [-1.0, 0.0]
    """
    return _hardshrink(x, threshold=float(threshold))


@aliased(x="input")
def softshrink(x: Any, threshold: float = 0.5, name: str | None = None) -> Any:
    """x moved towards 0 by `threshold`, and 0 within it. Source: paddle.nn.functional.softshrink.

    Raises ArgumentError for a negative threshold.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.softshrink(paddle.to_tensor([-1.0, 0.25])).tolist()
        [-0.5, 0.0]
    """
    if threshold < 0:
        raise ArgumentError(f"softshrink: threshold must be >= 0, got {threshold}")
    return _softshrink(x, threshold=float(threshold))


def thresholded_relu(x: Any, threshold: float = 1.0, value: float = 0.0, name: str | None = None) -> Any:
    """x where it is greater than `threshold`, else `value`. Source: paddle.nn.functional.thresholded_relu.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.thresholded_relu(paddle.to_tensor([0.5, 2.0])).tolist()
        [0.0, 2.0]
    """
    return _thresholded_relu(x, threshold=float(threshold), value=float(value))


# -- exponential -----------------------------------------------------------------------------------------------------


def _exp_below(x: Any, rate: float = 1.0) -> Any:
    """exp(rate * x) for negative x; 1 for positive x, where it could overflow."""
    return exp(scale(minimum(x, 0), rate))


_elu = _activation(
    "elu",
    lambda s, x, *, alpha: s.where(x > 0, x, s.expm1(s.minimum(x, 0)) * alpha),
    lambda ct, *, x, alpha: where_op(x > 0, ct, scale(ct, alpha) * _exp_below(x)),
    onnx="Elu",
)
_selu = _activation(
    "selu",
    lambda s, x, *, scale, alpha: s.where(x > 0, x, s.expm1(s.minimum(x, 0)) * alpha) * scale,
    lambda ct, *, x, scale, alpha: _selu_vjp(ct, x, scale, alpha),
    onnx="Selu",
)
_celu = _activation(
    "celu",
    lambda s, x, *, alpha: s.maximum(x, 0) + s.expm1(s.minimum(x, 0) / alpha) * alpha,
    lambda ct, *, x, alpha: where_op(x > 0, ct, ct * _exp_below(x, 1 / alpha)),
    onnx="Celu",
)


def _selu_vjp(ct: Any, x: Any, factor: float, alpha: float) -> Any:
    return where_op(x > 0, scale(ct, factor), scale(ct, factor * alpha) * _exp_below(x))


def elu(x: Any, alpha: float = 1.0, name: str | None = None) -> Any:
    """x where it is positive, else alpha * (exp(x) - 1). Source: paddle.nn.functional.elu.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.elu(paddle.to_tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """
    return _elu(x, alpha=float(alpha))


def selu(x: Any, scale: float = 1.0507009873554805, alpha: float = 1.6732632423543772, name: str | None = None) -> Any:
    """scale * (x where it is positive, else alpha * (exp(x) - 1)). Source: paddle.nn.functional.selu.

    Raises ArgumentError unless scale > 1 and alpha >= 0.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.selu(paddle.to_tensor([0.0, 2.0]), scale=1.5).tolist()
        [0.0, 3.0]
    """
    if scale <= 1.0 or alpha < 0:
        raise ArgumentError(f"selu: scale must be > 1 and alpha >= 0, got {scale} and {alpha}")
    return _selu(x, scale=float(scale), alpha=float(alpha))


def celu(x: Any, alpha: float = 1.0, name: str | None = None) -> Any:
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1)). Source: paddle.nn.functional.celu.

    Raises ArgumentError for alpha 0.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.celu(paddle.to_tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """
    if alpha == 0:
        raise ArgumentError("celu: alpha must not be 0")
    return _celu(x, alpha=float(alpha))


# -- smooth ----------------------------------------------------------------------------------------------------------

_ROOT = math.sqrt(2 / math.pi)
_CUBE = 0.044715


def _gelu(s: Any, x: Any, *, approximate: bool) -> Any:
    if approximate:
        return x * 0.5 * (s.tanh((x + x * x * x * _CUBE) * _ROOT) + 1)
    return x * 0.5 * (s.erf(x * math.sqrt(0.5)) + 1)


def _gelu_slope(s: Any, ct: Any, x: Any, *, approximate: bool) -> Any:
    """ct times the derivative of gelu."""
    squared = x * x
    if approximate:
        bent = s.tanh(x * (squared * (_CUBE * _ROOT) + _ROOT))
        return ct * 0.5 * (bent + 1 + x * (1 - bent * bent) * (squared * (3 * _CUBE * _ROOT) + _ROOT))
    density = s.exp(squared * -0.5) * (0.5 * _ROOT)
    return ct * ((s.erf(x * math.sqrt(0.5)) + 1) * 0.5 + x * density)


def _gelu_bend(g: Any, *, ct: Any, x: Any, approximate: bool) -> Any:
    """g * ct times the second derivative of gelu."""
    squared = square(x)
    if not approximate:
        return g * ct * exp(scale(squared, -0.5)) * (2 - squared) * (0.5 * _ROOT)
    slope = scale(squared, 3 * _CUBE * _ROOT, _ROOT)
    bent = tanh(x * scale(squared, _CUBE * _ROOT, _ROOT))
    return g * ct * (1 - square(bent)) * (slope + scale(squared, 3 * _CUBE * _ROOT) - x * bent * square(slope))


def _silu_vjp(ct: Any, *, x: Any) -> Any:
    gate = sigmoid(x)
    return ct * (gate * (x * (1 - gate) + 1))


def _mish_vjp(ct: Any, *, x: Any) -> Any:
    bent = tanh(_softplus(x, beta=1.0, threshold=20.0))
    return ct * (bent + x * (1 - square(bent)) * sigmoid(x))


_gelu_grad_op: OpDef = define_elementwise(
    "gelu_grad",
    scalar=_gelu_slope,
    meta=elementwise("gelu_grad", ("ct", "x"), real_floating),
    vjp={"ct": lambda g, *, x, approximate: _gelu_grad_op(g, x, approximate=approximate), "x": _gelu_bend},
)
gelu_op = _activation(
    "gelu", _gelu, lambda ct, *, x, approximate: _gelu_grad_op(ct, x, approximate=approximate), onnx="Gelu"
)
_silu = _activation("silu", lambda s, x: x * s.sigmoid(x), _silu_vjp, accepts=floating)
_mish = _activation("mish", lambda s, x: x * s.tanh(s.softplus(x)), _mish_vjp, onnx="Mish")
_softplus = _activation(
    "softplus",
    lambda s, x, *, beta, threshold: s.where(x * beta > threshold, x, s.softplus(x * beta) / beta),
    lambda ct, *, x, beta, threshold: where_op(scale(x, beta) > threshold, ct, ct * sigmoid(scale(x, beta))),
    onnx="Softplus",
    amp="wide",
)
_softsign = _activation(
    "softsign",
    lambda s, x: x / (s.abs(x) + 1),
    lambda ct, *, x: ct / square(abs_(x) + 1),
    onnx="Softsign",
)
_tanhshrink = _activation("tanh_shrink", lambda s, x: x - s.tanh(x), lambda ct, *, x: ct * square(tanh(x)), amp="wide")
_log_sigmoid = _activation("logsigmoid", lambda s, x: -s.softplus(-x), lambda ct, *, x: ct * sigmoid(-x))


@aliased(x="input")
def gelu(x: Any, approximate: Any = False, name: str | None = None, *, out: Any = None) -> Any:
    """x times the normal distribution function of x; by a formula with tanh if `approximate` (True or "tanh").

    Raises ArgumentError for another value of `approximate`. Source: paddle.nn.functional.gelu.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.gelu(paddle.to_tensor([0.0, 30.0])).tolist()
        [0.0, 30.0]
    """
    if approximate not in (True, False, "tanh", "none"):
        raise ArgumentError(f"gelu: approximate must be a bool, 'tanh' or 'none', got {approximate!r}")
    need_tensors("gelu", x)
    return finish("gelu", gelu_op(x, approximate=approximate in (True, "tanh")), out)


@aliased(x="input")
def silu(x: Any, inplace: bool = False, name: str | None = None) -> Any:
    """x * sigmoid(x), elementwise; put into x itself if `inplace`. Source: paddle.nn.functional.silu.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.silu(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    return x._become(_silu(x)) if inplace else _silu(x)


def swish(x: Any, name: str | None = None) -> Any:
    """x * sigmoid(x), elementwise. Source: paddle.nn.functional.swish.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.swish(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    return _silu(x)


def mish(x: Any, name: str | None = None) -> Any:
    """x * tanh(softplus(x)), elementwise. Source: paddle.nn.functional.mish.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.mish(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    return _mish(x)


@aliased(x="input")
def softplus(x: Any, beta: float = 1, threshold: float = 20, name: str | None = None) -> Any:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold. Source: paddle.nn.functional.softplus.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.softplus(paddle.to_tensor([50.0])).tolist()
        [50.0]
    """
    return _softplus(x, beta=float(beta), threshold=float(threshold))


def softsign(x: Any, name: str | None = None) -> Any:
    """x / (1 + |x|), elementwise. Source: paddle.nn.functional.softsign.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.softsign(paddle.to_tensor([-1.0, 3.0])).tolist()
        [-0.5, 0.75]
    """
    return _softsign(x)


def tanhshrink(x: Any, name: str | None = None) -> Any:
    """x - tanh(x), elementwise. Source: paddle.nn.functional.tanhshrink.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.tanhshrink(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    return _tanhshrink(x)


@aliased(x="input")
def log_sigmoid(x: Any, name: str | None = None) -> Any:
    """log(1 / (1 + exp(-x))) without overflow. Source: paddle.nn.functional.log_sigmoid.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.log_sigmoid(paddle.to_tensor([-1000.0])).tolist()
        [-1000.0]
    """
    return _log_sigmoid(x)


logsigmoid = log_sigmoid
relu_, leaky_relu_, hardtanh_, thresholded_relu_, elu_ = [
    in_place(fn, room="paddle.nn.functional.") for fn in (relu, leaky_relu, hardtanh, thresholded_relu, elu)
]

METHODS: dict[str, Any] = {}
INPLACE = ()
__all__ = ()
FUNCTIONAL = (
    "celu",
    "elu",
    "elu_",
    "gelu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_sigmoid",
    "logsigmoid",
    "mish",
    "relu",
    "relu6",
    "relu_",
    "selu",
    "silu",
    "softplus",
    "softshrink",
    "softsign",
    "swish",
    "tanhshrink",
    "thresholded_relu",
    "thresholded_relu_",
)  # names in `vitrify.nn.functional`
