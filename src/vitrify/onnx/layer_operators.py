"""What the ONNX operators of layers and sequences mean here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN, Meta
from ..ir.known_values import as_tensor, sizes_argument
from ..ops import functions as F
from ..ops.registry import get_op
from .node import EmptyList, Node, axis_in
from .older_forms import along_axis
from .operator_table import operator
from .reading import dtype_of
from .sizes import extent

# -- layers ------------------------------------------------------------------------------------------------------------


def window_pairs(node: Node, n: int, x: Any = None, kernel: Any = ()) -> Any:
    """Padding as (low, high) pairs; "SAME" where it depends on sizes that are not known."""
    way = node.text("auto_pad", "NOTSET")
    if way in ("SAME_UPPER", "SAME_LOWER") and x is not None:
        return _same(node, n, x, kernel, way == "SAME_LOWER")
    node.refuse("auto_pad", "NOTSET", "VALID")
    pads = node.ints("pads", [0] * (2 * n))
    if len(pads) != 2 * n:
        raise UnsupportedError(f"{node.type}: pads has {len(pads)} numbers for {n} dimensions")
    return tuple(zip(pads[:n], pads[n:]))


def _same(node: Node, n: int, x: Any, kernel: Any, is_low: bool) -> Any:
    """Padding with which there are as many windows as strides; what is odd stands above, or below if `is_low`."""
    strides, dilations = node.ints("strides", [1] * n), node.ints("dilations", [1] * n)
    pads = []
    for size, k, by, apart in zip(x.shape[2:], kernel, strides, dilations):
        if size == UNKNOWN and by > 1:
            if is_low or any(d > 1 for d in dilations):
                raise UnsupportedError(f"{node.type} with auto_pad of sizes that are not known cannot be read")
            return "SAME"
        reach = (k - 1) * apart
        total = reach if by == 1 else max(0, (math.ceil(size / by) - 1) * by + reach + 1 - size)
        pads.append((total - total // 2, total // 2) if is_low else (total // 2, total - total // 2))
    return tuple(pads)


def _pairs_back(node: Node, n: int, x: Any, kernel: Any) -> Any:
    """Padding of a transposed convolution: what is wanted of its size, or that padding for each stride, decides."""
    way = node.text("auto_pad", "NOTSET")
    if not node.has("output_shape") and way not in ("SAME_UPPER", "SAME_LOWER"):
        return window_pairs(node, n)
    strides, dilations = node.ints("strides", [1] * n), node.ints("dilations", [1] * n)
    more = node.ints("output_padding", [0] * n)
    if UNKNOWN in x.shape[2:]:
        raise UnsupportedError("ConvTranspose to a size, of sizes that are not known, cannot be read")
    wanted = node.ints("output_shape", [s * by for s, by in zip(x.shape[2:], strides)])[-n:]
    ends = [(s - 1) * by + m + (k - 1) * d + 1 for s, by, m, k, d in zip(x.shape[2:], strides, more, kernel, dilations)]
    totals = [end - want for end, want in zip(ends, wanted)]
    if min(totals) < 0:
        raise UnsupportedError(f"ConvTranspose to {wanted}, which is more than there is, cannot be read")
    pairs = [(total // 2, total - total // 2) for total in totals]
    return tuple(pairs if way == "SAME_UPPER" else [(high, low) for low, high in pairs])


_MANY = 1 << 31


@operator("Conv")
def conv(node: Node, x: Any, weight: Any, bias: Any = None) -> Any:
    """A convolution."""
    found, w = as_tensor(x), as_tensor(weight)
    n = found.ndim - 2
    return get_op("conv")(
        found, w, None if bias is None else as_tensor(bias), stride=tuple(node.ints("strides", [1] * n)),
        padding=window_pairs(node, n, found, w.shape[2:]), dilation=tuple(node.ints("dilations", [1] * n)),
        groups=node.number("group", 1), channel_last=False,
    )  # fmt: skip


@operator("ConvTranspose")
def conv_transpose(node: Node, x: Any, weight: Any, bias: Any = None) -> Any:
    """A transposed convolution."""
    found = as_tensor(x)
    n = found.ndim - 2
    padding = _pairs_back(node, n, found, as_tensor(weight).shape[2:])
    return get_op("conv_transpose")(
        found, as_tensor(weight), None if bias is None else as_tensor(bias),
        stride=tuple(node.ints("strides", [1] * n)), padding=padding,
        output_padding=tuple(node.ints("output_padding", [0] * n)), output_size=None,
        dilation=tuple(node.ints("dilations", [1] * n)), groups=node.number("group", 1), channel_last=False,
    )  # fmt: skip


@operator("BatchNormalization")
def batch_norm(node: Node, x: Any, scale: Any, shift: Any, mean: Any, variance: Any) -> Any:
    """Batch normalization by given statistics."""
    node.refuse("spatial", 1)
    node.refuse("training_mode", 0)
    given = [as_tensor(v) for v in (x, mean, variance, scale, shift)]
    return get_op("batch_norm_infer")(*given, channel=1, epsilon=node.real("epsilon", 1e-5))


@operator("LayerNormalization")
def layer_norm(node: Node, x: Any, scale: Any, shift: Any = None) -> Any:
    """Layer normalization over the last dimensions."""
    found = as_tensor(x)
    axes = tuple(range(axis_in(node.number("axis", -1), found.ndim), found.ndim))
    outs = get_op("layer_norm")(
        found, as_tensor(scale), None if shift is None else as_tensor(shift), axes=axes, param_axes=axes, groups=0,
        epsilon=node.real("epsilon", 1e-5),
    )  # fmt: skip
    return list(outs)[: node.outputs]


@operator("InstanceNormalization")
def instance_norm(node: Node, x: Any, scale: Any, shift: Any) -> Any:
    """Each channel of each sample normalized."""
    found = as_tensor(x)
    outs = get_op("instance_norm")(
        found, as_tensor(scale), as_tensor(shift), axes=tuple(range(2, found.ndim)), param_axes=(1,), groups=0,
        epsilon=node.real("epsilon", 1e-5),
    )  # fmt: skip
    return outs[0]


@operator("Softmax", "LogSoftmax")
def softmax(node: Node, x: Any) -> Any:
    """Softmax along one dimension."""
    op = get_op("softmax" if node.type == "Softmax" else "log_softmax")
    return along_axis(node, as_tensor(x), lambda found, axis: op(found, axis=axis))


# -- sequences ---------------------------------------------------------------------------------------------------------


@operator("SequenceEmpty")
def sequence_empty(node: Node) -> Any:
    """A list that gets the kind of its first item."""
    return EmptyList(dtype_of(node.number("dtype", 1)))


@operator("SequenceConstruct")
def sequence_construct(node: Node, *items: Any) -> Any:
    """A list of items."""
    found = [as_tensor(item) for item in items]
    return get_op("list_of")(*found, item=found[0].meta if hasattr(found[0], "meta") else None)


def as_list(x: Any, item: Meta) -> Any:
    """A list for items like `item`."""
    if not isinstance(x, EmptyList):
        return x
    return get_op("list_of")(item=Meta((UNKNOWN,) * len(item.shape), x.dtype))


@operator("SequenceInsert")
def sequence_insert(node: Node, x: Any, item: Any, place: Any = None) -> Any:
    """A list with one more item."""
    new = as_tensor(item)
    held = as_list(x, new.meta)
    if place is None:
        return get_op("list_append")(held, new)
    at = sizes_argument(place)[0]
    before = get_op("list_slice")(held, start=None, stop=at, step=None)
    after = get_op("list_slice")(held, start=at, stop=None, step=None)
    return get_op("list_extend")(get_op("list_append")(before, new), after)


@operator("SequenceAt")
def sequence_at(node: Node, x: Any, place: Any) -> Any:
    """One item."""
    return get_op("list_get")(x, index=sizes_argument(place)[0])


@operator("SequenceErase")
def sequence_erase(node: Node, x: Any, place: Any = None) -> Any:
    """A list without one item."""
    return get_op("list_remove")(x, index=-1 if place is None else sizes_argument(place)[0])


@operator("SequenceLength")
def sequence_length(node: Node, x: Any) -> Any:
    """How many items there are."""
    return get_op("list_len")(x)


@operator("ConcatFromSequence")
def concat_from_sequence(node: Node, x: Any) -> Any:
    """The items one behind the other, or along a new dimension."""
    name = "list_stack" if node.number("new_axis", 0) else "list_join"
    return get_op(name)(x, axis=node.number("axis"))


@operator("SplitToSequence")
def split_to_sequence(node: Node, x: Any, parts: Any = None) -> Any:
    """The slices along a dimension."""
    if parts is not None or node.number("keepdims", 1):
        raise UnsupportedError("SplitToSequence is read for single slices without their dimension only")
    found = as_tensor(x)
    return get_op("list_unstack")(found, axis=axis_in(node.number("axis", 0), found.ndim))


@operator("NonMaxSuppression", known=(2, 3, 4))
def suppressed(node: Node, boxes: Any, scores: Any, most: Any = None, overlap: Any = None, least: Any = None) -> Any:
    """The places of boxes that remain: [k, 3] with image, class and box, one class behind the other."""
    found, given = as_tensor(boxes), as_tensor(scores)
    limits = [None if v is None else np.asarray(v).reshape(-1)[0] for v in (most, overlap)]
    if UNKNOWN in (found.shape[0], given.shape[1]):
        raise UnsupportedError("NonMaxSuppression is read for known numbers of images and classes")
    most, threshold, reshape = int(limits[0] or 0), float(limits[1] or 0.0), get_op("reshape")
    corners = _corners(reshape(found, shape=(-1, 4)), bool(node.number("center_point_box", 0)))
    flat = reshape(given, shape=(-1,))
    if found.shape[0] == given.shape[1] == 1 and least is None and most >= _MANY:
        kept = get_op("nms")(corners, flat, None, threshold=threshold, allowed=None, top_k=None)
        column = reshape(kept, shape=(-1, 1))
        zeros = column - column
        return get_op("concat")(zeros, zeros, column, axis=1)
    return _by_class(corners, flat, given, threshold, least, most, found.shape[0])


def _corners(boxes: Any, by_middle: bool) -> Any:
    """Boxes [n, 4] as their lower and their upper corners."""
    first, second = F.split(boxes, 2, -1)
    if by_middle:
        return F.concat([first - second / 2, first + second / 2], -1)
    return F.concat([F.minimum(first, second), F.maximum(first, second)], -1)


def _by_class(corners: Any, flat: Any, given: Any, threshold: float, least: Any, most: int, number: int) -> Any:
    """The same of boxes that each have a score for every class: boxes of several classes or images never meet."""
    reshape, gather = get_op("reshape"), get_op("gather")
    images, classes = number, given.shape[1]
    count = extent(given, 2)
    floor = -math.inf if least is None else float(np.asarray(least).reshape(-1)[0])
    places = reshape(get_op("nonzero")(flat > floor), shape=(-1,))
    groups = places // count
    owners = groups // classes * count + places % count
    kept = get_op("nms")(
        gather(corners, owners, axis=0), gather(flat, places, axis=0), groups,
        threshold=threshold, allowed=tuple(range(images * classes)), top_k=None,
    )  # fmt: skip
    kept = gather(kept, get_op("sort")(gather(groups, kept, axis=0), axis=0, descending=False)[1], axis=0)
    of = gather(groups, kept, axis=0)
    if most < _MANY:
        rank = F.arange(extent(of, 0), dtype="int64") - F.searchsorted(of, of)
        kept = gather(kept, reshape(get_op("nonzero")(rank < most), shape=(-1,)), axis=0)
        of = gather(groups, kept, axis=0)
    columns = [of // classes, of % classes, gather(places, kept, axis=0) % count]
    return F.stack(columns, 1)
