"""Boxes as detectors use them: prior_box makes anchors, box_coder writes boxes relative to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.errors import ArgumentError, ShapeError
from ..core.meta import UNKNOWN, Meta
from .arguments import is_tensor
from .meta_rules import need_one_floating
from .registry import NoGradient, define_op

# --- anchors ---------------------------------------------------------------------------------------------------------


def _ratios(given: Sequence[float], flip: bool) -> tuple[float, ...]:
    """1 and the given ratios, each once, with their inverses if asked."""
    out = [1.0]
    for ratio in given:
        if all(abs(ratio - known) >= 1e-6 for known in out):
            out += [ratio, 1 / ratio] if flip else [ratio]
    return tuple(out)


def _box_sizes(
    smallest: Sequence[float], largest: Sequence[float], ratios: Sequence[float], extremes_first: bool
) -> list[tuple[float, float]]:
    """Width and height of each box of a place, in Paddle's order."""
    out = []
    for i, size in enumerate(smallest):
        shaped = [(size * math.sqrt(r), size / math.sqrt(r)) for r in ratios]
        between = [(math.sqrt(size * largest[i]),) * 2] if largest else []
        out += [shaped[0], *between, *shaped[1:]] if extremes_first else [*shaped, *between]
    return out


def _prior_kernel(
    xp: Any, input: Any, image: Any, *, sizes: tuple[tuple[float, float], ...], variance: tuple[float, ...],
    clip: bool, steps: tuple[float, float], offset: float,
) -> tuple[Any, Any]:  # fmt: skip
    (h, w), (ih, iw) = input.shape[2:], image.shape[2:]
    step_w, step_h = steps if all(steps) else (iw / w, ih / h)
    x, y = (xp.arange(w) + offset) * step_w, (xp.arange(h) + offset) * step_h
    centre = xp.stack(xp.meshgrid(x, y), axis=-1)[:, :, None]
    half = xp.asarray(sizes) / 2
    boxes = xp.concatenate([centre - half, centre + half], axis=-1) / xp.asarray([iw, ih, iw, ih])
    boxes = xp.clip(boxes, 0, 1) if clip else boxes
    spread = xp.broadcast_to(xp.asarray(variance), boxes.shape)
    return boxes.astype(input.dtype), spread.astype(input.dtype)


def _prior_meta(input: Meta, image: Meta, *, sizes: Sequence[Any], **_: Any) -> tuple[Meta, Meta]:
    if input.ndim != 4 or image.ndim != 4:
        raise ShapeError(f"prior_box: input is {input}, image is {image}, expected [n, c, h, w] each")
    out = input.with_shape((*input.shape[2:], len(sizes), 4))
    return out, out


prior_box_op = define_op(
    "prior_box",
    kernel=_prior_kernel,
    meta=_prior_meta,
    vjp=NoGradient("anchors depend on sizes alone"),
    outputs=("boxes", "variances"),
    shape_only=["input", "image"],
    maps={"paddle": "prior_box"},
)


def _numbers(value: Any) -> list[float]:
    return [float(v) for v in value] if isinstance(value, (list, tuple)) else [float(value)]


def prior_box(
    input: Any, image: Any, min_sizes: Any, max_sizes: Any = None, aspect_ratios: Any = (1.0,),
    variance: Any = (0.1, 0.1, 0.2, 0.2), flip: bool = False, clip: bool = False, steps: Any = (0.0, 0.0),
    offset: float = 0.5, min_max_aspect_ratios_order: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The anchors of every place of a feature map, and their variances.

    input: [n, c, h, w], image: [n, c, H, W] -> two tensors [h, w, anchors, 4]; boxes as x1, y1, x2, y2 in parts of the
    image. For each of min_sizes one box of each aspect ratio (with `flip` also of its inverse), and with max_sizes one
    square in between. Raises ArgumentError unless max_sizes are as many and larger.
    Source: Liu et al., "SSD" (2016); paddle.vision.ops.prior_box.

    Example:
        >>> import vitrify as paddle
        >>> boxes, _ = paddle.vision.ops.prior_box(paddle.ones([1, 1, 1, 1]), paddle.ones([1, 3, 8, 8]), 4.0)
        >>> boxes.flatten().tolist()
        [0.25, 0.25, 0.75, 0.75]
    """
    smallest, largest = _numbers(min_sizes), [] if max_sizes is None else _numbers(max_sizes)
    if largest and (len(largest) != len(smallest) or any(b <= a for a, b in zip(smallest, largest))):
        raise ArgumentError(f"prior_box: max_sizes {largest} must each be larger than those of min_sizes {smallest}")
    sizes = _box_sizes(smallest, largest, _ratios(_numbers(aspect_ratios), flip), min_max_aspect_ratios_order)
    step_w, step_h = _numbers(steps) * (1 if isinstance(steps, (list, tuple)) else 2)
    return tuple(prior_box_op(
        input, image, sizes=tuple(sizes), variance=tuple(_numbers(variance)), clip=bool(clip),
        steps=(step_w, step_h), offset=float(offset),
    ))  # fmt: skip


# --- boxes relative to anchors ---------------------------------------------------------------------------------------


def _centres(boxes: Any, extra: float) -> tuple[Any, Any]:
    """Centres and lengths [..., 2]; `extra` is what a length has beyond the difference of corners."""
    length = boxes[..., 2:] - boxes[..., :2] + extra
    return boxes[..., :2] + length / 2, length


def _encode_kernel(
    xp: Any, prior: Any, variance: Any, target: Any, *, extra: float, scales: tuple[float, ...] | None, axis: int
) -> Any:
    at, length = _centres(prior[None], extra)
    to = (target[:, :2] + target[:, 2:])[:, None] / 2
    wanted = _centres(target, extra)[1][:, None]
    out = xp.concatenate([(to - at) / length, xp.log(xp.abs(wanted / length))], axis=-1)
    return (out / _spread(xp, variance, scales, out)).astype(target.dtype)


def _decode_kernel(
    xp: Any, prior: Any, variance: Any, target: Any, *, extra: float, scales: tuple[float, ...] | None, axis: int
) -> Any:
    at, length = _centres(xp.expand_dims(prior, axis), extra)
    moved = target * _spread(xp, None if variance is None else xp.expand_dims(variance, axis), scales, target)
    centre, half = at + moved[..., :2] * length, xp.exp(moved[..., 2:]) * length / 2
    return xp.concatenate([centre - half, centre + half - extra], axis=-1).astype(target.dtype)


def _spread(xp: Any, variance: Any, scales: tuple[float, ...] | None, like: Any) -> Any:
    return variance if variance is not None else xp.asarray(scales or (1.0,), dtype=like.dtype)


def _encode_meta(prior: Meta, variance: Any, target: Meta, **_: Any) -> Meta:
    if prior.ndim != 2 or target.ndim != 2:
        raise ShapeError(f"box_coder: prior_box is {prior}, target_box is {target}, expected [m, 4] and [n, 4]")
    need_one_floating("box_coder", prior_box=prior, prior_box_var=variance, target_box=target)
    return target.with_shape((target.shape[0], prior.shape[0], 4))


def _decode_meta(prior: Meta, variance: Any, target: Meta, *, axis: int, **_: Any) -> Meta:
    sizes = (prior.shape[0], UNKNOWN)
    if prior.ndim != 2 or target.ndim != 3 or (sizes[0] != UNKNOWN and target.shape[1 - axis] not in sizes):
        raise ShapeError(
            f"box_coder: prior_box is {prior}, target_box is {target}, expected [m, 4] and "
            f"{'[n, m, 4]' if axis == 0 else '[m, n, 4]'}"
        )
    need_one_floating("box_coder", prior_box=prior, prior_box_var=variance, target_box=target)
    return target


_NO_GRADIENT = NoGradient("boxes are made outside of what learns")
box_encode_op = define_op("box_encode", kernel=_encode_kernel, meta=_encode_meta, vjp=_NO_GRADIENT)
box_decode_op = define_op("box_decode", kernel=_decode_kernel, meta=_decode_meta, vjp=_NO_GRADIENT)


def box_coder(
    prior_box: Any, prior_box_var: Any, target_box: Any, code_type: str = "encode_center_size",
    box_normalized: bool = True, axis: int = 0, name: str | None = None,
) -> Any:  # fmt: skip
    """Boxes written relative to anchors (`encode_center_size`), or read back (`decode_center_size`).

    prior_box: [m, 4]; prior_box_var: 4 numbers or [m, 4], by which offsets are divided. Encoding target_box [n, 4]
    gives offsets of centres in lengths of the anchor and logarithms of ratios, [n, m, 4]; decoding takes [n, m, 4], or
    with axis=1 [m, n, 4]. box_normalized: lengths are differences, else pixels are counted. Raises ArgumentError for
    other code types. Source: paddle.vision.ops.box_coder.

    Example:
        >>> import vitrify as paddle
        >>> prior = paddle.to_tensor([[0.0, 0.0, 2.0, 2.0]])
        >>> paddle.vision.ops.box_coder(prior, [1.0, 1.0, 1.0, 1.0], prior + 1).tolist()
        [[[0.5, 0.5, 0.0, 0.0]]]
    """
    ops = {"encode_center_size": box_encode_op, "decode_center_size": box_decode_op}
    if code_type not in ops or axis not in (0, 1):
        raise ArgumentError(
            f"box_coder: code_type is {code_type!r}, axis {axis}, expected one of {', '.join(ops)}, 0 or 1"
        )
    given = is_tensor(prior_box_var)
    scales = None if given or prior_box_var is None else tuple(_numbers(prior_box_var))
    return ops[code_type](
        prior_box, prior_box_var if given else None, target_box, extra=0.0 if box_normalized else 1.0, scales=scales,
        axis=axis,
    )  # fmt: skip


__all__ = ["box_coder", "prior_box"]
