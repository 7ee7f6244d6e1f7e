"""A table of a network's layers: shapes and parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core.errors import ArgumentError
from ..eager.layer import Layer
from ..nn.layer.container import LayerList, Sequential
from ..nn.layer.rnn import RNNBase
from ..ops.creation import zeros
from .trace import own_tensors, shapes_in, tensors_in, watch

HEADS = ("Layer (type)", "Input Shape", "Output Shape", "Param #")
WIDTHS = (15, 20, 20, 15)
MEGABYTE = 1024.0**2


@dataclass
class _Row:
    """One layer as the table shows it."""

    name: str
    inputs: str
    outputs: str
    params: int
    trainable: int
    elements: int


def _table(rows: Sequence[_Row], inputs: Sequence[Any], all_counts: tuple[int, int]) -> str:
    cells = [(r.name, r.inputs, r.outputs, f"{r.params:,}") for r in rows]
    widths = [max(w, *(len(c[i]) for c in cells)) if cells else w for i, w in enumerate(WIDTHS)]
    line, double = "-" * (sum(widths) + 5), "=" * (sum(widths) + 5)
    body = [" ".join(f"{text:^{w}}" for text, w in zip(row, widths)) for row in (HEADS, *cells)]
    total, trainable = all_counts
    sizes = [
        sum(math.prod(t.shape) for t in inputs) * 4 / MEGABYTE,
        2 * sum(r.elements for r in rows) * 4 / MEGABYTE,
        total * 4 / MEGABYTE,
    ]
    counts = [
        f"Total params: {total:,}", f"Trainable params: {trainable:,}", f"Non-trainable params: {total - trainable:,}"
    ]  # fmt: skip
    memory = [
        f"Input size (MB): {sizes[0]:.2f}",
        f"Forward/backward pass size (MB): {sizes[1]:.2f}",
        f"Params size (MB): {sizes[2]:.2f}",
        f"Estimated Total Size (MB): {sum(sizes):.2f}",
    ]
    return "\n".join([line, body[0], double, *body[1:], double, *counts, line, *memory, line, ""])


def _inputs(input_size: Any, dtypes: Any, input: Any) -> tuple[Any, ...]:
    if input is not None:
        return tuple(input) if isinstance(input, (list, tuple)) else (input,)
    if input_size is None:
        raise ArgumentError("summary: give input_size or input")
    several = isinstance(input_size, list) and not all(isinstance(n, (int, type(None))) for n in input_size)
    specs = input_size if several else [input_size]
    kinds = dtypes if isinstance(dtypes, (list, tuple)) else [dtypes] * len(specs)
    return tuple(_zeros_of(spec, kind) for spec, kind in zip(specs, kinds))


def _zeros_of(spec: Any, dtype: Any) -> Any:
    """Zeros of a shape or InputSpec; sizes left open are 1."""
    kind = dtype or getattr(spec, "dtype", None) or "float32"
    sizes = [spec] if isinstance(spec, int) else getattr(spec, "shape", spec)
    return zeros([1 if n is None or n < 0 else n for n in sizes], kind)


def summary(net: Layer, input_size: Any = None, dtypes: Any = None, input: Any = None) -> dict[str, int]:
    """The number of parameters and of trainable ones; prints a table of the layers that run on such an input.

    input_size: a shape (sizes may be None or -1), an InputSpec, or a list of them for several inputs, with their
    dtypes; or input: tensors to run on. Raises ArgumentError for neither. Source: paddle.summary.

    Example:
        >>> import vitrify as paddle
        >>> found = paddle.summary(paddle.nn.Linear(3, 2), (1, 3))  # doctest: +ELLIPSIS
        ---...
        >>> found
        {'total_params': 8, 'trainable_params': 8}
    """
    inputs = _inputs(input_size, dtypes, input)
    rows = _rows(net, inputs)
    totals = sum(r.params for r in rows), sum(r.trainable for r in rows)
    print(_table(rows, inputs, totals))
    return {"total_params": totals[0], "trainable_params": totals[1]}


def _rows(net: Layer, inputs: tuple[Any, ...]) -> list[_Row]:
    """A row for each layer that ran, in the order of first calls."""
    rows: dict[int, _Row] = {}
    recurrent = [layer for layer in [net, *net.sublayers()] if isinstance(layer, RNNBase)]
    inside = {id(below) for layer in recurrent for below in layer.sublayers()}
    names: dict[str, int] = {}

    def chosen(layer: Layer) -> bool:
        is_recurrent = isinstance(layer, RNNBase)
        is_box = isinstance(layer, (Sequential, LayerList)) and not is_recurrent
        is_root = layer is net and bool(net.sublayers()) and not is_recurrent
        return not (is_box or is_root or id(layer) in inside)

    def record(layer: Layer, given: Any, outputs: Any) -> None:
        if id(layer) in rows:
            return
        kind = type(layer).__name__
        names[kind] = names.get(kind, 0) + 1
        held = own_tensors(layer, isinstance(layer, RNNBase))
        counts = [math.prod(t.shape) for t in held]
        trained = sum(n for n, t in zip(counts, held) if not t.stop_gradient)
        elements = sum(math.prod(t.shape) for t in tensors_in(outputs))
        shapes = str(shapes_in(given)), str(shapes_in(outputs))
        rows[id(layer)] = _Row(f"{kind}-{names[kind]}", *shapes, sum(counts), trained, elements)

    watch(net, inputs, chosen, record)
    return list(rows.values())
