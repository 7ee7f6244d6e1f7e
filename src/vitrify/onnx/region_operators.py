"""What ONNX operators of regions, of what repeats and of maxima put back mean here."""

from __future__ import annotations

import math
from typing import Any

from ..core.dtype import int32, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN
from ..ir.known_values import as_tensor, known_ints
from ..ops import functions as F
from ..ops.registry import get_op
from ..ops.roi import roi_align
from ..ops.unique import unique
from .node import Node
from .operator_table import operator
from .sampling_operators import largest_of_regions


@operator("LRN")
def response_norm(node: Node, x: Any) -> Any:
    """Each channel over a power of the squares of its neighbours."""
    size = node.number("size")
    if size % 2 == 0:
        raise UnsupportedError(f"LRN over {size} channels, as many below as above, cannot be read")
    alpha, beta, bias = node.real("alpha", 1e-4), node.real("beta", 0.75), node.real("bias", 1.0)
    return F.local_response_norm(as_tensor(x), size, alpha, beta, bias)


@operator("RoiAlign")
def regions(node: Node, x: Any, rois: Any, images: Any) -> Any:
    """Means or maxima of regions, each of which says which image it is of."""
    x, rois, images = as_tensor(x), as_tensor(rois), as_tensor(images)
    usual = "half_pixel" if node.opset >= 16 else "output_half_pixel"
    aligned = node.text("coordinate_transformation_mode", usual) == "half_pixel"
    if node.text("mode", "avg") == "max":
        return largest_of_regions(node, x, rois, images, aligned)
    count = rois.shape[0] if rois.shape[0] != UNKNOWN else get_op("dim_size")(rois, axis=0)
    if x.shape[0] == 1:
        counts = F.cast(F.full([1], count, int64), int32)
    else:
        x, counts = F.gather(x, images), F.ones([count], int32)
    size = (node.number("output_height", 1), node.number("output_width", 1))
    sampling = node.number("sampling_ratio", 0) or -1
    return roi_align(x, rois, counts, size, node.real("spatial_scale", 1.0), sampling, aligned)


@operator("Unique")
def distinct(node: Node, x: Any) -> Any:
    """The distinct elements, where they stand first, which is where, and how many of each there are."""
    axis = node.number("axis", 0) if node.has("axis") else None
    out, first, which, counts = unique(as_tensor(x), True, True, True, axis)
    if node.number("sorted", 1):
        return out, first, which, counts
    order = F.argsort(first)
    place = F.argsort(order)
    out = F.index_select(out, order, axis or 0)
    return out, F.gather(first, order), F.gather(place, which), F.gather(counts, order)


@operator("MaxUnpool", known=(2,))
def put_back(node: Node, x: Any, places: Any, sizes: Any = None) -> Any:
    """Maxima at the places that they had, counted through the whole tensor, and zeros."""
    x, kernel = as_tensor(x), node.ints("kernel_shape")
    n = len(kernel)
    stride, pads = node.ints("strides", [1] * n), node.ints("pads", [0] * (2 * n))
    if UNKNOWN in x.shape[2:]:
        raise UnsupportedError("MaxUnpool needs known sizes")
    found = [(s - 1) * by - a - b + k for s, by, a, b, k in zip(x.shape[2:], stride, pads, pads[n:], kernel)]
    wanted = found if sizes is None else known_ints(sizes)[2:]
    inside = as_tensor(places) % math.prod(wanted)
    padding = tuple(zip(pads[:n], pads[n:]))
    return get_op("max_unpool")(
        x, inside, kernel=tuple(kernel), stride=tuple(stride), padding=padding, output_size=tuple(wanted)
    )
