"""Iterators as classes that are converted like the user's: their positions are merged by branches, carried by loops.

Python's own, written in C, can neither be put back nor be asked where they are.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...core.converted_too import converted_too
from ...core.pytree import is_open
from ...ir.graph_tensor import is_number
from ..containers.lists import GraphList, refuse
from ..containers.ranges import GraphRange
from ..state.journal import note_write
from ..state.places import AttrPlace
from ..values.base import is_graph
from ..values.sequences import GraphSequence, Live, as_sequence
from ..values.user_code import converted

_NOTHING = object()


class Counting:
    """`itertools.count(start, step)`."""

    @converted_too
    def __init__(self, start: Any = 0, step: Any = 1) -> None:
        self.value = start
        self.step = step

    @converted_too
    def __iter__(self) -> Counting:
        return self

    @converted_too
    def __next__(self) -> Any:
        value = self.value
        self.value = value + self.step
        return value


class Repeating:
    """`itertools.repeat(value)`."""

    @converted_too
    def __init__(self, value: Any) -> None:
        self.value = value

    @converted_too
    def __iter__(self) -> Repeating:
        return self

    @converted_too
    def __next__(self) -> Any:
        return self.value


class Cycling:
    """`itertools.cycle(items)` of some items that are there already."""

    @converted_too
    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self.position = 0

    @converted_too
    def __iter__(self) -> Cycling:
        return self

    @converted_too
    def __next__(self) -> Any:
        if len(self.items) == 0:
            raise StopIteration
        value = self.items[self.position]
        self.position = (self.position + 1) % len(self.items)
        return value


class Numbered:
    """`enumerate(items, start)` of an iterator of the user's."""

    @converted_too
    def __init__(self, items: Any, number: Any) -> None:
        self.items = items
        self.number = number

    @converted_too
    def __iter__(self) -> Numbered:
        return self

    @converted_too
    def __next__(self) -> Any:
        value = next(self.items)
        number = self.number
        self.number = number + 1
        return number, value


class Zipped:
    """`zip(...)` of iterators of the user's."""

    @converted_too
    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    @converted_too
    def __iter__(self) -> Zipped:
        return self

    @converted_too
    def __next__(self) -> Any:
        found: list[Any] = []
        for part in self.parts:
            item = next(part)
            found.append(item)
        return tuple(found)


class Listed:
    """`iter(values)` of what has items by number: a list, which may grow meanwhile, a tensor, a sequence."""

    @converted_too
    def __init__(self, values: Any) -> None:
        self.values = values
        self.position = 0
        self.is_over = False

    @converted_too
    def __iter__(self) -> Listed:
        return self

    @converted_too
    def __next__(self) -> Any:
        position = self.position
        if self.is_over or position >= len(self.values):
            self.is_over = True
            raise StopIteration
        self.position = position + 1
        return self.values[position]

    def is_known(self) -> bool:
        """Whether Python knows where it stands."""
        return not any(map(is_graph, (self.position, self.is_over, self.length())))

    def step(self) -> Any:
        """The next item, by Python alone where it knows which that is."""
        if not self.is_known():
            return converted(self.__next__)()
        if self.is_over or not self.has_more():
            self.end()
            raise StopIteration
        return self.take(self.position)

    def length(self) -> Any:
        """How many items there are, those taken included."""
        values = self.values
        return values.length() if isinstance(values, GraphList) else as_sequence(values).length  # type: ignore[union-attr]

    def has_more(self) -> Any:
        """Whether an item is left."""
        values = self.values
        return values.has(self.position) if isinstance(values, GraphSequence) else self.position < self.length()

    def take(self, position: Any) -> Any:
        """Item `position`, behind which it stands from now on."""
        self._set("position", position + 1)
        return self.values[position]

    def end(self) -> None:
        """Give nothing any more."""
        self._set("is_over", True)

    def _set(self, name: str, value: Any) -> None:
        note_write(AttrPlace(self, name))
        setattr(self, name, value)


class OfList:
    """What `enumerate`, `zip` and `reversed` of tuples and lists, which may grow, give where no variable keeps it.

    Whoever asks for items gets them from Python, as long as the lists are Python's; a loop counts through them.
    """

    def __init__(self, sequence: GraphSequence) -> None:
        self.sequence = sequence
        self._items: Any = None

    def __iter__(self) -> Any:
        if self._items is None:
            self._items = steps_of(self.sequence)
        return self._items

    def __next__(self) -> Any:
        return next(iter(self))

    def handed_on(self) -> GraphSequence | None:
        """What another one goes through in its place from now on; None if it was begun with."""
        if self._items is not None:
            return None
        self._items = _gone()
        return self.sequence

    def for_loop(self, to_end: bool = False) -> Any:
        """What a loop goes through, or, if it was begun with, Python's iterator. to_end: no `break` leaves it."""
        if self._items is None:
            self._items = iter(()) if to_end else Listed(self.sequence)
            return self.sequence if to_end else self._items
        return self._items


def _gone() -> Iterator[Any]:
    refuse("what enumerate(), zip() or reversed() give, asked beside what was made of it,")
    yield


def steps_of(sequence: GraphSequence) -> Iterator[Any]:
    """The items of a sequence, asked for one by one, as long as Python knows whether there is another one."""
    index = 0
    while True:
        there = sequence.has(index)
        if is_graph(there):
            refuse("iteration outside of a converted `for`")
        if not there:
            return
        yield sequence.at(index)
        index += 1


class Keepable(ABC):
    """What can come to know where it stands (a generator expression)."""

    @abstractmethod
    def keep(self) -> None:
        """Know it from now on."""


def as_listed(values: Any) -> Listed | None:
    """What goes through a list, tuple, range or tensor and knows where it stands; None for others."""
    if isinstance(values, OfList):
        values = values.for_loop()
    if isinstance(values, (Listed, GraphList)):
        return values if isinstance(values, Listed) else Listed(values)
    if type(values) in (tuple, range, str):
        return Listed(by_number(values)) if len(values) else None
    if type(values) is list:
        return Listed(Live(values.__len__, lambda index: (GraphList(values) if is_graph(index) else values)[index]))
    sequence = as_sequence(values)
    return None if sequence is None else Listed(values if is_graph(values) else sequence)


def by_number(values: Any) -> GraphSequence:
    """A list, tuple, text or range of Python's, as what a number of the program may count through."""
    if isinstance(values, range):
        return GraphSequence(len(values), lambda index: values.start + index * values.step)
    return GraphSequence(len(values), GraphList(values).__getitem__)


def kept_iterator(items: Any) -> Any:
    """What a builtin such as `enumerate` gave, as an iterator that knows where it stands."""
    if isinstance(items, OfList):
        return items.for_loop()
    if isinstance(items, Keepable):
        items.keep()
        return items
    is_counted = isinstance(items, GraphSequence) and not isinstance(items, GraphRange)
    return Listed(items) if is_counted else items


class Calling:
    """`iter(function, last)`."""

    @converted_too
    def __init__(self, function: Callable[[], Any], last: Any) -> None:
        self.function = function
        self.last = last

    @converted_too
    def __iter__(self) -> Calling:
        return self

    @converted_too
    def __next__(self) -> Any:
        value = self.function()
        if value is self.last or value == self.last:
            raise StopIteration
        return value


def _repeat(value: Any, times: Any = _NOTHING) -> Any:
    if is_number(times):
        return GraphList([value]) * times
    return Repeating(value) if times is _NOTHING else itertools.repeat(value, times)


def _cycle(items: Iterable[Any]) -> Any:
    known = GraphList(items) if isinstance(items, (list, tuple, range)) and not is_open(items) else []
    return Cycling(known) if known else itertools.cycle(items)


ENDLESS: dict[Any, Callable[..., Any]] = {itertools.count: Counting, itertools.repeat: _repeat, itertools.cycle: _cycle}
