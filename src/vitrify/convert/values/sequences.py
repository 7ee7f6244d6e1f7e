"""What a `for` over tensors counts through: something with a length (maybe a tensor) and items by index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.errors import UnsettledError
from ...core.pytree import is_open, list_in
from ...eager.tensor import Tensor
from ...ir.graph_tensor import as_number
from ...ir.program import Variable
from ...ops.creation import full
from ...ops.like import cast
from ...ops.select import minimum
from ...ops.sizes import dim_size
from .deferred import Deferred
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
