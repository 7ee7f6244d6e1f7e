"""How many operations a network takes for one input."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..eager.layer import Layer
from ..nn.layer import activation, common, conv, norm, pooling
from ..ops.random import rand
from .trace import own_tensors, tensors_in, watch

Counter = Callable[[Any, Any, Any], int]
HEADS = ("Layer Name", "Input Shape", "Output Shape", "Params", "Flops")


def _convolution(layer: Any, x: Any, y: Any) -> int:
    taps = math.prod(layer.weight.shape[1:])
    return int(math.prod(y.shape) * (taps + (layer.bias is not None)))


def _pooled(layer: Any, x: Any, y: Any) -> int:
    taps = math.prod(a // b for a, b in zip(x.shape[2:], y.shape[2:]))
    return int((taps + 1) * math.prod(y.shape))


_COUNTERS: dict[type, Counter] = {
    **dict.fromkeys((conv.Conv1D, conv.Conv2D, conv.Conv3D), _convolution),
    **dict.fromkeys((conv.Conv1DTranspose, conv.Conv2DTranspose, conv.Conv3DTranspose), _convolution),
    **dict.fromkeys((norm.BatchNorm1D, norm.BatchNorm2D, norm.BatchNorm3D), lambda layer, x, y: 2 * math.prod(x.shape)),
    activation.PReLU: lambda layer, x, y: math.prod(x.shape),
    **dict.fromkeys((activation.ReLU, activation.ReLU6, activation.LeakyReLU), lambda layer, x, y: 0),
    **dict.fromkeys((pooling.AvgPool1D, pooling.AvgPool2D, pooling.AvgPool3D), lambda layer, x, y: math.prod(y.shape)),
    **dict.fromkeys((pooling.AdaptiveAvgPool1D, pooling.AdaptiveAvgPool2D, pooling.AdaptiveAvgPool3D), _pooled),
    common.Linear: lambda layer, x, y: int(layer.weight.shape[0]) * math.prod(y.shape),
    common.Dropout: lambda layer, x, y: 0,
}


def _custom(fn: Callable[[Any, Any, Any], Any]) -> Counter:
    """A user's counter, which adds to `layer.total_ops`, as one that returns the count."""

    def count(layer: Any, x: Any, y: Any) -> int:
        layer.total_ops = 0
        fn(layer, (x,), y)
        found = int(layer.total_ops)
        del layer.total_ops  # a number, or the tensor that it became
        return found

    return count


def _told(layers: Sequence[Layer], custom: Mapping[type, Any]) -> dict[type, Counter]:
    """A counter for each class among the layers; says which one."""
    counters: dict[type, Counter] = {}
    for kind in dict.fromkeys(map(type, layers)):
        if kind in custom:
            counters[kind] = _custom(custom[kind])
            print(f"Customize Function has been applied to {kind}")
        elif kind in _COUNTERS:
            counters[kind] = _COUNTERS[kind]
            print(f"{kind}'s flops has been counted")
        else:
            print(f"Cannot find suitable count function for {kind}. Treat it as zero FLOPs.")
    return counters


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[i]) for row in (HEADS, *rows)) + 2 for i in range(len(HEADS))]
    line = "+" + "+".join("-" * w for w in widths) + "+"
    body = ["|" + "|".join(f"{text:^{w}}" for text, w in zip(row, widths)) + "|" for row in (HEADS, *rows)]
    return "\n".join([line, body[0], line, *body[1:], line])


def flops(
    net: Layer, input_size: Sequence[int], custom_ops: Mapping[type, Any] | None = None, print_detail: bool = False
) -> int:
    """How many multiply-adds `net` takes for one input of this shape; prints what was counted.

    custom_ops: for classes of layers, functions of (layer, inputs, output) that add to `layer.total_ops`; classes
    unknown otherwise count as 0. print_detail: also a table of all layers. Source: paddle.flops.

    Example:
        >>> import vitrify as paddle
        >>> paddle.flops(paddle.nn.Sequential(paddle.nn.Linear(3, 4)), [2, 3])
        <class 'vitrify.nn.layer.common.Linear'>'s flops has been counted
        Total Flops: 24     Total Params: 16
        24
    """
    leaves = [layer for layer in [net, *net.sublayers()] if not list(layer.children())]
    counters = _told(leaves, custom_ops or {})
    counts: list[int] = []
    rows: list[tuple[str, ...]] = []

    def record(layer: Layer, given: Any, outputs: Any) -> None:
        x, y = tensors_in(given)[0], tensors_in(outputs)[0]
        counter = counters.get(type(layer))
        counts.append(counter(layer, x, y) if counter else 0)
        params = sum(math.prod(t.shape) for t in own_tensors(layer, False))
        rows.append((layer.full_name(), str(list(x.shape)), str(list(y.shape)), str(params), str(counts[-1])))

    watch(net, (rand(list(input_size)),), lambda layer: not list(layer.children()), record)
    if print_detail:
        print(_table(rows))
    params = sum(math.prod(t.shape) for layer in leaves for t in own_tensors(layer, False))
    print(f"Total Flops: {sum(counts)}     Total Params: {params}")
    return sum(counts)
