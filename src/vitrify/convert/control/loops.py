"""`while` and `for`: Python's own while everything is a Python value, a `while` operator where a tensor decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from types import MethodType
from typing import Any

from ...core.errors import ArgumentError, UnsupportedError
from ...core.pytree import OpenTable, list_in
from ...ir.builder import current_builder
from ...ir.numbers import as_number
from ...ir.program import Variable
from ..containers.deques import GraphDeque
from ..containers.dicts import must_hold, partial_items
from ..containers.lists import GraphList
from ..state.cells import closed_over
from ..state.journal import SpentError, is_nested, journaling, note_left
from ..state.ownership import OF_CALLER, let_go
from ..values.base import builder, is_graph, scalar_condition
from ..values.flags import both, negated
from ..values.handlers import catching, is_deep
from ..values.one_of import GraphOneOf, asked, each_option, is_option, left_of, settled, use_option
from ..values.sequences import GraphSequence, Live, as_sequence, constant
from ..values.user_code import class_attribute
from ..values.user_errors import note_user_error, without_frames
from .branches import convert_ifelse, trace_branches
from .endless import Listed, OfList
from .late_items import late_item
from .logic import convert_and, convert_not
from .loop_trace import trace_loop
from .protocols import Stepping, iterate, listed_in, truth
from .pushed import push_all, pushing

Function = Callable[..., Any]
# One iteration: from the variables of the loop to what they are behind it.
Body = Callable[..., tuple[Any, ...]]
MIN_LOOP_LENGTH = 4
MAX_TURNS = 20_000
"""How often Python may go round a loop of which nobody knows whether a run comes to it."""


def convert_while(
    test: Function, body: Body, values: tuple[Any, ...], names: tuple[str, ...], shared: Sequence[Any] = ()
) -> tuple[Any, ...]:
    """The loop variables after `while test: body`."""
    with let_go(values, OF_CALLER):
        return _while(test, body, values, names, shared, OF_CALLER)


def _while(
    test: Function, body: Body, values: tuple[Any, ...], names: tuple[str, ...], shared: Sequence[Any], holders: int
) -> tuple[Any, ...]:
    turn = 0
    while True:
        holds, writes = _probe(test, values, shared)
        if is_graph(holds) and writes:
            return _loop_of_writing_test(test, body, values, names, shared)
        if is_graph(holds):
            return trace_loop(test, body, values, names, shared, holders=holders)
        if not holds:
            return values
        _refuse_endless(turn)
        turn += 1
        values = _turn(body, values)


def _turn(body: Body, values: tuple[Any, ...], *items: Any) -> tuple[Any, ...]:
    """What an iteration makes of the loop variables."""
    given = (*items, *values)  # which the call keeps, too
    with let_go(values, 1), let_go(given, 1):
        return body(*given)


def _refuse_endless(turn: int) -> None:
    """Raise UnsupportedError for a loop that eager code may never come to: both paths of a decision are traced."""
    if turn >= MAX_TURNS and is_nested():
        raise UnsupportedError(
            f"a loop on a path that a tensor decides about went on for {turn} turns while that path was converted, "
            "and no tensor ends it",
            hint="give it an end, raise an error in its place, or leave its function out with @not_to_static",
        )


def _probe(test: Function, values: tuple[Any, ...], shared: Sequence[Any]) -> tuple[Any, bool]:
    """The test's value, and whether it writes anything.

    What it recorded and wrote is taken back when a tensor decides, for the loop asks again.
    """
    build = current_builder()
    if build is None:
        return truth(test(*values)), False
    mark, held = len(build.block.ops), dict(build.current)
    with journaling([*shared, *closed_over((test,))]) as journal, build.trial() as trial:
        found = None
        try:
            found = truth(test(*values))
        finally:
            if is_graph(found):
                journal.forget_local((values, found), in_block=False)
                journal.refuse_spent()
            writes = journal.is_changed() or build.is_anything_changed(held, mark)
            if not is_graph(found):  # what an error leaves behind stays, too
                trial.keep()
                journal.keep()
    return found, writes


def _loop_of_writing_test(
    test: Function, body: Body, values: tuple[Any, ...], names: Sequence[str], shared: Sequence[Any]
) -> tuple[Any, ...]:
    """A tensor loop whose test changes things: asked once before the loop and at the end of each iteration."""

    def step(holds: Any, *state: Any) -> tuple[Any, ...]:
        state = body(*state)
        again = truth(test(*state))
        return (scalar_condition(again, "while") if is_graph(again) else again, *state)

    first = scalar_condition(truth(test(*values)), "while")
    shared = [*shared, *closed_over((test, body))]
    state = (first, *values)
    return trace_loop(lambda holds, *state: holds, step, state, ("test", *names), shared, holders=OF_CALLER + 1)[1:]


def convert_for(
    iterable: Iterable[Any],
    body: Body,
    values: tuple[Any, ...],
    names: tuple[str, ...],
    test: Function | None = None,
    shared: Sequence[Any] = (),
) -> tuple[Any, ...]:
    """The loop variables after `for item in iterable: body`; `test` is asked before each item."""
    with let_go(values, OF_CALLER):
        iterable = settled(iterable)
        if isinstance(iterable, OfList):
            iterable = iterable.for_loop(to_end=test is None)
        if isinstance(iterable, GraphDeque):
            return _for_deque(iterable, body, values, names, test, shared)
        if isinstance(iterable, OpenTable):
            return _for_table(iterable, body, values, names, test, shared)
        iterable = list_in(iterable)
        if isinstance(iterable, GraphOneOf):
            return _for_option(iterable, body, values, names, test, shared)
        if pushing(iterable, to_end=test is None):
            return _for_pushed(iterable, body, values, names, test, shared)
        keys = partial_items(iterable)
        if keys is not None:
            return _for_keys(keys, body, values, names, test, shared)
        sequence = iterable.sequence() if isinstance(iterable, GraphList) else as_sequence(iterable)
        if isinstance(sequence, Live):
            return _for_live(sequence, body, values, names, test, shared)
        if sequence is not None and not isinstance(sequence.length, int):
            return _graph_for(sequence, 0, body, values, names, test, shared)
        known: Any = iterable if sequence is None else [sequence.at(i) for i in range(sequence.length)]
        if isinstance(known, range):
            return _for_range(known, body, values, names, test, shared)
        items = known if isinstance(known, Listed) else listed_in(iterate(known))
        if isinstance(items, Listed):
            return _for_listed(items, body, values, names, test, shared)
        if pushing(items, to_end=test is None):
            return _for_pushed(items, body, values, names, test, shared)
        return _for_items(items, body, values, names, test, shared)


def _for_pushed(
    items: Any, body: Body, values: tuple[Any, ...], names: tuple[str, ...], test: Function | None, shared: Any
) -> tuple[Any, ...]:
    """A loop over a generator, which calls the body."""
    go_on: Any = True if test is None else truth(test(*values))
    return convert_ifelse(go_on, lambda: push_all(items, body, values, names, test), lambda: values, (), names, shared)


def _for_option(
    iterable: GraphOneOf, body: Body, values: tuple[Any, ...], names: tuple[str, ...], test: Any, shared: Any
) -> tuple[Any, ...]:
    """A loop over what is of several kinds: one loop for each, of which one runs."""
    first, *others = left_of(iterable)

    def loop(items: Any) -> tuple[Any, ...]:
        return convert_for(items, body, values, names, test, shared)

    pred = scalar_condition(is_option(iterable.code, [first], others), "for")
    option = iterable.options[first]
    return trace_branches(pred, lambda: use_option(loop, option), lambda: loop(iterable), names, shared)


def _for_keys(
    items: Iterator[tuple[Any, Any]],
    body: Body,
    values: tuple[Any, ...],
    names: tuple[str, ...],
    test: Function | None,
    shared: Any,
) -> tuple[Any, ...]:
    """A loop over a dict some of whose keys only the program knows to be there: an iteration runs if its key is."""
    while True:
        go_on: Any = True if test is None else truth(test(*values))
        if not is_graph(go_on) and not go_on:
            return values
        item, there = next(items, (None, None))
        if there is None:
            return values
        pred = convert_and(go_on, lambda there=there: there)
        if is_graph(pred):
            values = _guarded(pred, body, item, values, names, shared, there)
        else:
            values = _turn(body, values, item)


def _for_deque(
    items: GraphDeque, body: Body, values: tuple[Any, ...], names: tuple[str, ...], test: Any, shared: Any
) -> tuple[Any, ...]:
    """A loop over a deque, which goes on behind no iteration that changed how many items there are."""
    with items.watched() as check:

        def step(item: Any, *state: Any) -> Any:
            check()
            return body(item, *state)

        values = convert_for(items.values, step, values, names, test, shared)
        check(True if test is None else truth(test(*values)))
    return values


def _for_table(
    items: OpenTable, body: Body, values: tuple[Any, ...], names: tuple[str, ...], test: Any, shared: Any
) -> tuple[Any, ...]:
    """A loop over a dict or set of the run, which goes on behind no iteration that changed how many keys there are."""
    size, what = items.length(), "Set" if items.kind is set else "dictionary"

    def check(is_asked: Any = True) -> None:
        error = RuntimeError(f"{what} changed size during iteration")
        length = items.length()
        changed = as_number(length != size) if is_graph(length) or is_graph(size) else length != size
        same = negated(both(is_asked, changed))
        if same is False:
            raise note_user_error(error)
        must_hold(same, error)

    def step(item: Any, *state: Any) -> Any:
        check()
        return body(item, *state)

    values = convert_for(items.listed().copy(), step, values, names, test, shared)
    check(True if test is None else truth(test(*values)))
    return values


def _for_live(
    items: Live,
    body: Body,
    values: tuple[Any, ...],
    names: tuple[str, ...],
    test: Function | None,
    shared: Sequence[Any],
) -> tuple[Any, ...]:
    """A loop over a list, unrolled as long as its length is Python's. The list may grow meanwhile."""
    position = 0
    while not is_graph(items.has(position)):
        go_on: Any = True if test is None else truth(test(*values))
        if (not is_graph(go_on) and not go_on) or not items.has(position):
            return values
        item = items.at(position)
        position += 1
        if is_graph(go_on):
            values = _guarded(go_on, body, item, values, names, shared)
        else:
            values = _turn(body, values, item)
    return _graph_for(items, position, body, values, names, test, shared)


def _for_items(
    items: Any, body: Body, values: tuple[Any, ...], names: tuple[str, ...], test: Function | None, shared: Any
) -> tuple[Any, ...]:
    """A loop over Python items, unrolled; once a tensor decides about going on, each iteration is guarded by it."""
    if isinstance(items, Stepping) and is_deep(items.place):
        return _for_attempts(items, body, values, names, test, shared)
    late = turn = 0
    while True:
        _refuse_endless(turn)
        turn += 1
        go_on: Any = True if test is None else truth(test(*values))
        if not is_graph(go_on) and not go_on:
            return values
        if is_graph(go_on) and not late and isinstance(items, Stepping):
            found = _rest_of_steps(items, body, values, names, test, shared)
            if found is not None:
                return found
        try:
            item = late_item(items, "a loop over the items", late) if is_graph(go_on) else next(items)
        except StopIteration:
            return values
        if is_graph(go_on) and not late:
            note_left(items)
        late += is_graph(go_on)
        if is_graph(go_on):
            values = _guarded(go_on, body, item, values, names, shared)
        else:
            values = _turn(body, values, item)


def _for_listed(
    items: Listed, body: Body, values: tuple[Any, ...], names: tuple[str, ...], test: Function | None, shared: Any
) -> tuple[Any, ...]:
    """A loop over `iter(...)`, which others may ask later for what is left of it, and the body meanwhile."""
    position = items.position
    if not items.is_known():
        return _while_listed(items, body, values, names, test, shared)
    while is_graph(items.is_over) or not items.is_over:
        length = items.length()
        if any(map(is_graph, (length, position, items.is_over))):  # it grew, or a tensor decided what the body took
            return _while_listed(items, body, values, names, test, shared)
        go_on: Any = True if test is None else truth(test(*values))
        if not is_graph(go_on) and not go_on:
            return values
        reached: list[Any] = []
        step = partial(_step_of_listed, items, position, reached, body)
        values = _guarded(go_on, step, None, values, names, shared) if is_graph(go_on) else step(None, *values)
        if not reached:  # the end, or a body that always raises
            return values
        position = reached[-1]
    return values


def _step_of_listed(items: Listed, position: Any, reached: list[Any], body: Body, _: Any, *state: Any) -> Any:
    """One iteration: the item at a position that Python knows, or the end. Tells the position that it reached."""
    if position >= items.length():
        items.end()
        return state
    state = body(items.take(position), *state)
    reached.append(items.position)
    return state


def _while_listed(
    items: Listed, body: Body, values: tuple[Any, ...], names: tuple[str, ...], test: Function | None, shared: Any
) -> tuple[Any, ...]:
    def goes_on(*state: Any) -> Any:
        wanted: Any = True if test is None else truth(test(*state))
        return convert_and(wanted, lambda: convert_and(convert_not(items.is_over), lambda: items.has_more()))

    def iteration(*state: Any) -> tuple[Any, ...]:
        return body(items.take(items.position), *state)

    return _while(goes_on, iteration, values, names, [*shared, *closed_over((body,))], OF_CALLER + 1)


def _for_attempts(
    items: Stepping, body: Body, values: tuple[Any, ...], names: tuple[str, ...], test: Any, shared: Any
) -> tuple[Any, ...]:
    """A loop over the items of a `__next__` that a tensor lets raise StopIteration."""
    step = MethodType(class_attribute(type(items.owner), "__next__"), items.owner)

    def goes_on(ended: Any, *state: Any) -> Any:
        return convert_and(convert_not(ended), lambda: True if test is None else truth(test(*state)))

    def iteration(ended: Any, *state: Any) -> tuple[Any, ...]:
        with catching(StopIteration, "what goes through the items"):
            error, item = builder().attempt(step)

        def end() -> tuple[Any, ...]:
            each_option(error, _refuse_others)
            return (True, *state)

        def go_on() -> tuple[Any, ...]:
            return (False, *body(item, *state))

        return convert_ifelse(asked(error, _is_none), go_on, end, (), ("ended", *names), shared)

    state = (False, *values)
    return _while(goes_on, iteration, state, ("ended", *names), [*shared, *closed_over((body,))], OF_CALLER + 1)[1:]


def _is_none(value: Any) -> bool:
    return value is None


def _refuse_others(error: BaseException) -> None:
    if not isinstance(error, StopIteration):
        raise error


def _rest_of_steps(
    items: Stepping, body: Body, values: tuple[Any, ...], names: tuple[str, ...], test: Any, shared: Any
) -> tuple[Any, ...] | None:
    """A tensor loop that asks a converted `__next__` for its items; None where that cannot be one.

    What the iterator changes in itself is carried like other attributes. Where its end would be the program's to find
    out, it is unrolled.
    """

    def step(*state: Any) -> tuple[Any, ...]:
        return body(next(items), *state)

    try:
        with builder().trial() as trial:
            found = trace_loop(test, step, values, names, shared)
            trial.keep()
            return found
    except SpentError:
        raise  # what the attempt took is gone
    except (ArgumentError, UnsupportedError, TypeError) as err:
        without_frames(err)
        return None


def _guarded(
    go_on: Variable,
    body: Body,
    item: Any,
    values: tuple[Any, ...],
    names: tuple[str, ...],
    shared: Any,
    there: Any = True,
) -> tuple[Any, ...]:
    """An iteration that runs where `go_on` holds; `there`: what says whether the item is, known to hold there."""

    def iteration() -> tuple[Any, ...]:
        if is_graph(there):
            builder().asserted.add((builder().block, there))
        return body(item, *values)

    return trace_branches(scalar_condition(go_on, "for"), iteration, lambda: values, names, shared)


def _for_range(
    items: range, body: Body, values: tuple[Any, ...], names: tuple[str, ...], test: Function | None, shared: Any
) -> tuple[Any, ...]:
    """A loop over a Python range: Python numbers while Python decides, then a tensor loop over the rest.

    Where the body needs the number itself (to index a list, say), the rest is unrolled instead.
    """
    for position, item in enumerate(items):
        go_on = True if test is None else truth(test(*values))
        if is_graph(go_on):
            return _rest_of_range(items[position:], body, values, names, test, shared)
        if not go_on:
            break
        values = _turn(body, values, item)
    return values


def _rest_of_range(
    items: range, body: Body, values: tuple[Any, ...], names: tuple[str, ...], test: Any, shared: Any
) -> tuple[Any, ...]:
    if len(items) >= MIN_LOOP_LENGTH:
        sequence = GraphSequence(len(items), lambda i: i * items.step + items.start)
        try:
            with builder().trial() as trial:
                values = _graph_for(sequence, 0, body, values, names, test, shared)
                trial.keep()
                return values
        except SpentError:
            raise  # what the attempt took is gone
        except (ArgumentError, UnsupportedError, TypeError):
            pass
    return _for_items(iter(items), body, values, names, test, shared)


def _graph_for(
    sequence: GraphSequence,
    start: int,
    body: Body,
    values: tuple[Any, ...],
    names: tuple[str, ...],
    test: Function | None,
    shared: Any,
) -> tuple[Any, ...]:
    """A tensor loop counting through a sequence whose length, or whose end, a tensor decides.

    The length is asked for before each item, because a list may grow while a loop goes through it.
    """

    def holds(index: Any, *state: Any) -> Any:
        within = sequence.has(index)
        return within if test is None else convert_and(within, lambda: test(*state))

    def step(index: Any, *state: Any) -> tuple[Any, ...]:
        builder().loop_counters[id(index)] = index
        return (index + 1, *body(sequence.at(index), *state))

    results = trace_loop(holds, step, (constant(start), *values), ("i", *names), shared, holders=OF_CALLER + 1)
    return results[1:]
