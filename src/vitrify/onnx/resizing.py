"""What Resize and Upsample mean here: one dimension after the other, each element a sum of a few of the original's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import FileFormatError, UnsupportedError
from ..core.meta import UNKNOWN
from ..ir.known_values import as_tensor, sizes_argument
from ..ops import functions as F
from ..ops.registry import get_op
from .node import Node, axis_in
from .operator_table import operator
from .sizes import extent

# Where the middle of element i of n lies among m elements: `scale` is n / m, or what the file says.
_PLACES: dict[str, Any] = {
    "half_pixel": lambda i, scale, n, m: (i + 0.5) / scale - 0.5,
    "half_pixel_symmetric": lambda i, scale, n, m: m / 2 * (1 - n / (scale * m)) + (i + 0.5) / scale - 0.5,
    "asymmetric": lambda i, scale, n, m: i / scale,
    "pytorch_half_pixel": lambda i, scale, n, m: _if_several(n, (i + 0.5) / scale - 0.5, i),
    "align_corners": lambda i, scale, n, m: _if_several(n, i * (m - 1) / _at_least_one(n - 1), i),
}
_NEAREST: dict[str, Any] = {
    "floor": lambda x: F.floor(x),
    "ceil": lambda x: F.ceil(x),
    "round_prefer_floor": lambda x: F.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: F.floor(x + 0.5),
}


# What our own op has, by where the places of elements are.
_OURS = frozenset(
    {("asymmetric", "nearest"), ("asymmetric", "linear"), ("align_corners", "linear"), ("half_pixel", "linear"),
     ("align_corners", "cubic"), ("half_pixel", "cubic"), ("pytorch_half_pixel", "linear"),
     ("pytorch_half_pixel", "cubic")}
)  # fmt: skip


def _if_several(n: Any, places: Any, i: Any) -> Any:
    return F.where(n > 1, places, i * 0.0) if hasattr(n, "dtype") else places if n > 1 else i * 0.0


def _at_least_one(n: Any) -> Any:
    return F.clip(n, min=1) if hasattr(n, "dtype") else max(n, 1)


@operator("Resize", known=(1, 2, 3))
def resize(node: Node, x: Any, *settings: Any) -> Any:
    """x with other sizes, by the nearest elements, or linear or cubic between them."""
    if node.opset < 11:
        return _resized(node, as_tensor(x), settings[0], None, "asymmetric", "floor")
    _, scales, sizes = [*settings, *[None] * 3][:3]
    where = node.text("coordinate_transformation_mode", "half_pixel")
    if where not in _PLACES:
        raise UnsupportedError(f"Resize with coordinates {where!r} cannot be read")
    node.refuse("antialias", 0)
    node.refuse("keep_aspect_ratio_policy", "stretch")
    return _resized(node, as_tensor(x), scales, sizes, where, node.text("nearest_mode", "round_prefer_floor"))


@operator("Upsample", known=(1,))
def upsample(node: Node, x: Any, scales: Any) -> Any:
    """x enlarged by factors."""
    return _resized(node, as_tensor(x), scales, None, "asymmetric", "floor")


def _resized(node: Node, x: Any, scales: Any, sizes: Any, where: str, nearest: str) -> Any:
    mode = node.text("mode", "nearest")
    if mode not in ("nearest", "linear", "cubic") or nearest not in _NEAREST:
        raise FileFormatError(f"Resize: there is no mode {mode!r} with nearest_mode={nearest!r}")
    axes = [axis_in(a, x.ndim) for a in node.ints("axes", list(range(x.ndim)))]
    factors, wanted = (
        _factors(scales, len(axes)),
        None if sizes is None or not np.size(sizes) else sizes_argument(sizes),
    )
    given: Sequence[Any] = factors if wanted is None else wanted
    if len(given) != len(axes):
        raise FileFormatError(f"Resize: {len(given)} sizes or factors for {len(axes)} dimensions")
    known = all(isinstance(f, float) for f in factors)
    if wanted is None and known and UNKNOWN not in x.shape and _leaves_alone(x, axes, factors):
        return x
    direct = _as_one_op(node, x, axes, factors, wanted, where, mode, nearest) if known else None
    if direct is not None:
        return direct
    if wanted is None and known and UNKNOWN in x.shape and any(1 < f < 2 for f in factors):
        stays = _leaves_alone(x, axes, factors)
        given = [F.where(stays, F.full([], 1.0), F.full([], f)) if f != 1 else f for f in factors]
    for axis, setting in zip(axes, given):
        factor, size = (setting, None) if wanted is None else (None, setting)
        x = _along(node, x, axis, factor, size, _PLACES[where], mode, _NEAREST[nearest])
    return x


def _leaves_alone(x: Any, axes: list[int], factors: list[float]) -> Any:
    """Whether the sizes stay: runtimes copy then, whatever the factors say of places. A 0-D tensor of open sizes."""
    stay: Any = True
    for axis, factor in zip(axes, factors):
        if factor != 1:
            before = extent(x, axis)
            after = int(np.floor(before * np.float32(factor))) if isinstance(before, int) else _scaled(before, factor)
            stay = (
                F.logical_and(after == before, stay) if hasattr(after == before, "dtype") else stay & (after == before)
            )
    return stay


def _as_one_op(
    node: Node, x: Any, axes: list[int], factors: list[float], wanted: Any, where: str, mode: str, nearest: str
) -> Any:
    """The same by our own op, where it resizes so: the dimensions behind the channels, and all in one way."""
    n = x.ndim - 2
    if axes != list(range(x.ndim)) or not 1 <= n <= 3 or (where, mode) not in _OURS:
        return None
    if (mode == "nearest" and nearest != "floor") or (mode == "cubic" and _is_other_cubic(node)):
        return None
    kept = factors[:2] == [1.0, 1.0] if wanted is None else all(
        isinstance(w, int) and w == s for w, s in zip(wanted, x.shape[:2])
    )  # fmt: skip
    # Of one element ours takes the first of the original's, as `pytorch_half_pixel` says, and `half_pixel` the middle.
    is_long = all(f >= 2 for f in factors[2:]) if wanted is None else all(
        isinstance(w, int) and w > 1 for w in wanted[2:]
    )  # fmt: skip
    if not kept or (mode == "cubic" and n != 2) or ((where == "half_pixel" or mode == "cubic") and not is_long):
        return None
    return get_op("resize")(
        x, first=2, sizes=None if wanted is None else wanted[2:], scales=tuple(factors[2:]) or (0.0,) * n, kind=mode,
        align_corners=where == "align_corners", align_mode=int(where == "asymmetric"),
    )  # fmt: skip


def _factors(scales: Any, count: int) -> list[Any]:
    """The factor of each dimension; 0-D tensors where only the run knows them."""
    if scales is not None and not isinstance(scales, np.ndarray) and scales.dtype.is_floating:
        return [F.reshape(get_op("gather")(scales, F.full([1], at, "int64"), axis=0), []) for at in range(count)]
    if scales is None or not np.size(scales):
        return []
    if not isinstance(scales, np.ndarray) or scales.dtype.kind != "f":
        raise UnsupportedError("Resize by factors that are no floating point numbers cannot be read")
    return [float(s) for s in scales.reshape(-1)]


def _along(node: Node, x: Any, axis: int, factor: Any, size: Any, where: Any, mode: str, nearest: Any) -> Any:
    """x with another size in one dimension."""
    if (isinstance(factor, float) and factor == 1) or (isinstance(size, int) and size == x.shape[axis]):
        return x
    before = extent(x, axis)
    scale: Any = factor
    if factor is not None:
        known = isinstance(before, int) and isinstance(factor, float)
        size = int(np.floor(before * np.float32(factor))) if known else _scaled(before, factor)
    else:
        scale = _float(size) / before
    places = where(F.arange(size, dtype="float32"), scale, size, before)
    if mode == "nearest":
        return _taken(x, nearest(places), axis, before)
    low = F.floor(places)
    rest = places - low
    out = None
    weights = _weights(node, rest, mode)
    if node.number("exclude_outside", 0):
        weights = _inside_alone(weights, low, before)
    for offset, weight in weights:
        part = _taken(x, low + offset, axis, before) * F.reshape(weight, [-1, *[1] * (x.ndim - axis - 1)])
        out = part if out is None else out + part
    return out


def _is_other_cubic(node: Node) -> bool:
    return node.real("cubic_coeff_a", -0.75) != -0.75 or bool(node.number("exclude_outside", 0))


def _inside_alone(weights: list[tuple[int, Any]], low: Any, size: Any) -> list[tuple[int, Any]]:
    """The weights of the neighbours that there are, whose sum is 1."""
    inside = [(d, F.where((low + d >= 0) & (low + d < size), w, w * 0.0)) for d, w in weights]
    total = sum(w for _, w in inside)
    return [(d, w / total) for d, w in inside]


def _scaled(size: Any, factor: float) -> Any:
    wide = [F.cast(v, "float64") if hasattr(v, "dtype") else float(v) for v in (size, factor)]
    return F.cast(F.floor(wide[0] * wide[1]), "int64")


def _float(size: Any) -> Any:
    return F.cast(size, "float32") if hasattr(size, "dtype") else float(size)


def _taken(x: Any, places: Any, axis: int, size: Any) -> Any:
    """The slices of x at places, which end at its first and last."""
    return get_op("gather")(x, F.clip(F.cast(places, "int64"), 0, size - 1), axis=axis)


def _weights(node: Node, rest: Any, mode: str) -> list[tuple[int, Any]]:
    """How much each of the neighbours counts, by their distance from the one at or before a place."""
    if mode != "cubic":
        return [(0, 1 - rest), (1, rest)]
    a = node.real("cubic_coeff_a", -0.75)
    near = [((a + 2) * d - (a + 3)) * d * d + 1 for d in (rest, 1 - rest)]
    far = [((a * d - 5 * a) * d + 8 * a) * d - 4 * a for d in (rest + 1, 2 - rest)]
    return [(-1, far[0]), (0, near[0]), (1, near[1]), (2, far[1])]
