"""Generators that hand their items to their consumer, so that a tensor may decide which items there are.

The generator's function runs from its start, converted such that each `yield` calls a `Sink` (`transformers/push.py`).
A generator expression has its clauses for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CellType
from typing import Any

from ...core.errors import UnsupportedError
from ..state.cells import closed_over
from ..state.journal import note_spent, note_write
from ..state.places import CellPlace
from .logic import convert_not
from .protocols import truth

Function = Callable[..., Any]


class _Variable(CellPlace):
    """A variable of a loop, which nobody knows that does not know the loop."""

    def __init__(self, owner: Any, name: str, value: Any) -> None:
        super().__init__(name, CellType(value))
        self.owner = owner


class Sink:
    """A loop's body, called with each item. The loop's variables are shared with the function that gives the items."""

    def __init__(self, body: Function, values: Sequence[Any], names: Sequence[str], test: Function | None) -> None:
        self._body = body
        self._places = [_Variable(self, name, value) for name, value in zip(names, values)]
        self._test = test
        self._left = _Variable(self, "left", False)
        self._raised: Exception | None = None
        self._cells = closed_over((body, *([] if test is None else [test])))

    @property
    def values(self) -> tuple[Any, ...]:
        """The loop's variables."""
        return tuple(place.get() for place in self._places)

    @property
    def is_left(self) -> Any:
        """Whether the loop was left: a bool, or a condition of the program."""
        return self._left.get()

    def released(self) -> tuple[Any, ...]:
        """The loop's variables, once it is over. Nothing is held any more that refers to this, or to the items."""
        values = self.values
        self.__dict__.clear()
        return values

    def give(self, item: Any) -> Any:
        """Run the loop's body; whether the loop is left then."""
        for cell in self._cells:
            note_write(cell)
        for place, value in zip(self._places, self._body(item, *self.values)):
            note_write(place)
            place.set(value)
        if self._test is None:
            return False
        note_write(self._left)
        self._left.set(convert_not(truth(self._test(*self.values))))
        return self.is_left

    def give_watched(self, item: Any) -> Any:
        """`give(item)`; what is raised there leaves the generator, and is raised behind it."""
        try:
            return self.give(item)
        except Exception as err:  # noqa: BLE001 - whatever it is, the generator's own handlers must not see it
            self._raised = err
            return True

    def raise_again(self) -> None:
        """Raise what came up in the loop's body while a `try` of the generator was open around it."""
        if self._raised is not None:
            raise self._raised


class Pushes:
    """What gives its items one by one, in place of being asked for them.

    An abstract class without a metaclass: `isinstance` is asked of whatever a loop goes through, and must not ask that.
    """

    is_watched = False
    """Whether something in it runs when it is closed, so that it gives items by itself only up to its end."""
    is_placed = False
    """Whether it knows where it stands, so that a tensor may decide what is taken of it."""
    is_giving = False
    """Whether a loop goes through it just now, which nobody may ask for items meanwhile."""

    def is_fresh(self) -> bool:
        """Whether nothing was taken of it yet."""
        raise NotImplementedError

    def push(self, sink: Sink) -> Any:
        """Give all items, or those up to the one that the sink is left by; what the generator returns."""
        raise NotImplementedError


def pushing(iterable: Any, to_end: bool = False) -> bool:
    """Whether the iterable gives its items by itself; `to_end`: who asks takes all of them."""
    return isinstance(iterable, Pushes) and iterable.is_fresh() and (to_end or not iterable.is_watched)


def push_all(
    items: Pushes, body: Function, values: tuple[Any, ...], names: tuple[str, ...], test: Function | None
) -> tuple[Any, ...]:
    """The loop variables after `for item in items: body`."""
    if not items.is_placed:
        note_spent(items)
    sink = Sink(body, values, names, test)
    push_into(sink, items)
    return sink.released()


def push_into(sink: Sink, items: Pushes) -> Any:
    """Let `items` give what it has to the sink; what the generator returns."""
    items.is_giving = True
    try:
        value = items.push(sink)
        sink.raise_again()
        return value
    finally:
        items.is_giving = False


def refuse_giving(items: Pushes) -> None:
    """Raise UnsupportedError where a loop goes through the items, whose place nobody knows but who gives them."""
    if items.is_giving:
        raise UnsupportedError(
            "an item of a generator is taken inside of a loop over the same generator",
            hint="make a list of what it gives first and go through an iterator of that (`iter(list(...))`)",
        )
