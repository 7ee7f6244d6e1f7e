"""Transposed convolutions as steps of programs compiled ahead of time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.meta import Shape
from .arguments import entries
from .sliding_window import span
from .window_forms import conv_form

_ALL = slice(None)


def conv_transpose_form(
    n: Any, x: Any, weight: Any, bias: Any, *, stride: Shape, padding: Any, output_padding: Shape, output_size: Any,
    dilation: Shape, groups: int, channel_last: bool,
) -> Any:  # fmt: skip
    """A convolution, with the kernel turned around, of x with zeros between its elements and around them."""
    if channel_last:
        x = n.view(lambda a: np.moveaxis(a, -1, 1), x)
    kernel = weight.shape[2:]
    spans = [span(k, d) for k, d in zip(kernel, dilation)]
    smallest = [(s - 1) * st - lo - hi + e for s, st, (lo, hi), e in zip(x.shape[2:], stride, padding, spans)]
    sizes = entries(output_size) if output_size is not None else ()
    extra = [a - b for a, b in zip(sizes, smallest)] if sizes else output_padding
    room = [(e - 1 - lo, e - 1 - hi + more) for e, (lo, hi), more in zip(spans, padding, extra)]
    if any(min(pair) < 0 for pair in room):
        n.refuse("padding beyond the kernel's size has no native form")
    inner = [(s - 1) * st + 1 for s, st in zip(x.shape[2:], stride)]
    shape = (*x.shape[:2], *(i + low + high for i, (low, high) in zip(inner, room)))
    wide = n.copy(n.full(shape, 0, x.dtype))
    there = tuple(slice(low, low + i, st) for i, (low, _), st in zip(inner, room, stride))
    n.copy(x, n.view(lambda a: a[(_ALL, _ALL, *there)], wide))
    turned = _turned(n, weight, groups)
    ones, none = (1,) * len(kernel), ((0, 0),) * len(kernel)
    out = conv_form(
        n, wide, turned, bias, stride=ones, padding=none, dilation=dilation, groups=groups, channel_last=False
    )
    return n.view(lambda a: np.moveaxis(a, 1, -1), out) if channel_last else out


def _turned(n: Any, weight: Any, groups: int) -> Any:
    """[inputs, outputs / groups, *kernel] as the weights of a convolution the other way."""
    inputs, outputs, *kernel = weight.shape
    shape = (groups * outputs, inputs // groups, *kernel)

    def turn(a: Any) -> Any:
        parts = a.reshape(groups, inputs // groups, outputs, *kernel).swapaxes(1, 2)
        return np.flip(parts, tuple(range(3, 3 + len(kernel))))

    known = n.known(weight)
    if known is None:
        return n.reshape(n.copy(n.view(turn, n.contiguous(weight))), shape)
    return n.constant(turn(np.ascontiguousarray(known)).reshape(shape))
