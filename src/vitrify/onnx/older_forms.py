"""Nodes of older operator sets in the form of later ones: what was an attribute there is an input now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.registry import get_op
from .node import Node, axis_in
from .sizes import as_matrix

# Before which operator set which attributes stood where inputs stand now, from the second input on.
_ATTRIBUTES: dict[str, tuple[int, tuple[str, ...]]] = {
    "Squeeze": (13, ("axes",)),
    "Unsqueeze": (13, ("axes",)),
    "Split": (13, ("split",)),
    "Slice": (10, ("starts", "ends", "axes")),
    "Pad": (11, ("pads", "value")),
    "Clip": (11, ("min", "max")),
    "TopK": (10, ("k",)),
    "Upsample": (9, ("scales",)),
}


def inputs_today(node: Node, inputs: list[Any]) -> list[Any]:
    """The inputs as the newest operator set has them; None for those left out."""
    until, names = _ATTRIBUTES.get(node.type, (0, ()))
    if node.opset >= until:
        return inputs
    return [*inputs, *[node.constant(name) if node.has(name) else None for name in names]]


def along_axis(node: Node, x: Any, function: Callable[[Any, int], Any]) -> Any:
    """`function(x, axis)`; before operator set 13, of a matrix with the dimensions from the axis on as columns."""
    if node.opset >= 13:
        return function(x, axis_in(node.number("axis", -1), x.ndim))
    matrix = as_matrix(x, axis_in(node.number("axis", 1), x.ndim))
    return get_op("reshape_like")(function(matrix, 1), x)
