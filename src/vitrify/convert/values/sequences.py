"""What a `for` over tensors counts through: something with a length (maybe a tensor) and items by index."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ...core.errors import ArgumentError, UnsettledError
from ...core.pytree import is_open, list_in
from ...core.single import assert_index
from ...eager.host_ops import assert_op
from ...eager.tensor import Tensor
from ...ir.graph_tensor import as_number, is_number, number
from ...ir.program import Variable
from ...ops.creation import full
from ...ops.like import cast
from ...ops.select import minimum
from ...ops.sizes import dim_size
from .base import as_graph, is_graph
from .deferred import Call, Deferred, record
from .handlers import refuse_if_caught
from .optional import refuse_none


class GraphSequence:
    """A sequence of `length` items, `at(i)` giving item i; either may be a tensor."""

    def __init__(self, length: Any, at: Callable[[Any], Any]) -> None:
        self.length = length
        self.at = at

    def __len__(self) -> int:
        if isinstance(self.length, int):
            return self.length
        raise UnsettledError("the length of this sequence is known only when the program runs")

    def __iter__(self) -> Any:
        return (self.at(i) for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        return self.at(index)


def constant(value: bool | int) -> Any:
    """A number of the program being built."""
    return as_number(full([], value, "bool" if isinstance(value, bool) else "int64"))


def as_sequence(value: Any) -> GraphSequence | None:
    """The value as a sequence of graph items, or None when Python iterates over it as usual."""
    if isinstance(value, GraphSequence):
        return value
    value = list_in(value)
    if is_open(value):
        found: GraphSequence = value.sequence()
        return found
    if isinstance(value, Deferred):
        return value.sequence()  # type: ignore[no-any-return]
    refuse_none(value)
    if isinstance(value, (Variable, Tensor)) and value.ndim > 0:
        size = value.shape[0]
        return GraphSequence(size if size >= 0 else as_number(dim_size(value, 0)), lambda i: value[i])
    return None


def graph_range(start: Any, stop: Any, step: Any) -> GraphSequence:
    """`range(start, stop, step)` where at least one is a tensor."""
    if isinstance(step, int) and step == 0:
        raise ArgumentError("range() arg 3 must not be zero")
    if is_graph(step):
        _assert_not_zero(step)
    start, stop, step = (_bound(v) for v in (start, stop, step))
    if isinstance(step, int):
        length = (stop - start + (step - (1 if step > 0 else -1))) // step
    else:
        length = -((start - stop) // step)
    return GraphSequence(length, lambda i: start + i * step)


def _bound(value: Any) -> Any:
    """A bound or step of `range`; raises TypeError where it is none."""
    value = as_graph(value)
    if not is_graph(value):
        return operator.index(value)
    if is_number(value) and value.dtype.is_floating:
        raise TypeError("'float' object cannot be interpreted as an integer")
    assert_index(value.dtype)
    return number(value, "an index", "int64")


def _assert_not_zero(step: Any) -> None:
    message = "range() arg 3 must not be zero"
    refuse_if_caught(ValueError(message))
    record(assert_op, step != 0, error=Call(ValueError, (message,)))


def graph_enumerate(items: GraphSequence, start: Any = 0) -> GraphSequence:
    """`enumerate(items, start)`."""
    return GraphSequence(items.length, lambda i: (i + start, items.at(i)))


def graph_zip(*parts: GraphSequence) -> GraphSequence:
    """`zip(*parts)`: as long as the shortest."""
    length = parts[0].length
    for part in parts[1:]:
        both = isinstance(length, int) and isinstance(part.length, int)
        length = min(length, part.length) if both else minimum(_tensor(length), _tensor(part.length))
    return GraphSequence(length, lambda i: tuple(p.at(i) for p in parts))


def graph_reversed(items: GraphSequence) -> GraphSequence:
    """`reversed(items)`."""
    return GraphSequence(items.length, lambda i: items.at(items.length - 1 - i))


def _tensor(value: Any) -> Any:
    return constant(value) if isinstance(value, int) else cast(value, "int64")
