"""Deformable convolution: every window reads its input at places that another tensor shifts."""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError, DTypeError, ShapeError, UnknownValueError
from ..core.meta import UNKNOWN, Meta, Shape
from .arguments import static_int
from .matmul import matmul
from .registry import OpDef, define_op
from .shape import flatten, reshape, unflatten, unsqueeze
from .sizes import size_of
from .sliding_window import known_count, per_dim, span, window_count
from .vision import sample_linear
from .vision_in_ops import window_places_in_ops

# --- where the windows read ------------------------------------------------------------------------------------------


def _regular(xp: Any, counts: Shape, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape, dtype: Any) -> Any:
    """The places (x, y) that an ordinary convolution reads: [kh * kw, oh, ow, 2]."""
    y, x = (
        (xp.arange(k) * d)[:, None] - p + (xp.arange(n) * s)[None]
        for n, k, s, p, d in zip(counts, kernel, stride, padding, dilation)
    )
    shape = (*kernel, *counts)
    at = [xp.broadcast_to(x[None, :, None, :], shape), xp.broadcast_to(y[:, None, :, None], shape)]
    return xp.stack(at, axis=-1).reshape(-1, *counts, 2).astype(dtype)


def _places_kernel(
    xp: Any, offset: Any, *, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape, groups: int
) -> Any:
    counts, taps = offset.shape[2:], kernel[0] * kernel[1]
    shift = xp.moveaxis(offset.reshape(offset.shape[0] * groups, taps, 2, *counts), 2, -1)[..., ::-1]
    at = shift + _regular(xp, counts, kernel, stride, padding, dilation, offset.dtype)
    return xp.where(at > -1, at, at - 1)  # at -1 is outside: nothing of the first element comes into sight by a shift


def _places_meta(offset: Meta, *, kernel: Shape, groups: int, **window: Any) -> Meta:
    batch = UNKNOWN if offset.shape[0] == UNKNOWN else offset.shape[0] * groups
    return offset.with_shape((batch, kernel[0] * kernel[1], *offset.shape[2:], 2))


def _places_adjoint_kernel(xp: Any, ct: Any, like: Any) -> Any:
    return xp.ascontiguousarray(xp.moveaxis(ct[..., ::-1], -1, 2)).reshape(like.shape)


def _shift_kernel(xp: Any, offset: Any, like: Any) -> Any:
    taps, counts = like.shape[1], like.shape[2:4]
    return xp.moveaxis(offset.reshape(like.shape[0], taps, 2, *counts), 2, -1)[..., ::-1].copy()


window_places_op: OpDef = define_op(
    "window_places",
    kernel=_places_kernel,
    meta=_places_meta,
    vjp={"offset": lambda ct, *, offset_like: window_places_adjoint_op(ct, offset_like)},
    decompose=window_places_in_ops,
)
window_places_adjoint_op: OpDef = define_op(
    "window_places_adjoint",
    kernel=_places_adjoint_kernel,
    meta=lambda ct, like: like.with_dtype(ct.dtype),
    vjp={"ct": lambda g, *, ct_like: window_shift_op(g, ct_like)},
    shape_only=["like"],
)
window_shift_op: OpDef = define_op(
    "window_shift",
    kernel=_shift_kernel,
    meta=lambda offset, like: like.with_dtype(offset.dtype),
    vjp={"offset": lambda ct, *, offset_like: window_places_adjoint_op(ct, offset_like)},
    shape_only=["like"],
)

# --- checks ----------------------------------------------------------------------------------------------------------


def _fits(size: int, wanted: int) -> bool:
    return UNKNOWN in (size, wanted) or size == wanted


def _check_operands(x: Any, weight: Any, groups: int, deformable_groups: int) -> None:
    if x.ndim != 4 or weight.ndim != 4:
        raise ShapeError(
            f"deform_conv2d: x has shape {list(x.shape)}, weight {list(weight.shape)}, expected 4 dimensions each"
        )
    if UNKNOWN in weight.shape:
        raise UnknownValueError(
            f"deform_conv2d: weight has unknown sizes {list(weight.shape)}", hint="give them as ints"
        )
    if x.dtype is not weight.dtype or not x.dtype.is_floating:
        raise DTypeError(
            f"deform_conv2d: x is {x.dtype.name}, weight is {weight.dtype.name}, expected one floating dtype"
        )
    channels, inner = x.shape[1], weight.shape[1]
    if groups < 1 or deformable_groups < 1 or weight.shape[0] % groups or max(channels, 0) % deformable_groups:
        raise ArgumentError(
            f"deform_conv2d: groups {groups} must divide {weight.shape[0]} output channels, "
            f"deformable_groups {deformable_groups} the {channels} input channels"
        )
    if not _fits(channels, inner * groups):
        raise ShapeError(f"deform_conv2d: x has {channels} channels, weight is for {inner} in each of {groups} groups")


def _check_windows(name: str, found: Any, x: Any, per_tap: int, kernel: Shape, window: dict[str, Shape]) -> None:
    """Raise ShapeError unless `found` has `per_tap` numbers for each element of each window."""
    counts = [
        UNKNOWN if size == UNKNOWN else known_count(window_count(size, k, s, (p, p), d))
        for size, k, s, p, d in zip(x.shape[2:], kernel, window["stride"], window["padding"], window["dilation"])
    ]
    if any(0 >= c != UNKNOWN for c in counts):
        reach = [span(k, d) for k, d in zip(kernel, window["dilation"])]
        raise ShapeError(f"deform_conv2d: the window {reach} is larger than the padded x of shape {list(x.shape)}")
    wanted = (x.shape[0], per_tap * kernel[0] * kernel[1], *counts)
    if found.ndim != 4 or not all(map(_fits, found.shape, wanted)):
        raise ShapeError(f"deform_conv2d: {name} has shape {list(found.shape)}, expected {list(wanted)}")


def deform_conv2d(
    x: Any, offset: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    deformable_groups: int = 1, groups: int = 1, mask: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """The convolution of x whose windows read at places shifted by `offset`, each value scaled by `mask` if given.

    x: [n, c, h, w], offset: [n, 2 * deformable_groups * kh * kw, oh, ow] (first y, then x, of each element of the
    window), mask: half as many channels, weight: [o, c / groups, kh, kw], bias: [o]; one floating dtype ->
    [n, o, oh, ow]. Between elements is read bilinearly, outside are zeros. Raises ShapeError when shapes don't fit.
    Source: Dai et al. 2017, Zhu et al. 2018 (with mask); paddle.vision.ops.deform_conv2d.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[[[1.0, 2.0, 3.0]]]])
        >>> half_right = paddle.to_tensor([0.0, 0.5]).reshape([1, 2, 1, 1]).expand([1, 2, 1, 3])
        >>> paddle.vision.ops.deform_conv2d(x, half_right, paddle.ones([1, 1, 1, 1])).flatten().tolist()
        [1.5, 2.5, 1.5]
    """
    groups = static_int("deform_conv2d", groups, "groups")
    parts = static_int("deform_conv2d", deformable_groups, "deformable_groups")
    _check_operands(x, weight, groups, parts)
    kernel = (int(weight.shape[2]), int(weight.shape[3]))
    window = {
        "stride": per_dim("deform_conv2d", stride, 2, "stride"),
        "padding": per_dim("deform_conv2d", padding, 2, "padding", least=0),
        "dilation": per_dim("deform_conv2d", dilation, 2, "dilation"),
    }
    _check_windows("offset", offset, x, 2 * parts, kernel, window)
    columns = _columns(x, offset, kernel, parts, window)
    taps = kernel[0] * kernel[1]
    if mask is not None:
        _check_windows("mask", mask, x, parts, kernel, window)
        columns = columns * unsqueeze(reshape(mask, [-1, taps, *_sizes(mask, 2)]), 1)
    places = size_of(offset, 2) * size_of(offset, 3)
    flat = reshape(columns, [-1, groups, weight.shape[1] * taps, places])
    out = matmul(reshape(weight, [groups, weight.shape[0] // groups, weight.shape[1] * taps]), flat)
    out = reshape(out, [-1, weight.shape[0], *_sizes(offset, 2)])
    return out if bias is None else out + reshape(bias, [1, -1, 1, 1])


def _columns(x: Any, offset: Any, kernel: Shape, parts: int, window: dict[str, Shape]) -> Any:
    """What the windows read: [n * parts, c / parts, kh * kw, oh, ow]."""
    at = window_places_op(offset, kernel=kernel, groups=parts, **window)
    if parts > 1:
        x = flatten(unflatten(x, 1, [parts, -1]), 0, 1)
    return sample_linear(x, at)


def _sizes(x: Any, start: int) -> list[Any]:
    return [size_of(x, i) for i in range(start, x.ndim)]


__all__ = ["deform_conv2d"]
