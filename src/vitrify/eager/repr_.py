"""Tensors as text, in Paddle's format, and its print options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ArgumentError
from ..core.place import CPUPlace
from ..core.setting import Setting
from ..device.api import put

if TYPE_CHECKING:
    from .tensor import Tensor

_INDENT = 7  # under the opening parenthesis of "Tensor("


@dataclass(frozen=True)
class PrintOptions:
    """How tensors print: digits, when to summarize and how much of each dimension then, line width, notation."""

    precision: int = 8
    threshold: int = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool = False


_OPTIONS: Setting[PrintOptions] = Setting("print_options", PrintOptions())


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sci_mode: bool | None = None,
    linewidth: int | None = None,
) -> None:
    """Change how tensors print; None leaves a choice as it is.

    precision: digits after the point. threshold: more elements than this are summarized. edgeitems: how many are shown
    at each end of a summarized dimension. sci_mode: scientific notation. linewidth: characters a line.
    Raises ArgumentError for a negative number. Source: paddle.set_printoptions.

    Example:
        >>> import vitrify as paddle
        >>> paddle.set_printoptions(precision=8)
    """
    numbers = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in numbers.items():
        if value is not None and (not isinstance(value, int) or value < 0):
            raise ArgumentError(f"set_printoptions: {name} must be a non-negative int, got {value!r}")
    chosen: dict[str, Any] = {**numbers, "sci_mode": sci_mode}
    _OPTIONS.set(replace(_OPTIONS.get(), **{k: v for k, v in chosen.items() if v is not None}))


def tensor_repr(tensor: Tensor) -> str:
    """The text of `repr(tensor)`."""
    head = (
        f"Tensor(shape={list(tensor.shape)}, dtype={tensor.dtype.name}, place={tensor.place!r}, "
        f"stop_gradient={tensor.stop_gradient},"
    )
    return f"{head}\n{' ' * _INDENT}{array_text(put(tensor._data, CPUPlace()))})"


def array_text(array: np.ndarray[Any, Any], indent: int = _INDENT) -> str:
    """The elements of `array` as nested brackets, of which the first stands behind `indent` characters."""
    options = _OPTIONS.get()
    one = _formatter(array, options)
    if array.ndim == 0:
        return one(array[()])
    edge = options.edgeitems if array.size > options.threshold else None
    shown = list(_shown(array, edge).flat)
    width = max((len(one(v)) for v in shown), default=0)
    signed = any(v.real < 0 for v in shown)

    def padded(value: Any) -> str:
        text = one(value)
        if signed and len(text) < width and not value.real < 0:
            text = " " + text
        return text.ljust(width)

    return _nested(array, edge, padded, width, options.linewidth, indent)


def _formatter(array: np.ndarray[Any, Any], options: PrintOptions) -> Callable[[Any], str]:
    kind = array.dtype.kind
    fixed = f".{options.precision}{'e' if options.sci_mode else 'f'}"
    if kind == "c":
        return lambda v: f"({v.real:{fixed}}{v.imag:+{fixed}}j)"
    if kind in "fV":
        return lambda v: _float_text(float(v), fixed, options.sci_mode)
    return str


def _float_text(value: float, fixed: str, sci_mode: bool) -> str:
    if sci_mode:
        return f"{value:{fixed}}"
    return f"{value:.0f}." if value == value and value in (np.inf, -np.inf, np.trunc(value)) else f"{value:{fixed}}"


def _shown(array: np.ndarray[Any, Any], edge: int | None) -> np.ndarray[Any, Any]:
    """The elements that are printed: all, or those within `edge` of both ends of each long dimension."""
    if edge is None:
        return array
    for axis, size in enumerate(array.shape):
        if size > 2 * edge:
            kept = [*range(edge), *range(size - edge, size)]
            array = np.take(array, kept, axis=axis)
    return array


def _entries(size: int, edge: int | None) -> Iterator[int | None]:
    """The indices printed along one dimension; None stands for the dots."""
    if edge is None or size <= 2 * edge:
        yield from range(size)
        return
    yield from range(edge)
    yield None
    yield from range(size - edge, size)


def _nested(
    array: np.ndarray[Any, Any], edge: int | None, one: Callable[[Any], str], width: int, linewidth: int, indent: int
) -> str:
    if array.ndim == 1:
        parts = ["..." if i is None else one(array[i]) for i in _entries(array.shape[0], edge)]
        return f"[{_wrapped(parts, max(1, (linewidth - indent) // (width + 2)), indent)}]"
    rows = [
        "..." if i is None else _nested(array[i], edge, one, width, linewidth, indent + 1)
        for i in _entries(array.shape[0], edge)
    ]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(rows) + "]"


def _wrapped(parts: list[str], per_line: int, indent: int) -> str:
    lines = [", ".join(parts[i : i + per_line]) for i in range(0, len(parts), per_line)]
    return (",\n" + " " * (indent + 1)).join(lines)
