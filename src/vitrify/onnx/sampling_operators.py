"""What ONNX operators that read images between their elements mean here, where our own ops have no such way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.dtype import int64
from ..core.errors import UnsupportedError
from ..ir.known_values import as_tensor
from ..ops import functions as F
from ..ops.like import cast
from ..ops.registry import get_op
from .node import Node
from .operator_table import operator
from .sizes import extent

# -- grids -------------------------------------------------------------------------------------------------------------

_MODES = {"linear": "bilinear", "bilinear": "bilinear", "nearest": "nearest"}


@operator("GridSample")
def grid_sample(node: Node, x: Any, grid: Any) -> Any:
    """An image read at places between -1 and 1."""
    mode = node.text("mode", "linear")
    padding, corners = node.text("padding_mode", "zeros"), bool(node.number("align_corners", 0))
    if mode in _MODES:
        return F.grid_sample(as_tensor(x), as_tensor(grid), _MODES[mode], padding, corners)
    if mode not in ("cubic", "bicubic") or padding not in _INSIDE or as_tensor(x).ndim != 4:
        raise UnsupportedError(f"GridSample with mode={mode!r} and padding_mode={padding!r} cannot be read")
    return _cubic(as_tensor(x), as_tensor(grid), padding, corners)


def _reflected(at: Any, size: Any, corners: bool) -> Any:
    """Places counted back and forth between the first and the last element, or their outer edges."""
    period = 2 * size - 2 if corners else 2 * size
    if isinstance(period, int):
        period = max(period, 1)
    turned = at % period
    return F.where(turned < size, turned, period - turned if corners else period - 1 - turned)


_INSIDE: dict[str, Callable[[Any, Any, bool], Any]] = {
    "zeros": lambda at, size, corners: at,
    "border": lambda at, size, corners: at,
    "reflection": _reflected,
}


def _cubic(x: Any, grid: Any, padding: str, corners: bool) -> Any:
    """The sum of the 16 neighbours of each place, by cubics of their distance."""
    images, channels = extent(x, 0), extent(x, 1)
    rows, columns = extent(x, 2), extent(x, 3)
    taps = [_taps(grid[..., d], size, padding, corners) for d, size in ((1, rows), (0, columns))]
    flat = F.reshape(x, [images, channels, rows * columns])
    out = None
    for row, row_weight in taps[0]:
        for column, weight in taps[1]:
            at = F.reshape(row * columns + column, [images, 1, -1])
            part = get_op("take_along_axis")(flat, at, axis=2, broadcast=True)
            part = part * F.reshape(row_weight * weight, [images, 1, -1])
            out = part if out is None else out + part
    return F.reshape(out, [images, channels, extent(grid, 1), extent(grid, 2)])


def _taps(at: Any, size: Any, padding: str, corners: bool) -> list[tuple[Any, Any]]:
    """The four neighbours along one dimension, and their weights: none for those outside of an image with zeros."""
    place = (at + 1) / 2 * (size - 1) if corners else ((at + 1) * size - 1) / 2
    low = F.floor(place)
    rest, a = place - low, -0.75
    near = [((a + 2) * d - (a + 3)) * d * d + 1 for d in (rest, 1 - rest)]
    far = [((a * d - 5 * a) * d + 8 * a) * d - 4 * a for d in (rest + 1, 2 - rest)]
    found = []
    for step, weight in zip((-1, 0, 1, 2), (far[0], *near, far[1])):
        index = _INSIDE[padding](cast(low, int64) + step, size, corners)
        if padding == "zeros":
            weight = F.where((index >= 0) & (index < size), weight, weight * 0.0)
        found.append((F.clip(index, 0, size - 1), weight))
    return found


# -- regions -----------------------------------------------------------------------------------------------------------


def largest_of_regions(node: Node, x: Any, rois: Any, images: Any, aligned: bool) -> Any:
    """The largest of the weighted neighbours of the points of each bin, as RoiAlign has it."""
    points = node.number("sampling_ratio", 0)
    if points < 1:
        raise UnsupportedError("RoiAlign of maxima at as many points as there are elements cannot be read")
    sizes = (node.number("output_height", 1), node.number("output_width", 1))
    boxes = rois * node.real("spatial_scale", 1.0) - (0.5 if aligned else 0.0)
    planes = F.gather(x, images)
    sides = []
    for d, size in enumerate(sizes):
        start, length = boxes[:, 1 - d], boxes[:, 3 - d] - boxes[:, 1 - d]
        length = length if aligned else F.clip(length, min=1.0)
        steps = (F.arange(size * points, dtype="float32") + 0.5) / float(size * points)
        at = F.unsqueeze(start, 1) + F.unsqueeze(length, 1) * cast(steps, rois.dtype)
        sides.append(_neighbours(at, extent(x, 2 + d)))
    found = None
    for row, row_weight in sides[0]:
        lines = get_op("take_along_axis")(planes, F.unsqueeze(row, [1, 3]), axis=2, broadcast=True)
        for column, weight in sides[1]:
            part = get_op("take_along_axis")(lines, F.unsqueeze(column, [1, 2]), axis=3, broadcast=True)
            part = part * (F.unsqueeze(row_weight, [1, 3]) * F.unsqueeze(weight, [1, 2]))
            found = part if found is None else F.maximum(found, part)
    split = F.reshape(found, [extent(rois, 0), extent(x, 1), sizes[0], points, sizes[1], points])
    return get_op("max")(split, axis=(3, 5), keepdim=False)


def _neighbours(at: Any, size: Any) -> list[tuple[Any, Any]]:
    """The two elements around each place, and how near it is to them; nothing far outside."""
    inside = (at >= -1) & (at <= size)
    place = F.clip(F.clip(at, min=0.0), max=float(size - 1) if isinstance(size, int) else cast(size - 1, at.dtype))
    low = F.floor(place)
    rest, first = place - low, cast(low, int64)
    nothing = at * 0.0
    weights = [F.where(inside, w, nothing) for w in (1 - rest, rest)]
    return [(first, weights[0]), (F.clip(first + 1, max=size - 1), weights[1])]
