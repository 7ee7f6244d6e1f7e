"""Softmax and its logarithm; activations that combine channels: prelu, maxout, glu, swiglu."""

from __future__ import annotations

from typing import Any

from ..core.alias import aliased
from ..core.dtype import float32
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, normalize_axis
from .activation import silu
from .arguments import finish, rank_of
from .axes import largest
from .compare import equal
from .creation import arange
from .define import in_place, only
from .like import cast
from .meta_rules import elementwise, real_floating
from .random import uniform
from .reduce import max as max_
from .reduce import max_op, sum_op
from .registry import OpDef, define_elementwise, define_op
from .select import kept, where_op
from .shape import reshape, unflatten
from .sizes import dim_size, sizes_of
from .special import sigmoid
from .split import chunk
from .statistics import argmax
from .unary import exp, log

# -- softmax ---------------------------------------------------------------------------------------------------------


def _shifted(xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """x minus its largest element along the axis, in a dtype that keeps the digits of sums."""
    wide = x.astype(xp.float32) if x.dtype.itemsize == 2 else x
    return wide - largest(xp, wide, axes, 0.0)


def _axes(x: Any, axis: int) -> tuple[int, ...]:
    return (axis,) if x.ndim else ()


def _softmax_kernel(xp: Any, x: Any, *, axis: int) -> Any:
    powers = xp.asarray(_shifted(xp, x, _axes(x, axis)))
    xp.exp(powers, out=powers)
    powers /= powers.sum(axis=_axes(x, axis), keepdims=True)
    return powers.astype(x.dtype, copy=False)


def _log_softmax_kernel(xp: Any, x: Any, *, axis: int) -> Any:
    shifted = _shifted(xp, x, _axes(x, axis))
    total = xp.exp(shifted).sum(axis=_axes(x, axis), keepdims=True)
    return xp.asarray(shifted - xp.log(total)).astype(x.dtype, copy=False)


def _meta(op: str) -> Any:
    def rule(x: Meta, *, axis: int) -> Meta:
        if not x.dtype.is_floating:
            raise DTypeError(f"{op}: x is {x}, expected real floating point", hint="pass dtype='float32'")
        return x

    return rule


def _along(x: Any, axis: int) -> Any:
    return sum_op(x, axis=_axes(x, axis), keepdim=True)


def _exponentials(x: Any, axis: int) -> tuple[Any, Any, Any]:
    """x minus its largest element along the axis in a wide dtype, exp of that, and the sum of it."""
    wide = cast(x, float32) if x.dtype.itemsize == 2 else x
    shifted = wide - max_op(wide, axis=_axes(x, axis), keepdim=True)
    powers = exp(shifted)
    return shifted, powers, _along(powers, axis)


def _softmax_in_ops(x: Any, *, axis: int) -> Any:
    _, powers, total = _exponentials(x, axis)
    return cast(powers / total, x.dtype)


def _log_softmax_in_ops(x: Any, *, axis: int) -> Any:
    shifted, _, total = _exponentials(x, axis)
    return cast(shifted - log(total), x.dtype)


softmax_op: OpDef = define_op(
    "softmax",
    kernel=_softmax_kernel,
    meta=_meta("softmax"),
    vjp={"x": lambda ct, *, out, axis: (ct - _along(ct * out, axis)) * out},
    amp="wide",
    maps={"onnx": "Softmax", "paddle": "softmax"},
    decompose=_softmax_in_ops,
)
log_softmax_op: OpDef = define_op(
    "log_softmax",
    kernel=_log_softmax_kernel,
    meta=_meta("log_softmax"),
    vjp={"x": lambda ct, *, out, axis: ct - exp(out) * _along(ct, axis)},
    amp="wide",
    maps={"onnx": "LogSoftmax", "paddle": "log_softmax"},
    decompose=_log_softmax_in_ops,
)


@aliased(x="input", axis="dim")
def softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None, *, out: Any = None) -> Any:
    """exp(x) divided by its sum along `axis`, without overflow; x is cast to `dtype` first.

    Source: paddle.nn.functional.softmax.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.softmax(paddle.to_tensor([0.0, 0.0])).tolist()
        [0.5, 0.5]
    """
    place = normalize_axis("softmax", axis, rank_of("softmax", x))
    return finish("softmax", softmax_op(x if dtype is None else cast(x, dtype), axis=place), out)


softmax_ = in_place(softmax, room="paddle.nn.functional.")


def softmax_by_dim(
    input: Any, dim: int | None = None, dtype: Any = None, *, axis: int | None = None, out: Any = None
) -> Any:
    """`softmax` along `dim`; without it along the first dimension of 1-D and 3-D tensors, the second of others.

    Source: paddle.softmax.

    Example:
        >>> import vitrify as paddle
        >>> paddle.softmax(paddle.to_tensor([[0.0, 0.0]]), dim=1).tolist()
        [[0.5, 0.5]]
    """
    dim = axis if dim is None else dim
    if dim is None:
        dim = 0 if rank_of("softmax_by_dim", input) in (0, 1, 3) else 1
    return softmax(input, dim, dtype, out=out)


def log_softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> Any:
    """The logarithm of `softmax`, exact also where that is tiny. Source: paddle.nn.functional.log_softmax.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.log_softmax(paddle.to_tensor([1000.0, 0.0])).tolist()
        [0.0, -1000.0]
    """
    place = normalize_axis("log_softmax", axis, rank_of("log_softmax", x))
    return log_softmax_op(x if dtype is None else cast(x, dtype), axis=place)


straight_through_op = define_op(
    "straight_through",
    kernel=lambda xp, value, slope: value.copy(),
    meta=lambda value, slope: value,
    vjp={"slope": lambda ct: ct},
    native=lambda n, value, slope: n.copy(value),
)


def gumbel_softmax(
    x: Any, temperature: float = 1.0, hard: bool = False, axis: int = -1, name: str | None = None
) -> Any:
    """A sample of the Gumbel-softmax distribution with logits x: softmax((x + Gumbel noise) / temperature).

    hard: 1 at the largest element and 0 elsewhere, with the gradient of the soft sample.
    Raises ArgumentError unless temperature is positive. Source: paddle.nn.functional.gumbel_softmax.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.gumbel_softmax(paddle.zeros([2, 3]), hard=True).sum(-1).tolist()
        [1.0, 1.0]
    """
    if temperature <= 0:
        raise ArgumentError(f"gumbel_softmax: temperature must be positive, got {temperature}")
    rank_of("gumbel_softmax", x)
    tiny = 1e-20 if x.dtype.itemsize > 2 else 1e-4
    noise = -log(-log(uniform(sizes_of(x), x.dtype, tiny, 1.0)))
    soft = softmax((x + noise) / temperature, axis)
    if not hard:
        return soft
    place = normalize_axis("gumbel_softmax", axis, x.ndim)
    largest = cast(equal(_positions(x, place), argmax(soft, place, keepdim=True)), x.dtype)
    return straight_through_op(largest, soft)


def _positions(x: Any, axis: int) -> Any:
    """0, 1, 2, ... along one axis of x, of size 1 in all others."""
    size = dim_size(x, axis) if x.shape[axis] == UNKNOWN else x.shape[axis]
    return reshape(arange(size), [-1 if i == axis else 1 for i in range(x.ndim)])


# -- over channels ---------------------------------------------------------------------------------------------------

prelu_op = define_elementwise(
    "prelu",
    scalar=lambda s, x, weight: s.where(x > 0, x, x * weight),
    meta=elementwise("prelu", ("x", "weight"), real_floating),
    vjp={
        "x": lambda ct, *, x, weight: where_op(x > 0, ct, ct * weight),
        "weight": lambda ct, *, x: kept(x <= 0, ct * x),
    },
    maps={"onnx": "PRelu", "paddle": "prelu"},
)


def prelu(x: Any, weight: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """x where it is positive, else weight * x; weight has 1 element, or one for each channel.

    Raises ShapeError when it has another number. Source: paddle.nn.functional.prelu.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.prelu(paddle.to_tensor([-2.0, 2.0]), paddle.to_tensor([0.5])).tolist()
        [-1.0, 2.0]
    """
    rank_of("prelu", x)
    count = weight.shape[0] if rank_of("prelu", weight, "weight") else 1
    if weight.ndim > 1 or (count != 1 and x.ndim < 2):
        raise ShapeError(f"prelu: weight has shape {list(weight.shape)}, expected [1] or one element a channel")
    if count == 1:
        return prelu_op(x, reshape(weight, [1] * max(x.ndim, 0)))
    channel = x.ndim - 1 if data_format.endswith("C") else 1
    if UNKNOWN not in (x.shape[channel], count) and x.shape[channel] != count:
        raise ShapeError(f"prelu: weight has {count} elements, x has {x.shape[channel]} channels")
    return prelu_op(x, reshape(weight, [-1 if i == channel else 1 for i in range(x.ndim)]))


def rrelu(
    x: Any, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, training: bool = True, name: str | None = None
) -> Any:
    """x where it is positive, else x times a random slope in [lower, upper): the middle one unless `training`.

    Raises ArgumentError unless 0 <= lower <= upper <= 1. Source: paddle.nn.functional.rrelu.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.rrelu(paddle.to_tensor([-2.0]), 0.5, 0.5, training=False).tolist()
        [-1.0]
    """
    if not 0 <= lower <= upper <= 1:
        raise ArgumentError(f"rrelu: needs 0 <= lower <= upper <= 1, got {lower} and {upper}")
    only("rrelu", real_floating)(x)
    return prelu_op(x, uniform(sizes_of(x), x.dtype, lower, upper) if training else (lower + upper) / 2)


def maxout(x: Any, groups: int, axis: int = 1, name: str | None = None) -> Any:
    """The largest of each `groups` neighbouring channels: size c along `axis` becomes c // groups.

    Raises ShapeError unless c is a multiple of groups. Source: paddle.nn.functional.maxout.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.maxout(paddle.arange(8.0).reshape([1, 4, 2, 1]), 2).shape
        paddle.Size([1, 2, 2, 1])
    """
    place = normalize_axis("maxout", axis, rank_of("maxout", x))
    if x.shape[place] != UNKNOWN and x.shape[place] % groups:
        raise ShapeError(f"maxout: {x.shape[place]} channels do not divide into groups of {groups}")
    return max_(unflatten(x, place, [-1, groups]), axis=place + 1)


def _halves(op: str, x: Any, axis: int) -> tuple[Any, Any]:
    place = normalize_axis(op, axis, rank_of(op, x))
    if x.ndim and x.shape[place] % 2 and x.shape[place] != UNKNOWN:
        raise ShapeError(f"{op}: x is {Meta(tuple(x.shape), x.dtype)}: size {x.shape[place]} in axis {axis} is odd")
    first, second = chunk(x, 2, place)
    return first, second


@aliased(x="input", axis="dim")
def glu(x: Any, axis: int = -1, name: str | None = None) -> Any:
    """The first half of x along `axis` times the sigmoid of the second. Source: paddle.nn.functional.glu.

    Raises ShapeError for an odd size.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.glu(paddle.to_tensor([4.0, 0.0])).tolist()
        [2.0]
    """
    value, gate = _halves("glu", x, axis)
    return value * sigmoid(gate)


def swiglu(x: Any, y: Any = None, name: str | None = None) -> Any:
    """silu(x) * y; without y, x's halves along the last axis are used. Source: paddle.nn.functional.swiglu.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.swiglu(paddle.to_tensor([0.0, 4.0])).tolist()
        [0.0]
    """
    gate, value = _halves("swiglu", x, -1) if y is None else (x, y)
    return silu(gate) * value


METHODS: dict[str, Any] = {"softmax": softmax_by_dim}
INPLACE = ()
__all__ = ()
# names in `vitrify.nn.functional`
FUNCTIONAL = ("glu", "gumbel_softmax", "log_softmax", "maxout", "prelu", "rrelu", "softmax", "softmax_", "swiglu")
