"""Dropout in its variants: elements, or whole slices, set to zero at random while training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import philox
from ..core.alias import aliased
from ..core.dtype import as_dtype, bool_, float64
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, Shape, normalize_axes, numel
from ..core.rng import Generator
from .arguments import is_tensor, is_unknown, rank_of, static_ints
from .elementwise import multiply_op, scale, scale_op
from .like import assign_op, cast, cast_op
from .registry import Instead, NoGradient, OpDef, define_op
from .select import where_op

# --- ops -------------------------------------------------------------------------------------------------------------


def _mask_shape(shape: Shape, axes: Shape) -> Shape:
    """`shape` with 1 in every dimension that shares one draw."""
    return tuple(s if i in axes else 1 for i, s in enumerate(shape))


def _drawn(xp: Any, key: Generator, p: float, shape: Shape) -> Any:
    """Booleans, true with probability 1 - p."""
    return philox.bernoulli(xp, key.advance(numel(shape)), 1.0 - p, shape)


def _dropout_kernel(xp: Any, x: Any, *, key: Generator, p: float, factor: float, axes: Shape) -> tuple[Any, Any]:
    mask = _drawn(xp, key, p, _mask_shape(x.shape, axes))
    return _scaled(xp, x, mask, factor), mask


def _scaled(xp: Any, x: Any, mask: Any, factor: float) -> Any:
    out = xp.asarray(xp.multiply(x, mask))
    if factor != 1:
        out *= x.dtype.type(factor)
    return out


def _kept(x: Any, factor: float) -> Any:
    return x if factor == 1 else x * factor


def _dropout_native(n: Any, x: Any, *, p: float, factor: float, axes: Shape) -> tuple[Any, Any]:
    mask = n.draw_below(_mask_shape(x.shape, axes), 1.0 - p)
    out = n.apply(multiply_op, x, n.apply(cast_op, mask, dtype=as_dtype(x.dtype)))
    return out if factor == 1 else n.apply(multiply_op, out, n.full((), factor, x.dtype)), mask


def _dropout_meta(x: Meta, *, p: float, factor: float, axes: Shape) -> tuple[Meta, Meta]:
    if not x.dtype.is_floating:
        raise DTypeError(f"dropout: x is {x}, expected a floating dtype")
    return x, Meta(_mask_shape(x.shape, axes), bool_)


def _evaluation(*, p: float, factor: float, axes: Shape) -> Instead:
    """x itself where training scaled what it kept, else x scaled by how much was kept."""
    if factor != 1:
        return Instead(assign_op, ("x",))
    return Instead(scale_op, ("x",), {"scale": 1 - p, "bias": 0.0, "bias_after_scale": True})


dropout_op: OpDef = define_op(
    "dropout",
    kernel=_dropout_kernel,
    meta=_dropout_meta,
    vjp={"x": lambda cts, *, mask, factor: masked_scale_op(cts[0], mask, factor=factor)},
    outputs=("out", "mask"),
    random=True,
    evaluation=_evaluation,
    maps={"onnx": "Dropout", "paddle": "dropout"},
    native=_dropout_native,
)
masked_scale_op: OpDef = define_op(
    "masked_scale",
    kernel=lambda xp, x, mask, *, factor: _scaled(xp, x, mask, factor),
    meta=lambda x, mask, *, factor: x,
    vjp={"x": lambda ct, *, mask, factor: masked_scale_op(ct, mask, factor=factor)},
    decompose=lambda x, mask, *, factor: _kept(x * cast(mask, x.dtype), factor),
)
keep_mask_op = define_op(
    "keep_mask",
    kernel=lambda xp, x, *, key, p, axes: _drawn(xp, key, p, _mask_shape(x.shape, axes)),
    meta=lambda x, *, p, axes: Meta(_mask_shape(x.shape, axes), bool_),
    vjp=NoGradient("random numbers do not depend on the values of x"),
    random=True,
    native=lambda n, x, *, p, axes: n.draw_below(_mask_shape(x.shape, axes), 1.0 - p),
)


def _probability_kernel(xp: Any, p: Any, *, of: str) -> Any:
    return xp.asarray(_checked(of, float(p)), xp.float64)


def _probability_meta(p: Meta, *, of: str) -> Meta:
    if not p.dtype.is_floating or numel(p.shape) not in (1, UNKNOWN):
        raise DTypeError(f"{of}: p is {p}, expected one floating number")
    return Meta((), float64)


def _drawn_by(xp: Any, x: Any, p: Any, *, key: Generator, axes: Shape) -> Any:
    """Booleans as `_drawn` gives; nothing is drawn where p is 0, as nothing is for the number 0."""
    shape = _mask_shape(x.shape, axes)
    return _drawn(xp, key, float(p), shape) if p else xp.ones(shape, bool)


probability_op: OpDef = define_op(
    "probability",
    kernel=_probability_kernel,
    meta=_probability_meta,
    vjp=NoGradient("what is drawn does not change with a small change of p"),
    raises=True,
)
keep_mask_by_op: OpDef = define_op(
    "keep_mask_by",
    kernel=_drawn_by,
    meta=lambda x, p, *, axes: Meta(_mask_shape(x.shape, axes), bool_),
    vjp=NoGradient("random numbers do not depend on the values of x"),
    random=True,
    shape_only=["x"],
)

# --- public ----------------------------------------------------------------------------------------------------------


def _probability(op: str, p: Any) -> float:
    if is_tensor(p):
        p = float(p)
    if not isinstance(p, (int, float)) or isinstance(p, bool):
        raise DTypeError(f"{op}: p must be a number, got {type(p).__name__}")
    return _checked(op, float(p))


def _checked(op: str, p: float) -> float:
    if not 0 <= p <= 1:
        raise ArgumentError(f"{op}: p must lie in [0, 1], got {p}")
    return p


def _by_unknown(x: Any, p: Any, axes: Shape, training: bool, upscale: bool) -> Any:
    """`dropout` with a probability that only a run knows."""
    p = probability_op(p, of="dropout")
    if not training:
        return x if upscale else x * cast(1.0 - p, x.dtype)
    kept = x * cast(keep_mask_by_op(x, p, axes=axes), x.dtype)
    return kept * cast(where_op(p == 1, 0.0, 1.0 / (1.0 - p)), x.dtype) if upscale else kept


@aliased(x="input")
def dropout(
    x: Any, p: float = 0.5, axis: int | Sequence[int] | None = None, training: bool = True, inplace: bool = False,
    mode: str = "upscale_in_train", name: str | None = None,
) -> Any:  # fmt: skip
    """x with elements set to zero with probability p while training.

    x: [*s] floating -> [*s]. axis: the dimensions along which draws differ (all by default); others share them.
    mode: "upscale_in_train" multiplies what is kept by 1 / (1 - p); "downscale_in_infer" leaves it, and multiplies by
    1 - p when not training. Raises ArgumentError unless p lies in [0, 1]. Source: Srivastava et al. (2014);
    paddle.nn.functional.dropout.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.dropout(paddle.ones([3]), 0.5, training=False).tolist()
        [1.0, 1.0, 1.0]
    """
    unknown = is_unknown(p)
    if not unknown:
        p = _probability("dropout", p)
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise ArgumentError(f"dropout: mode must be 'upscale_in_train' or 'downscale_in_infer', got {mode!r}")
    upscale = mode == "upscale_in_train"
    axes = normalize_axes(
        "dropout", axis if axis is None else static_ints("dropout", axis, "axis"), rank_of("dropout", x)
    )
    if unknown:
        out = _by_unknown(x, p, axes, training, upscale)
        return x._become(out) if inplace and training else out
    if not training:
        return x if upscale else scale(x, 1 - p)
    if p == 0:
        return x
    factor = 1.0 if not upscale else 0.0 if p == 1 else 1 / (1 - p)
    out = dropout_op(x, p=p, factor=factor, axes=axes)[0]
    return x._become(out) if inplace else out


def _drop_channels(op: str, n: int, x: Any, p: float, training: bool, data_format: str, formats: Sequence[str]) -> Any:
    if data_format not in formats:
        raise ArgumentError(f"{op}: data_format must be one of {', '.join(formats)}, got {data_format!r}")
    if rank_of(op, x) != n:
        raise ShapeError(f"{op}: x has shape {list(x.shape)}, expected {n} dimensions")
    return dropout(x, p, [0, n - 1 if data_format.endswith("C") else 1], training)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """input [n, c, l] with whole channels set to zero with probability p while training.

    Source: paddle.nn.functional.dropout1d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.dropout1d(paddle.ones([2, 3, 4])).shape
        paddle.Size([2, 3, 4])
    """
    if rank_of("dropout1d", input) not in (2, 3):
        raise ShapeError(f"dropout1d: input has shape {list(input.shape)}, expected [n, c, l] or [c, l]")
    return dropout(input, p, [0, 1] if input.ndim == 3 else [0], training, inplace)


def dropout2d(x: Any, p: float = 0.5, training: bool = True, data_format: str = "NCHW", name: str | None = None) -> Any:
    """x [n, c, h, w] (or [n, h, w, c]) with whole channels set to zero with probability p while training.

    Source: paddle.nn.functional.dropout2d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.dropout2d(paddle.ones([2, 3, 4, 4])).shape
        paddle.Size([2, 3, 4, 4])
    """
    return _drop_channels("dropout2d", 4, x, p, training, data_format, ("NCHW", "NHWC"))


def dropout3d(
    x: Any, p: float = 0.5, training: bool = True, data_format: str = "NCDHW", name: str | None = None
) -> Any:
    """x [n, c, d, h, w] (or [n, d, h, w, c]) with whole channels set to zero with probability p while training.

    Source: paddle.nn.functional.dropout3d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.dropout3d(paddle.ones([2, 3, 4, 4, 4])).shape
        paddle.Size([2, 3, 4, 4, 4])
    """
    return _drop_channels("dropout3d", 5, x, p, training, data_format, ("NCDHW", "NDHWC"))


# The limit of SELU at minus infinity: -scale * alpha.
_SATURATION = -1.7580993408473766


def _alpha_dropout(op: str, x: Any, p: float, training: bool, axes: Sequence[int] | None) -> Any:
    p = _probability(op, p)
    if not training or p == 0:
        return x
    if p == 1:
        return scale(x, 0.0)
    a = ((1 - p) * (1 + p * _SATURATION**2)) ** -0.5
    keep = keep_mask_op(x, p=p, axes=normalize_axes(op, axes, rank_of(op, x)))
    return scale(where_op(keep, x, _SATURATION), a, -a * _SATURATION * p)


def alpha_dropout(x: Any, p: float = 0.5, training: bool = True, name: str | None = None) -> Any:
    """x with elements set to SELU's saturation value with probability p, scaled so that mean 0 and variance 1 remain.

    Source: Klambauer et al., "Self-Normalizing Neural Networks" (2017); paddle.nn.functional.alpha_dropout.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.alpha_dropout(paddle.ones([3]), 0.5, training=False).tolist()
        [1.0, 1.0, 1.0]
    """
    return _alpha_dropout("alpha_dropout", x, p, training, None)


def feature_alpha_dropout(x: Any, p: float = 0.5, training: bool = True, name: str | None = None) -> Any:
    """`alpha_dropout` of whole channels of x [n, c, *]. Source: paddle.nn.functional.feature_alpha_dropout.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.feature_alpha_dropout(paddle.ones([2, 3, 4])).shape
        paddle.Size([2, 3, 4])
    """
    if rank_of("feature_alpha_dropout", x) < 2:
        raise ShapeError(f"feature_alpha_dropout: x has shape {list(x.shape)}, expected at least 2 dimensions")
    return _alpha_dropout("feature_alpha_dropout", x, p, training, [0, 1])


__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
]
