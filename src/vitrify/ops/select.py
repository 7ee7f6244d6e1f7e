"""Choosing among values, elementwise: where, maximum and minimum, clip, nan_to_num."""

from __future__ import annotations

import builtins
from typing import Any

import ml_dtypes
import numpy as np

from ..core.alias import aliased
from ..core.dtype import as_dtype, bool_, default_dtype, promote, scalar_dtype
from ..core.errors import ArgumentError, DTypeError
from ..core.meta import Meta
from .arguments import finish, is_tensor, is_unknown, rank_of
from .compare import equal, greater_equal, greater_than, isfinite, isnan, less_equal, less_than, logical_or
from .creation import full
from .define import become, binary, only
from .like import cast
from .meta_rules import elementwise, numeric, real_floating, same_as
from .registry import OpDef, define_elementwise

# -- where -----------------------------------------------------------------------------------------------------------

_CHOICES = ("condition", "x", "y")


def _where_meta(condition: Meta, x: Any, y: Any) -> Meta:
    if not condition.dtype.is_bool:
        raise DTypeError(f"where: condition is {condition}, expected bool", hint="compare it, for example x != 0")
    dtype = elementwise("where", ("x", "y"))(x, y).dtype
    masks = [m.with_dtype(bool_) if isinstance(m, Meta) else None for m in (condition, x, y)]
    return elementwise("where", _CHOICES, result=dtype)(*masks)


where_op: OpDef = define_elementwise(
    "where",
    scalar=lambda s, condition, x, y: s.where(condition, x, y),
    meta=_where_meta,
    vjp={
        "x": lambda ct, *, condition: where_op(condition, ct, 0),
        "y": lambda ct, *, condition: where_op(condition, 0, ct),
    },
    promote=("x", "y"),
    weak_0d=False,
    maps={"onnx": "Where", "paddle": "where"},
)
_must_be_bool = only("where", lambda dtype: bool(dtype.is_bool), "condition")


@aliased(x="input", y="other")
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None, *, out: Any = None) -> Any:
    """x where `condition` is true, else y; all three broadcast. Without x and y: `nonzero(condition, as_tuple=True)`.

    condition: [*c] bool; x, y: [*a], [*b] or Python numbers -> [*broadcast], the promoted dtype. A fraction has
    the default dtype, a NumPy number its own: beside float16 a 0.0 makes the result float32, unlike in `x + 0.0`.
    Raises ArgumentError when only one of x and y is given. Source: paddle.where.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0, -2.0])
        >>> paddle.where(x > 0, x, 0.0).tolist()
        [1.0, 0.0]
    """
    if x is None and y is None:
        return condition.nonzero(as_tuple=True)
    if x is None or y is None:
        raise ArgumentError("where: x and y must both be given, or neither")
    if not is_tensor(x) and not is_tensor(y) and not hasattr(x, "dtype"):
        x = full([], x, scalar_dtype(x))
    x, y = _as_wide(x, y), _as_wide(y, x)
    return finish("where", where_op(_must_be_bool(condition), x, y), out)


def _as_wide(value: Any, other: Any) -> Any:
    """A fraction as a tensor where it is of a wider dtype than the tensor beside it; else `value` as it is."""
    if is_tensor(value) or not isinstance(value, (float, np.floating)) or not is_tensor(other):
        return value
    own = as_dtype(value.dtype) if isinstance(value, np.floating) else default_dtype()
    is_wider = other.dtype.is_floating and promote(own, other.dtype) is not other.dtype
    return full([], value, own) if is_wider else value


@aliased(x="input", y="other")
def _where_method(condition: Any, x: Any = None, y: Any = None, name: str | None = None, *, out: Any = None) -> Any:
    """`where(condition, x, y)`; of a `condition` that is not bool PyTorch's form `input.where(condition, other)`.

    Source: paddle.Tensor.where.

    Example:
        >>> import vitrify as paddle
        >>> condition = paddle.to_tensor([True, False])
        >>> condition.where(paddle.to_tensor([1, 2]), paddle.to_tensor([8, 9])).tolist()
        [1, 9]
        >>> paddle.to_tensor([1.0, 2.0]).where(condition, paddle.zeros([2])).tolist()
        [1.0, 0.0]
    """
    if not condition.dtype.is_bool and not (x is None and y is None):
        condition, x = x, condition
    return where(condition, x, y, out=out)


def _where_in_place(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """`where(condition, x, y)` put into x, which is returned. Raises ShapeError if x is smaller than that.

    Source: paddle.where_.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0, -2.0])
        >>> paddle.where_(x > 0, x, paddle.zeros([2])) is x, x.tolist()
        (True, [1.0, 0.0])
    """
    if not is_tensor(x):
        raise DTypeError(f"where_: x must be a tensor, got {type(x).__name__}")
    return become("where", x, where_op(_must_be_bool(condition), x, y), True, (condition, y))


def kept(condition: Any, value: Any) -> Any:
    """`value` where `condition` holds, else 0: what most subgradients are."""
    return where_op(condition, value, 0)


# -- the larger and the smaller --------------------------------------------------------------------------------------


def _share(ct: Any, wins: Any, ties: Any) -> Any:
    """A winner's cotangent: all of it, half of it on a tie, none when it loses or NaN is about."""
    return where_op(wins, ct, kept(ties, cast(ct * 0.5, ct.dtype)))


maximum = binary(
    "maximum",
    scalar="maximum",
    weak_0d=False,
    vjp={
        "x": lambda ct, *, x, y: _share(ct, greater_than(x, y), equal(x, y)),
        "y": lambda ct, *, x, y: _share(ct, less_than(x, y), equal(x, y)),
    },
    doc="The larger of x and y, NaN where either is NaN",
    example=("[1, 5]", "[3, 4]", "[3, 5]"),
    out=True,
    onnx="Max",
    paddle="elementwise_max",
)
minimum = binary(
    "minimum",
    scalar="minimum",
    weak_0d=False,
    vjp={
        "x": lambda ct, *, x, y: _share(ct, less_than(x, y), equal(x, y)),
        "y": lambda ct, *, x, y: _share(ct, greater_than(x, y), equal(x, y)),
    },
    doc="The smaller of x and y, NaN where either is NaN",
    example=("[1, 5]", "[3, 4]", "[1, 4]"),
    out=True,
    onnx="Min",
    paddle="elementwise_min",
)
fmax = binary(
    "fmax",
    scalar="fmax",
    weak_0d=False,
    vjp={
        "x": lambda ct, *, x, y: kept(logical_or(greater_equal(x, y), isnan(y)), ct),
        "y": lambda ct, *, x, y: where_op(logical_or(greater_equal(x, y), isnan(y)), 0, ct),
    },
    doc="The larger of x and y, the other one where one is NaN",
    example=("[1, 5]", "[3, 4]", "[3, 5]"),
    paddle="elementwise_fmax",
)
fmin = binary(
    "fmin",
    scalar="fmin",
    weak_0d=False,
    vjp={
        "x": lambda ct, *, x, y: kept(logical_or(less_equal(x, y), isnan(y)), ct),
        "y": lambda ct, *, x, y: where_op(logical_or(less_equal(x, y), isnan(y)), 0, ct),
    },
    doc="The smaller of x and y, the other one where one is NaN",
    example=("[1, 5]", "[3, 4]", "[1, 4]"),
    paddle="elementwise_fmin",
)

# -- clip ------------------------------------------------------------------------------------------------------------


def _clip(s: Any, x: Any, min: Any, max: Any) -> Any:
    low = x if min is None else s.maximum(x, min)
    return low if max is None else s.minimum(low, max)


def _inside(x: Any, min: Any, max: Any) -> Any:
    if min is None:
        return less_equal(x, max)
    return greater_equal(x, min) if max is None else greater_equal(x, min) & less_equal(x, max)


def _clip_vjp(ct: Any, *, x: Any, min: Any, max: Any) -> Any:
    return kept(_inside(x, min, max), ct)


clip_op = define_elementwise(
    "clip",
    scalar=_clip,
    meta=elementwise("clip", ("x", "min", "max"), numeric),
    vjp={"x": _clip_vjp},
    maps={"onnx": "Clip", "paddle": "clip"},
)


@aliased(x="input")
def clip(x: Any, min: Any = None, max: Any = None, name: str | None = None, *, out: Any = None) -> Any:
    """x with what lies below `min` raised to it and what lies above `max` lowered to it.

    min, max: numbers or tensors that broadcast with x (those of one element count as numbers), or None for no bound.
    Integer x with a fractional bound gives float32. The gradient is kept at the bounds, which get none
    themselves. Raises ArgumentError for a number `min` above a number `max`. Source: paddle.clip.

    Example:
        >>> import vitrify as paddle
        >>> paddle.clip(paddle.to_tensor([-2.0, 0.5, 3.0]), 0.0, 1.0).tolist()
        [0.0, 0.5, 1.0]
    """
    if min is None and max is None:
        rank_of("clip", x)
        min = -float("inf") if x.dtype.is_floating else None
        if min is None:
            return finish("clip", x.clone(), out)
    if not is_tensor(min) and not is_tensor(max) and min is not None and max is not None and min > max:
        raise ArgumentError(f"clip: min is {min}, max is {max}, expected min <= max")
    return finish("clip", clip_op(x, _bound(x, min), _bound(x, max)), out)


def _bound(x: Any, value: Any) -> Any:
    """A bound; a tensor with one element without its dimensions, which would show in the result.

    An int that x's dtype does not hold is the last number of it on that side: nothing in x lies behind.
    """
    if value.__class__ is int and is_tensor(x) and x.dtype.is_integer:
        limits = np.iinfo(x.dtype.np)
        return builtins.max(limits.min, builtins.min(limits.max, value))
    return value.reshape([]) if is_tensor(value) and value.ndim and set(value.shape) == {1} else value


clamp = clip

# -- nan_to_num ------------------------------------------------------------------------------------------------------


def _nan_to_num(s: Any, x: Any, *, nan: float, posinf: float, neginf: float) -> Any:
    finite = s.where(s.isnan(x), nan, x)
    return s.where(finite == float("inf"), posinf, s.where(finite == -float("inf"), neginf, finite))


_nan_to_num_op = define_elementwise(
    "nan_to_num",
    scalar=_nan_to_num,
    meta=same_as("nan_to_num", accepts=real_floating),
    vjp={"x": lambda ct, *, x: kept(isfinite(x), ct)},
)


def nan_to_num(
    x: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None, name: str | None = None
) -> Any:
    """x with NaN and the infinities replaced: by `nan`, and by the largest and smallest finite numbers by default.

    Source: paddle.nan_to_num.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nan_to_num(paddle.to_tensor([float("nan"), float("inf"), 1.0]), posinf=9.0).tolist()
        [0.0, 9.0, 1.0]
    """
    only("nan_to_num", real_floating)(x)
    rank_of("nan_to_num", x)
    largest = float((ml_dtypes.finfo if x.dtype.name == "bfloat16" else np.finfo)(x.dtype.np).max)
    high = largest if posinf is None else float(posinf)
    low = -largest if neginf is None else float(neginf)
    if is_unknown(nan):
        is_missing = isnan(x)
        rest = _nan_to_num_op(where(is_missing, cast(0.0, x.dtype), x), nan=0.0, posinf=high, neginf=low)
        return where(is_missing, cast(nan, x.dtype), rest)  # in place, x is gone when backward asks for it
    return _nan_to_num_op(x, nan=float(nan), posinf=high, neginf=low)


def _clip_in_place(x: Any, min: Any = None, max: Any = None, name: str | None = None) -> Any:
    """`clip` put into x, in x's dtype; returns x. Source: paddle.clip_.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([-2.0, 0.5, 3.0])
        >>> _ = x.clip_(0.0, 1.0)
        >>> x.tolist()
        [0.0, 0.5, 1.0]
    """
    rank_of("clip_", x)
    return x._become(cast(clip(x, min, max), x.dtype))


METHODS: dict[str, Any] = {
    fn.__name__: fn for fn in (maximum, minimum, fmax, fmin, clip, nan_to_num)
} | {
    "where": _where_method, "where_": _where_in_place, "clamp": clip, "clip_": _clip_in_place, "clamp_": _clip_in_place
}  # fmt: skip
INPLACE = ("nan_to_num",)
__all__ = ["clamp", "clip", "fmax", "fmin", "maximum", "minimum", "nan_to_num", "where"]
