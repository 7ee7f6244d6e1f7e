"""Comprehensions, and the builtins that use up a generator expression: loops that collect, whoever decides.

On Python values each means exactly what Python means, laziness of generator expressions included. Where a tensor
decides a condition or the number of items, the loop becomes part of the program.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import Any, cast

from ...core.errors import UnsupportedError
from ...core.pytree import OverList, list_in
from ..containers.dicts import partial_items
from ..containers.displays import new_list
from ..containers.each_key import for_each_key
from ..containers.making import new_dict, new_set
from ..state.journal import is_journaling, note_left, note_spent, note_write
from ..state.places import ContentPlace
from ..values.base import is_graph
from ..values.sequences import GraphSequence, as_sequence
from ..values.user_code import user_method
from ..values.user_errors import thrown
from .branches import convert_ifelse
from .endless import Keepable, Listed, as_listed
from .logic import convert_and, convert_not, convert_or
from .loops import convert_for
from .protocols import Stepping, iterate, listed_in, truth
from .pushed import Pushes, Sink, pushing, refuse_giving

Function = Callable[..., Any]
Combine = Callable[[Any, Function], Any]


class Each:
    """One `for ... in iterable if tests` of a comprehension and what it makes of an item (maybe another `for`)."""

    def __init__(self, iterable: Any, element: Function, *tests: Function, unpack: Function | None = None) -> None:
        self.iterable = iterable
        self.element = element
        self.tests = tests
        self.parts = unpack or _parts_for(element)

    @property
    def is_nested(self) -> bool:
        """Whether there is a further `for` in it."""
        return "each" in self.element.__code__.co_names

    def fold(self, combine: Combine, state: Any, goes_on: Function | None = None) -> Any:
        """`state = combine(state, element)` for each element, given as a function so that it may be computed late."""

        element, tests, parts = self.element, self.tests, self.parts  # in whose reach variables are looked for

        def step(item: Any, state: Any) -> tuple[Any]:
            return (_after(element, parts(item), tests, combine, state),)

        if self.is_dynamic():
            state = _settled(state)
        (state,) = convert_for(self.iterable, step, (state,), ("the comprehension",), goes_on)
        return state

    def is_dynamic(self) -> bool:
        """Whether a tensor decides how many items there are."""
        if partial_items(self.iterable) is not None or pushing(self.iterable, to_end=True):
            return True
        if isinstance(self.iterable, Listed):
            return not self.iterable.is_known()
        sequence = as_sequence(self.iterable)
        return sequence is not None and not isinstance(sequence.length, int)

    def __iter__(self) -> Iterator[Any]:
        """Its elements one by one, each computed when asked for; every condition must be a Python value."""
        for item in _python_items(self.iterable):
            parts = self.parts(item)
            if all(_decided(test(*parts)) for test in self.tests):
                value = self.element(*parts)
                if isinstance(value, Each):
                    yield from value
                else:
                    yield value


def _after(element: Function, parts: Any, tests: tuple[Function, ...], combine: Combine, state: Any) -> Any:
    """The state behind an item that was taken apart, if the tests hold of it."""
    for position, test in enumerate(tests):
        holds = truth(test(*parts))
        if is_graph(holds):
            return _only_if(holds, partial(_after, element, parts, tests[position + 1 :], combine), state)
        if not holds:
            return state
    return combine(state, lambda: element(*parts))


def _parts_for(element: Function) -> Function:
    """How an item becomes arguments: as it is, or taken apart as an assignment to several names does it."""
    count = element.__code__.co_argcount
    return _alone if count == 1 else lambda item: _unpacked(item, count)


def _alone(item: Any) -> tuple[Any]:
    return (item,)


def _unpacked(item: Any, count: int) -> tuple[Any, ...]:
    if not hasattr(item, "__iter__") and not hasattr(item, "__getitem__"):
        raise TypeError(f"cannot unpack non-iterable {type(item).__name__} object")
    found = []
    for value in item:
        found.append(value)
        if len(found) > count:
            raise ValueError(f"too many values to unpack (expected {count})")
    if len(found) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(found)})")
    return tuple(found)


def _only_if(holds: Any, change: Function, state: Any) -> Any:
    (state,) = convert_ifelse(
        holds, lambda old: (change(old),), lambda old: (old,), (_settled(state),), ("the comprehension",)
    )
    return state


def _decided(holds: Any) -> Any:
    holds = truth(holds)
    if is_graph(holds):
        raise _undecided("a tensor decides whether this generator expression gives an item")
    return holds


def _python_items(iterable: Any) -> Any:
    sequence = as_sequence(iterable)
    if sequence is None:
        return iterate(iterable) if isinstance(iterable, Listed) else iterable
    if not isinstance(sequence.length, int):
        raise _undecided("a tensor decides how many items this generator expression gives")
    return (sequence.at(i) for i in range(sequence.length))


def _undecided(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"{what}, and it is not used up at once", hint="make it a list ([...]), or use it inside any(), all() or sum()"
    )


def list_of(*clause: Any, unpack: Function | None = None) -> Any:
    """`[element for item in iterable if test]`."""
    return _list(Each(*clause, unpack=unpack))


def set_of(*clause: Any, unpack: Function | None = None) -> Any:
    """`{element for item in iterable if test}`."""
    return Each(*clause, unpack=unpack).fold(_ADD, new_set(()))


def dict_of(*clause: Any, unpack: Function | None = None) -> Any:
    """`{key: value for item in iterable if test}`."""
    return Each(*clause, unpack=unpack).fold(_STORE, new_dict({}))


def each(*clause: Any, unpack: Function | None = None) -> Each:
    """A further `for` of a comprehension."""
    return Each(*clause, unpack=unpack)


def generator(iterable: Any, *functions: Any, unpack: Function | None = None) -> GeneratorExpression:
    """`(element for item in iterable if test)`; the first iterable is asked for its iterator at once."""
    iterable = list_in(_iterated(iterable))
    known = partial_items(iterable) is not None or pushing(iterable) or isinstance(iterable, Listed)
    found = iterable if known else as_sequence(iterable)
    clause = Each(iterate(iterable) if found is None else found, *functions, unpack=unpack)
    return GeneratorExpression(clause, iterable)


def _collecting(change: Callable[[Any, Any], None]) -> Combine:
    """Change a container by each element."""

    def change_noted(items: Any, value: Any) -> Any:
        if is_journaling() and not isinstance(items, OverList):
            note_write(ContentPlace(items))
        change(items, value)
        return items

    return _WithEach(change_noted)


class _WithEach:
    """`change(state, element)` for each element, those of a further `for` included, as long as it goes on."""

    def __init__(self, change: Callable[[Any, Any], Any], goes_on: Function | None = None) -> None:
        self._change = change
        self._goes_on = goes_on

    def __call__(self, state: Any, element: Function) -> Any:
        value = element()
        return value.fold(self, state, self._goes_on) if isinstance(value, Each) else self._change(state, value)


_APPEND = _collecting(lambda items, value: items.append(value))
_ADD = _collecting(lambda items, value: for_each_key(items.add, value))
_STORE = _collecting(lambda items, pair: for_each_key(lambda key: items.__setitem__(key, pair[1]), pair[0]))


def _list(clause: Each) -> Any:
    return clause.fold(_APPEND, new_list([]))


class GeneratorExpression(Generator[Any, Any, None], Pushes, Keepable):
    """A generator expression: an ordinary generator, which builtins that use it up at once may also fold.

    One that a variable keeps goes through its items by number where it can, and so knows where it stands.
    """

    def __init__(self, clause: Each, items: Any = None) -> None:
        self.clause = clause
        self._items = items
        self.started: Generator[Any, Any, None] | None = None
        self._was_left = False
        self.is_left: Any = False
        """Whether a loop over it ended before its last element, as far as a tensor decided that."""

    def keep(self) -> None:
        """Go through the items by number, if nothing was taken of them and none of them stands for several."""
        found = as_listed(self._items) if self.is_fresh() and not self.clause.is_nested else None
        if found is not None:
            self.clause.iterable, self.is_placed = found, True

    def _running(self) -> Generator[Any, Any, None]:
        refuse_giving(self)
        if self.is_left is not False:
            raise UnsupportedError(
                "the rest of a generator is asked for, of which a tensor decides where a loop left it",
                hint="make a list of what it gives first (`list(...)`), or go on in one loop",
            )
        if self.is_placed:
            return iter(self.clause)  # type: ignore[arg-type]
        if self.started is None:
            self.started = iter(self.clause)  # type: ignore[assignment]
        assert self.started is not None
        return self.started

    def __next__(self) -> Any:
        return next(self._running())  # whoever takes it looks whether it may be taken here

    def send(self, value: Any) -> Any:
        """The next element; only None can be sent, as to every generator expression."""
        note_spent(self)
        return self._running().send(value)

    def throw(self, *args: Any) -> Any:
        """Raise an exception where it waits."""
        note_spent(self)
        return self._running().throw(*thrown(args))

    def close(self) -> None:
        """Give no more elements."""
        note_spent(self)
        if self.is_placed:
            self.clause.iterable.end()
        self._running().close()

    def python_form(self) -> Iterator[Any] | None:
        """Python's own generator of its elements, where that knows what this does not: where a further `for` stands."""
        return iter(self.clause) if self.clause.is_nested else None

    def go_on_with(self, python: Any) -> None:
        """Be Python's own generator from here on, of which items were taken."""
        self.started = python

    def element_of(self) -> Function | None:
        """What makes its element of an item, where it knows where it stands and all items have one; else None."""
        clause = self.clause
        is_simple = self.is_placed and not clause.tests
        return (lambda item: clause.element(*clause.parts(item))) if is_simple else None

    def is_fresh(self) -> bool:
        """Whether it can be folded, and was not yet."""
        return self.started is None and self.is_left is False

    def reset_to_now(self) -> Function:
        """What lets it begin with the element that is next now, and says whether it could."""
        clause, left = self.clause, (self._was_left, self.is_left)

        def reset() -> bool:
            can_begin = self.started is None and not isinstance(clause.iterable, Iterator)
            if can_begin:
                self.clause, (self._was_left, self.is_left) = clause, left
            return can_begin

        return reset

    def push(self, sink: Sink) -> Any:
        """Give its elements. Where Python decides how many are taken, the others are left."""
        give = _WithEach(lambda left, element: sink.give(element), convert_not)
        if self.is_placed:
            self.clause.fold(give, False, convert_not)
            return
        sequence = self.clause.iterable
        if isinstance(sequence, GraphSequence) and isinstance(sequence.length, int):
            self.clause.iterable = _python_items(sequence)
        clause = self.take()
        assert clause is not None
        is_open = clause.is_dynamic()
        clause.fold(give, False, convert_not)
        is_unsure = is_graph(sink.is_left) or is_open or clause.is_nested
        self.is_left = sink.is_left if is_unsure else False
        is_over = self.is_left is not False or sink.is_left is False
        if is_over and not self._was_left:  # there is no rest that anybody may ask for, and there was none before
            self.clause = Each((), clause.element)
        self._was_left = True

    def leave(self, found: Any) -> None:
        """Remember that it was gone through up to what decides `found`: if a tensor does, nobody can tell how far."""
        if is_graph(found) and not self.is_placed:
            self.is_left = found

    def take(self) -> Each | None:
        """What is left of it, to be folded by a caller who uses it up; None if it has to be iterated."""
        if not self.is_fresh():
            return None
        clause = self.clause
        if isinstance(clause.iterable, GraphSequence) or partial_items(clause.iterable) is not None:
            self.clause = Each((), clause.element)
        return clause


def _iterated(value: Any) -> Any:
    """`value`, or what the `__iter__` of a user's class gives."""
    return value if isinstance(value, Listed) or user_method(value, "__iter__") is None else listed_in(iterate(value))


def clause_of(value: Any) -> Each | None:
    """What folds over `value`: an unstarted generator expression, or something whose length a tensor decides."""
    value = _iterated(value)
    if isinstance(value, GeneratorExpression):
        return value.take()
    clause = Each(value, lambda item: item)
    return clause if clause.is_dynamic() else None


def listed(value: Any) -> Any:
    """A generator expression, or what a tensor says is left of an iterator or how long it is, as a list; anything else
    as it is."""
    if isinstance(value, Listed) and not value.is_known():
        return _list(Each(value, lambda item: item))
    value = list_in(_iterated(value))
    clause = value.take() if isinstance(value, GeneratorExpression) else None
    return gathered(value) if clause is None else _list(clause)


def gathered(value: Any) -> Any:
    """A sequence such as a range or a map, of which a tensor says how long it is, as a list; anything else as it is."""
    is_open_sequence = isinstance(value, GraphSequence) and not isinstance(value.length, int)
    return _list(Each(value, lambda item: item)) if is_open_sequence else value


def as_set(value: Any) -> Any:
    """A generator expression as the set of what it gives; anything else as it is."""
    value = gathered(_iterated(value))
    clause = value.take() if isinstance(value, GeneratorExpression) else None
    return value if clause is None else clause.fold(_ADD, new_set(()))


def dict_of_generator(pairs: GeneratorExpression) -> Any:
    """A dict of the pairs that a generator gives; the generator itself where it has to be asked for them."""
    clause = pairs.take()
    if clause is None:
        return pairs
    before: list[Any] = []

    def store(items: Any, pair: Any) -> None:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            *_, pair = builtins.dict([*before, cast("Any", pair)]).items()  # what is no pair is told with its number
        before.append((0, 0))
        for_each_key(lambda key: items.__setitem__(key, pair[1]), pair[0])

    return clause.fold(_collecting(store), new_dict({}))


def dict_of_pairs(pairs: Any) -> Any:
    """A dict of pairs of which a tensor decides how many there are; anything else as it is."""
    clause = Each(pairs, lambda pair: pair)
    return clause.fold(_STORE, new_dict({})) if clause.is_dynamic() else pairs


def keys_listed(value: Any) -> Any:
    """A dict of which only the program knows the keys, or a view of it, as a list; anything else as it is."""
    return value if partial_items(value) is None else _list(Each(value, lambda item: item))


def any_of(clause: Each, truth: Function) -> Any:
    """`any()` of a generator expression: stops at the first element that is true."""
    return _first(clause, convert_or, truth, stop_on=True)


def all_of(clause: Each, truth: Function) -> Any:
    """`all()` of a generator expression: stops at the first element that is false."""
    return _first(clause, convert_and, truth, stop_on=False)


def _first(clause: Each, combine: Function, truth: Function, stop_on: bool) -> Any:
    dynamic = clause.is_dynamic() or isinstance(clause.iterable, (Listed, Stepping))  # which tell how far this went

    def goes_on(found: Any) -> Any:
        if is_graph(found):
            return (convert_not(found) if stop_on else found) if dynamic else True
        return found is not stop_on

    def decides(value: Any) -> Any:
        return _first(value, combine, truth, stop_on) if isinstance(value, Each) else truth(value)

    found = clause.fold(lambda found, element: combine(found, lambda: decides(element())), not stop_on, goes_on)
    if is_graph(found) and isinstance(clause.iterable, Iterator):
        note_left(clause.iterable)
    return found


class _Summands(builtins.list[Any]):
    """What `sum()` adds while Python decides: Python's own sum is exact where adding one by one is not."""

    def __init__(self, start: Any) -> None:
        super().__init__()
        self.start = start

    def total(self) -> Any:
        """The sum so far."""
        return builtins.sum(self, self.start)


def _settled(state: Any) -> Any:
    """The state of a fold as a value that a tensor may choose."""
    return state.total() if isinstance(state, _Summands) else state


def _added(total: Any, value: Any) -> Any:
    if not isinstance(total, _Summands):
        return total + value
    total.append(value)
    return total


def sum_of(clause: Each, start: Any) -> Any:
    """`sum()` of a generator expression."""
    return _settled(clause.fold(_WithEach(_added), _Summands(start)))
