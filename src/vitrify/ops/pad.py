"""Padding: with a constant, or with the tensor's own elements mirrored, repeated at the edge or wrapped around."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.alias import aliased
from ..core.errors import ArgumentError, ShapeError
from ..core.meta import UNKNOWN, Meta
from ..core.single import assert_single
from .accumulate import add_along
from .arguments import as_ints, entries, is_tensor, rank_of
from .like import cast, full_like
from .moving_forms import padded_by_own
from .registry import OpDef, define_op
from .select import where_op
from .shape import reshape
from .window_forms import padded_form

Pairs = list[tuple[Any, Any]]


def _pairs(pads: Any) -> Pairs:
    """(before, after) of each dimension."""
    flat = entries(pads)
    return list(zip(flat[::2], flat[1::2]))


# Where element p of the padded dimension comes from, p counted from the first element of x (so it may be negative).
SOURCES: dict[str, Any] = {
    "reflect": lambda xp, p, n: (n - 1) - xp.abs((n - 1) - xp.abs(p)),
    "replicate": lambda xp, p, n: xp.clip(p, 0, n - 1),
    "circular": lambda xp, p, n: xp.remainder(p, n),
}


def _padded_dim(size: int, before: Any, after: Any, x: Meta, mode: str) -> int:
    if size == UNKNOWN or not (isinstance(before, int) and isinstance(after, int)):
        return UNKNOWN
    if mode == "reflect" and max(before, after) >= size:
        raise ShapeError(f"pad: reflect can add at most size - 1 elements, got ({before}, {after}) for x {x}")
    if mode != "constant" and size == 0 and before + after > 0:
        raise ShapeError(f"pad: an empty dimension of x {x} has no elements to pad with in mode {mode!r}")
    if size + before + after < 0:
        raise ShapeError(f"pad: ({before}, {after}) takes more than the {size} elements of a dimension of x {x}")
    return size + before + after


def _pad_meta(x: Meta, *, pads: Any, mode: str, value: Any) -> Meta:
    return x.with_shape([_padded_dim(s, b, a, x, mode) for s, (b, a) in zip(x.shape, _pairs(pads))])


def _inner(shape: Sequence[int], pairs: Pairs) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Where x lies in the padded array, and which part of x that is (negative padding cuts)."""
    there = tuple(slice(max(b, 0), max(b, 0) + _kept(n, b, a)) for n, (b, a) in zip(shape, pairs))
    here = tuple(slice(max(-b, 0), max(-b, 0) + _kept(n, b, a)) for n, (b, a) in zip(shape, pairs))
    return there, here


def _kept(size: int, before: int, after: int) -> int:
    return max(size + min(before, 0) + min(after, 0), 0)


def _pad_kernel(xp: Any, x: Any, *, pads: Any, mode: str, value: Any) -> Any:
    pairs = _pairs(pads)
    if mode == "constant":
        out = xp.full([n + b + a for n, (b, a) in zip(x.shape, pairs)], value, x.dtype)
        there, here = _inner(x.shape, pairs)
        out[there] = x[here]
        return out
    out = x.copy()
    for axis, (before, after) in enumerate(pairs):
        if before or after:
            out = out.take(_source(xp, mode, x.shape[axis], before, after), axis=axis)
    return out


def _pad_ahead(n: Any, x: Any, *, pads: Any, mode: str, value: Any) -> Any:
    pairs = _pairs(pads)
    return padded_form(n, x, pairs, value) if mode == "constant" else padded_by_own(n, x, pairs, mode)


def _pad_native(n: Any, x: Any, *, pads: Any, mode: str, value: Any) -> Any:
    if mode != "constant":
        n.refuse(f"mode {mode!r} has no native form")
    return padded_form(n, x, _pairs(pads), value)


def _source(xp: Any, mode: str, size: int, before: int, after: int) -> Any:
    return SOURCES[mode](xp, xp.arange(-before, size + after), size)


def _pad_adjoint_kernel(xp: Any, x: Any, like: Any, *, pads: Any, mode: str) -> Any:
    pairs = _pairs(pads)
    if mode == "constant":
        out = xp.zeros(like.shape, x.dtype)
        there, here = _inner(like.shape, pairs)
        out[here] = x[there]
        return out
    out = x.copy()
    for axis, (before, after) in reversed(list(enumerate(pairs))):
        if before or after:
            shape = (*out.shape[:axis], like.shape[axis], *out.shape[axis + 1 :])
            summed = xp.zeros(shape, x.dtype)
            add_along(xp, summed, _source(xp, mode, like.shape[axis], before, after), out, axis)
            out = summed
    return out


pad_op: OpDef = define_op(
    "pad",
    kernel=_pad_kernel,
    meta=_pad_meta,
    vjp={"x": lambda ct, *, x_like, pads, mode: pad_adjoint_op(ct, x_like, pads=pads, mode=mode)},
    dynamic=("pads",),
    maps={"onnx": "Pad", "paddle": "pad3d"},
    native=_pad_native,
    ahead=_pad_ahead,
)
pad_adjoint_op: OpDef = define_op(
    "pad_adjoint",
    kernel=_pad_adjoint_kernel,
    meta=lambda x, like, *, pads, mode: x.with_shape(like.shape),
    vjp={"x": lambda ct, *, pads, mode: pad_op(ct, pads=pads, mode=mode, value=0)},
    dynamic=("pads",),
    shape_only=["like"],
)

CHANNEL_LAST = ("NLC", "NHWC", "NDHWC")
LAYOUTS = {3: ("NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}


def _from_last(ndim: int, pad: Sequence[Any], channel_last: bool = False) -> tuple[Any, ...]:
    """Paddings given from the last dimension backwards, as one pair a dimension in order."""
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    tail = list(reversed(pairs))
    full = [(0, 0)] * (ndim - len(tail) - channel_last) + tail + [(0, 0)] * channel_last
    return tuple(n for pair in full for n in pair)


def _spatial(x: Any, pad: Sequence[Any], data_format: str | None) -> tuple[Any, ...]:
    """Paddings of the spatial dimensions, as `data_format` places them."""
    if x.ndim not in LAYOUTS:
        raise ShapeError(f"pad: this use of pad needs x with 3, 4 or 5 dimensions, got shape {list(x.shape)}")
    layout = data_format or LAYOUTS[x.ndim][0]
    if layout not in LAYOUTS[x.ndim]:
        raise ArgumentError(f"pad: data_format for {x.ndim} dimensions is one of {LAYOUTS[x.ndim]}, got {layout!r}")
    if len(pad) != 2 * (x.ndim - 2):
        raise ArgumentError(f"pad: expected {2 * (x.ndim - 2)} paddings for the spatial dimensions, got {len(pad)}")
    return _from_last(x.ndim, pad, layout in CHANNEL_LAST)


@aliased(x="input")
def pad(
    x: Any, pad: Any, mode: str = "constant", value: Any = 0.0, data_format: str | None = None,
    pad_from_left_axis: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """x made larger at both ends of its dimensions; negative paddings make it smaller.

    pad: [left, right, top, bottom, ...] of the spatial dimensions, last one first, placed by data_format; with a
    constant also any even number of paddings from the last dimension on, or 2 * ndim of them from the first (from the
    last with pad_from_left_axis=False). mode: "constant", "reflect", "replicate" or "circular" (these three pad
    spatial dimensions only). value: a number or a tensor with one element. Raises ShapeError where reflect would need
    more elements than there are.
    Source: paddle.nn.functional.pad.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.pad(paddle.to_tensor([[[1, 2, 3]]]), [1, 2], mode="replicate").tolist()
        [[[1, 1, 2, 3, 3, 3]]]
    """
    if mode != "constant" and mode not in SOURCES:
        raise ArgumentError(f"pad: mode must be one of {['constant', *SOURCES]}, got {mode!r}")
    sizes = _sizes(x, pad)
    if mode == "constant" and len(sizes) == 2 * x.ndim:
        pads = sizes if pad_from_left_axis else _from_last(x.ndim, sizes)
    elif mode == "constant" and not is_tensor(pad) and len(sizes) != 2 * (x.ndim - 2):
        pads = _from_last(x.ndim, sizes)
    else:
        pads = _spatial(x, sizes, data_format)
    if mode != "constant" or not is_tensor(value):
        return pad_op(x, pads=tuple(pads), mode=mode, value=value if mode == "constant" else 0)
    assert_single("value", tuple(value.shape))
    own, inside = (pad_op(t, pads=tuple(pads), mode=mode, value=0) for t in (x, full_like(x, True, "bool")))
    return where_op(inside, own, cast(reshape(value, []), x.dtype))


def _sizes(x: Any, pad: Any) -> tuple[Any, ...]:
    rank_of("pad", x)
    if is_tensor(pad):
        pad = [pad[i] for i in range(len(pad))]
    elif isinstance(pad, int):
        pad = [pad] * (2 * (x.ndim - 2))
    sizes = tuple(as_ints("pad", pad, "pad"))
    if len(sizes) % 2 or len(sizes) > 2 * x.ndim:
        raise ArgumentError(f"pad: expected an even number of at most {2 * x.ndim} paddings, got {len(sizes)}")
    return sizes


def zeropad2d(x: Any, padding: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """x [n, c, h, w] with zeros around its last two dimensions (or the two before the channels of "NHWC").

    padding: [left, right, top, bottom]. Source: paddle.nn.functional.zeropad2d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.zeropad2d(paddle.ones([1, 1, 2, 3]), [1, 0, 0, 2]).shape
        paddle.Size([1, 1, 4, 4])
    """
    return pad_op(x, pads=_spatial(x, _sizes(x, padding), data_format), mode="constant", value=0)


METHODS: dict[str, Any] = {}
__all__: list[str] = []
