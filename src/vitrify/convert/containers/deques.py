"""`GraphDeque`: what a deque is in converted code. It holds one list, so that a tensor may decide how long it is."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from ...core.pytree import OpenDeque, is_open, list_in
from ...ir.numbers import as_number
from ...ops.select import maximum
from ..values.base import is_graph
from ..values.flags import both, negated
from ..values.user_errors import for_user, note_user_error
from .by_position import at_position, is_at_position, is_put_at_position, put_at_position
from .dicts import must_hold
from .lists import GraphList, added, as_list, refuse
from .positions import must_have
from .searching import index_of, remove_from


def _compared(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A comparison of deques of known content without a tensor; others are compared item by item before."""

    def method(self: GraphDeque, other: Any) -> Any:
        if not is_deque(other):
            return NotImplemented
        return function(self.real(), other.real() if isinstance(other, GraphDeque) else other)

    return method


class GraphDeque(OpenDeque):
    """A deque that can go on in a program when a tensor decides how long it is.

    `watches`: a list for each loop that goes through it now, whose one item says whether the deque was changed since.
    """

    __slots__ = ()

    def __init__(self, values: Any, maxlen: int | None = None) -> None:
        super().__init__(values)
        self.maxlen = maxlen
        self.watches: list[GraphList] = []

    # -- content ----------------------------------------------------------------------------------------------------

    def length(self) -> Any:
        """The length: an int, or a 0-D tensor."""
        return self.values.length()

    def _note(self) -> None:
        """Tell the loops that go through it that it changes."""
        for watch in self.watches:
            watch[0] = True

    def _fit(self, kept: slice) -> None:
        """Have no more items than may be: those of the slice `kept`."""
        if self.maxlen is None:
            return
        if is_open(self.values):
            kept = kept if self.maxlen else slice(0)
            self.values.change(self.values[kept].items)
        elif len(self.values) > self.maxlen:
            self.values[:] = self.values[kept] if self.maxlen else []

    def _fit_right(self) -> None:
        self._fit(slice(-(self.maxlen or 0), None))

    def _fit_left(self) -> None:
        self._fit(slice(self.maxlen))

    def _must_have(self, index: Any) -> None:
        """Let the program raise what a deque does for a position outside of it."""
        if isinstance(index, slice):
            raise TypeError("sequence index must be integer, not 'slice'")
        must_have(self.length(), index, "deque index out of range")

    @contextmanager
    def watched(self) -> Iterator[Callable[..., None]]:
        """What is called before each item is taken, and at the end, with whether that happens at all."""
        watch = GraphList([False])
        self.watches.append(watch)

        def check(is_asked: Any = True) -> None:
            same = negated(both(is_asked, watch[0]))
            error = RuntimeError("deque mutated during iteration")
            if same is False:
                raise note_user_error(error)
            must_hold(same, error)

        try:
            yield check
        finally:
            self.watches.remove(watch)

    # -- reading ----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.values)

    def __bool__(self) -> bool:
        return len(self.values) > 0

    @for_user
    def __iter__(self) -> Any:
        with self.watched() as check:
            for item in self.values:
                yield item
                check()

    def __reversed__(self) -> Any:
        return reversed(self.values)

    def __contains__(self, value: Any) -> bool:
        return value in self.values

    @for_user
    def __getitem__(self, index: Any) -> Any:
        self._must_have(index)
        return at_position(self.values, index) if is_at_position(self.values, index) else self.values[index]

    @for_user
    def index(self, *args: Any) -> Any:
        """`deque.index`."""
        return index_of(self.values, deque, *args)

    @for_user
    def count(self, value: Any) -> Any:
        """`deque.count`."""
        return self.values.count(value)

    # -- changing ---------------------------------------------------------------------------------------------------

    @for_user
    def __setitem__(self, index: Any, value: Any) -> None:
        self._must_have(index)
        if is_put_at_position(self.values, index):
            put_at_position(self.values, index, lambda position: self.values.__setitem__(position, value))
        else:
            self.values[index] = value

    @for_user
    def __delitem__(self, index: Any) -> None:
        self._must_have(index)
        self._note()
        del self.values[index]

    @for_user
    def append(self, value: Any) -> None:
        """`deque.append`."""
        self._note()
        self.values.append(value)
        self._fit_right()

    @for_user
    def appendleft(self, value: Any) -> None:
        """`deque.appendleft`."""
        self._note()
        self.values.insert(0, value)
        self._fit_left()

    @for_user
    def extend(self, values: Any) -> None:
        """`deque.extend`."""
        self._note()
        self.values.extend(self._given(values))
        self._fit_right()

    @for_user
    def extendleft(self, values: Any) -> None:
        """`deque.extendleft`."""
        self._note()
        self.values[:0] = self._given(values)[::-1]
        self._fit_left()

    def _given(self, values: Any) -> Any:
        """A list of the values of an iterable; another one than its own."""
        values = list_in(values)
        return values.copy() if values is self.values else as_list(values)

    @for_user
    def insert(self, index: Any, value: Any) -> None:
        """`deque.insert`."""
        if self.maxlen is not None:
            error = IndexError("deque already at its maximum size")
            room = self.length() < self.maxlen
            if room is False:
                raise error
            must_hold(room, error)
        self._note()
        self.values.insert(index, value)

    @for_user
    def pop(self) -> Any:
        """`deque.pop`."""
        return self._taken(-1)

    @for_user
    def popleft(self) -> Any:
        """`deque.popleft`."""
        return self._taken(0)

    def _taken(self, index: int) -> Any:
        error = IndexError("pop from an empty deque")
        has_items = self.length() > 0
        if has_items is False:
            raise note_user_error(error)
        must_hold(has_items, error)
        self._note()
        return self.values.pop(index)

    @for_user
    def remove(self, value: Any) -> None:
        """`deque.remove`."""
        self._note()
        remove_from(self.values, deque, value)

    @for_user
    def rotate(self, n: Any = 1) -> None:
        """`deque.rotate`."""
        length = self.length()
        if not is_graph(length) and length < 2:
            return
        self._note()
        at = -n % (as_number(maximum(length, 1)) if is_graph(length) else length)
        values = self.values
        if is_graph(at):
            values.change(added(values[at:], values[:at]).opened())
        else:
            values[:] = [*values[at:], *values[:at]]

    def clear(self) -> None:
        """`deque.clear`."""
        self._note()
        self.values.clear()

    def reverse(self) -> None:
        """`deque.reverse`."""
        self.values.reverse()

    # -- operators and copies ---------------------------------------------------------------------------------------

    def _of(self, values: GraphList) -> GraphDeque:
        made = GraphDeque(values, self.maxlen)
        made._fit_right()
        return made

    @for_user
    def __add__(self, other: Any) -> Any:
        if not is_deque(other):
            raise TypeError(f'can only concatenate deque (not "{type(other).__name__}") to deque')
        return self._of(added(self.values, as_list(list_in(other))))

    def __radd__(self, other: Any) -> Any:
        if not isinstance(other, deque):
            return NotImplemented
        return GraphDeque(GraphList(), other.maxlen)._of(added(GraphList(other), self.values))

    def __iadd__(self, other: Any) -> Any:
        self.extend(other)
        return self

    def __mul__(self, times: Any) -> Any:
        return self._of(self.values * times)

    __rmul__ = __mul__

    def __imul__(self, times: Any) -> Any:
        self._note()
        self.values *= times
        self._fit_right()
        return self

    def copy(self) -> GraphDeque:
        """`deque.copy`."""
        return GraphDeque(self.values.copy(), self.maxlen)

    def snapshot(self) -> GraphDeque:
        """A deque of the same content, for a trace that puts it back later."""
        return GraphDeque(self.values.snapshot(), self.maxlen)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return GraphDeque(deepcopy(self.values, memo), self.maxlen)

    def real(self) -> deque[Any]:
        """Python's own of the same content, which has to be known."""
        return deque(self.values, self.maxlen)

    __eq__, __ne__ = _compared(operator.eq), _compared(operator.ne)
    __lt__, __le__ = _compared(operator.lt), _compared(operator.le)
    __gt__, __ge__ = _compared(operator.gt), _compared(operator.ge)
    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return self.real().__reduce__()

    def __repr__(self) -> str:
        if is_open(self.values):
            refuse("the text")
        return repr(self.real())


GraphDeque.__name__ = "deque"  # what messages of Python call it


def is_deque(value: Any) -> bool:
    """Whether it is a deque, in converted code or Python's own."""
    return isinstance(value, (OpenDeque, deque))
