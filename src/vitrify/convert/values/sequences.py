"""What a `for` over tensors counts through: something with a length (maybe a tensor) and items by index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
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
from .flags import both
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

    def has(self, index: Any) -> Any:
        """Whether there is an item `index`, to which a loop has come."""
        return index < self.length


class Live(GraphSequence):
    """A sequence that may become longer or shorter while it is gone through: a list, or what is made of such.

    has: whether a loop that has come to an index finds an item there, by default where it is below the length.
    """

    def __init__(
        self, length: Callable[[], Any], at: Callable[[Any], Any], has: Callable[[Any], Any] | None = None
    ) -> None:
        self._length = length
        self.at = at
        self._has = has

    def has(self, index: Any) -> Any:
        """Whether there is an item `index` now."""
        return super().has(index) if self._has is None else self._has(index)

    @property
    def length(self) -> Any:
        """The length now."""
        return self._length()


def constant(value: bool | int) -> Any:
    """A number of the program being built."""
    return as_number(full([], value, "bool" if isinstance(value, bool) else "int64"))


def as_sequence(value: Any) -> GraphSequence | None:
    """The value as a sequence of graph items, or None when Python iterates over it as usual."""
    if isinstance(value, GraphSequence):
        return value
    value = list_in(value)
    if is_open(value) or isinstance(value, Deferred):
        found: GraphSequence = value.sequence()
        return found
    refuse_none(value)
    if isinstance(value, (Variable, Tensor)) and value.ndim > 0:
        size = value.shape[0]
        return GraphSequence(size if size >= 0 else as_number(dim_size(value, 0)), lambda i: value[i])
    return None


def graph_enumerate(items: GraphSequence, start: Any = 0) -> GraphSequence:
    """`enumerate(items, start)`."""

    def at(index: Any) -> Any:
        return index + start, items.at(index)

    return Live(lambda: items.length, at, items.has) if isinstance(items, Live) else GraphSequence(items.length, at)


def graph_zip(*parts: GraphSequence) -> GraphSequence:
    """`zip(*parts)`: as long as the shortest."""

    def at(index: Any) -> Any:
        return tuple([part.at(index) for part in parts])

    if any(isinstance(part, Live) for part in parts):
        return Live(lambda: _shortest(parts), at, lambda index: _have(parts, index))
    return GraphSequence(_shortest(parts), at)


def _have(parts: Sequence[GraphSequence], index: Any) -> Any:
    return reduce(both, [part.has(index) for part in parts])


def _shortest(parts: Sequence[GraphSequence]) -> Any:
    length = parts[0].length
    for part in parts[1:]:
        is_known = isinstance(length, int) and isinstance(part.length, int)
        length = min(length, part.length) if is_known else minimum(_tensor(length), _tensor(part.length))
    return length


def graph_map(function: Callable[..., Any], rows: GraphSequence) -> GraphSequence:
    """`map(function, ...)` of what is zipped to `rows`."""

    def at(index: Any) -> Any:
        return function(*rows.at(index))

    return Live(lambda: rows.length, at, rows.has) if isinstance(rows, Live) else GraphSequence(rows.length, at)


def graph_reversed(items: GraphSequence) -> GraphSequence:
    """`reversed(items)`, from what is last now. A list that has become too short meanwhile ends it."""
    last = items.length - 1

    def at(index: Any) -> Any:
        return items.at(last - index)

    if not isinstance(items, Live):
        return GraphSequence(items.length, at)
    return Live(lambda: last + 1, at, lambda index: both(index <= last, last - index < items.length))


def _tensor(value: Any) -> Any:
    return constant(value) if isinstance(value, int) else cast(value, "int64")
