"""`while` and `for`: Python's own while everything is a Python value, a `while` operator where a tensor decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..core.errors import ArgumentError, UnsettledError, UnsupportedError
from ..core.pytree import OpenDict, OpenList, is_open
from ..ir.builder import current_builder
from ..ir.program import Block, Variable
from ..ir.regions import align_captures
from ..ops.control_flow import while_op
from .branches import trace_branches
from .carried import CarriedState, CarriedValue
from .carried_dict import CarriedDict
from .cells import closed_over
from .dicts import UnknownKeysError, partial_items
from .facts import FirstIterationDiffers
from .journal import Journal, SpentError, journaling
from .late_items import late_item
from .list_items import is_kept, keep
from .logic import convert_and
from .one_of import GraphOneOf, is_option, left_of, settled, use_option
from .optional import MaybeNoneError
from .ownership import note_forks, private
from .places import ContentPlace, place_parts, restore
from .plain_keys import check_carried
from .protocols import iterate, truth
from .raise_ import ENDED, run_path
from .sequences import GraphSequence, as_sequence, constant
from .sharing import Turn, enter_tracked, kept_flags, needs_tracking, outer_of, share_loop
from .unknown import Pending
from .values import builder, is_graph, is_tensor, scalar_condition

Function = Callable[..., Any]
MAX_ATTEMPTS = 12
MAX_PEELED = 3
MIN_LOOP_LENGTH = 4
OF_CALLER = 2
"""Loop variables are held by the variables of the caller, to which the results are assigned, and by a tuple."""


def convert_while(
    test: Function, body: Function, values: tuple[Any, ...], names: tuple[str, ...], shared: Sequence[Any] = ()
) -> tuple[Any, ...]:
    """The loop variables after `while test: body`."""
    while True:
        holds, writes = _probe(test, values, shared)
        if is_graph(holds):
            loop = _loop_of_writing_test if writes else trace_loop
            return loop(test, body, values, names, shared)
        if not holds:
            return values
        values = body(*values)


def _probe(test: Function, values: tuple[Any, ...], shared: Sequence[Any]) -> tuple[Any, bool]:
    """The test's value, and whether it writes anything.

    What it recorded and wrote is taken back when a tensor decides, for the loop asks again.
    """
    build = current_builder()
    if build is None:
        return truth(test(*values)), False
    held = dict(build.current)
    with journaling([*shared, *closed_over((test,))]) as journal, build.trial() as trial:
        found = None
        try:
            found = truth(test(*values))
        finally:
            if is_graph(found):
                journal.forget_local((values, found), in_block=False)
                journal.refuse_spent()
            writes = journal.is_changed() or bool(build.changed_since(held, build.block))
            if not is_graph(found):  # what an error leaves behind stays, too
                trial.keep()
                journal.keep()
    return found, writes


def _loop_of_writing_test(
    test: Function, body: Function, values: tuple[Any, ...], names: Sequence[str], shared: Sequence[Any]
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
    body: Function,
    values: tuple[Any, ...],
    names: tuple[str, ...],
    test: Function | None = None,
    shared: Sequence[Any] = (),
) -> tuple[Any, ...]:
    """The loop variables after `for item in iterable: body`; `test` is asked before each item."""
    iterable = settled(iterable)
    if isinstance(iterable, GraphOneOf):
        return _for_option(iterable, body, values, names, test, shared)
    items = partial_items(iterable)
    if items is not None:
        return _for_keys(items, body, values, names, test, shared)
    if isinstance(iterable, OpenList):
        return _for_list(iterable, body, values, names, test, shared)
    sequence = as_sequence(iterable)
    if sequence is not None and not isinstance(sequence.length, int):
        return _graph_for(sequence, 0, body, values, names, test, shared)
    known: Any = iterable if sequence is None else [sequence.at(i) for i in range(sequence.length)]
    if isinstance(known, range):
        return _for_range(known, body, values, names, test, shared)
    return _for_items(iterate(known), body, values, names, test, shared)


def _for_option(
    iterable: GraphOneOf, body: Function, values: tuple[Any, ...], names: tuple[str, ...], test: Any, shared: Any
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
    body: Function,
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
            values = body(item, *values)


def _for_list(
    items: OpenList,
    body: Function,
    values: tuple[Any, ...],
    names: tuple[str, ...],
    test: Function | None,
    shared: Sequence[Any],
) -> tuple[Any, ...]:
    """A loop over a list, unrolled as long as its length is Python's. The list may grow meanwhile."""
    position = 0
    while not is_open(items):
        go_on: Any = True if test is None else truth(test(*values))
        if (not is_graph(go_on) and not go_on) or position >= len(items):
            return values
        item = items[position]
        position += 1
        if is_graph(go_on):
            values = _guarded(go_on, body, item, values, names, shared)
        else:
            values = body(item, *values)
    sequence = as_sequence(items)
    assert sequence is not None
    return _graph_for(sequence, position, body, values, names, test, shared)


def _for_items(
    items: Any, body: Function, values: tuple[Any, ...], names: tuple[str, ...], test: Function | None, shared: Any
) -> tuple[Any, ...]:
    """A loop over Python items, unrolled; once a tensor decides about going on, each iteration is guarded by it."""
    while True:
        go_on: Any = True if test is None else truth(test(*values))
        if not is_graph(go_on) and not go_on:
            return values
        try:
            item = late_item(items, "a loop over the items") if is_graph(go_on) else next(items)
        except StopIteration:
            return values
        if is_graph(go_on):
            values = _guarded(go_on, body, item, values, names, shared)
        else:
            values = body(item, *values)


def _guarded(
    go_on: Variable,
    body: Function,
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
        return body(item, *values)  # type: ignore[no-any-return]

    return trace_branches(scalar_condition(go_on, "for"), iteration, lambda: values, names, shared)


def _for_range(
    items: range, body: Function, values: tuple[Any, ...], names: tuple[str, ...], test: Function | None, shared: Any
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
        values = body(item, *values)
    return values


def _rest_of_range(
    items: range, body: Function, values: tuple[Any, ...], names: tuple[str, ...], test: Any, shared: Any
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
    body: Function,
    values: tuple[Any, ...],
    names: tuple[str, ...],
    test: Function | None,
    shared: Any,
) -> tuple[Any, ...]:
    """A tensor loop counting through a sequence whose length, or whose end, a tensor decides.

    The length is asked for before each item, because a list may grow while a loop goes through it.
    """

    def holds(index: Any, *state: Any) -> Any:
        within = index < sequence.length
        return within if test is None else convert_and(within, lambda: test(*state))

    def step(index: Any, *state: Any) -> tuple[Any, ...]:
        return (index + 1, *body(sequence.at(index), *state))

    results = trace_loop(holds, step, (constant(start), *values), ("i", *names), shared, holders=OF_CALLER + 1)
    return results[1:]


def trace_loop(
    test: Function,
    body: Function,
    values: tuple[Any, ...],
    names: Sequence[str],
    shared: Sequence[Any] = (),
    peeled: int = 0,
    holders: int = OF_CALLER,
) -> tuple[Any, ...]:
    """Record a `while` operator and return the loop variables after it.

    `holders`: how many refer to each of `values` without keeping it: tuples of them, and the caller's variables.
    """
    own = private(values, holders)
    state = CarriedState([CarriedValue.of(n, v) for n, v in zip(names, values)], own)
    for place in (*shared, *closed_over((test, body))):
        state.places[place.key] = (place, carry_place(place, place.get()))
    for attempt in range(MAX_ATTEMPTS):
        try:
            trace = _attempt(test, body, state, attempt == 0)
            if trace is ENDED and attempt > 0:
                raise FirstIterationDiffers(_always_raises(names))
        except FirstIterationDiffers as err:
            if err.is_of_outer_loop():
                raise
            if peeled == MAX_PEELED:
                raise err.reason from None
            return _after_first(test, body, values, names, shared, peeled + 1)
        except MaybeNoneError:
            if peeled == MAX_PEELED or not any(leaf.start is None for leaf in state.leaves()):
                raise
            return _after_first(test, body, values, names, shared, peeled + 1)
        except UnknownKeysError:  # a key that is not there yet in the first iteration
            if peeled:
                raise
            return _after_first(test, body, values, names, shared, peeled + 1, asks=True)
        except Pending:
            return values  # what a recursive function gives is still unknown; taken for a loop that ends at once
        if trace is ENDED:  # the first iteration raises, so there is none or the program ends
            pred = scalar_condition(truth(test(*values)), "while")
            return trace_branches(pred, lambda: body(*values), lambda: values, names, shared)
        if trace is not None:
            results = _emit_loop(state, trace)
            note_forks(builder().forks, results, values)  # after no iteration it is the object from before
            return results
    raise UnsettledError(
        f"what the loop carries ({', '.join(names)}) does not settle: shapes or types keep changing from one trace "
        "of the body to the next",
        hint="give loop variables their final shape and dtype before the loop",
    )


def _always_raises(names: Sequence[str]) -> UnsettledError:
    return UnsettledError(
        f"the body of a loop that stops by a tensor condition raises in a later iteration ({', '.join(names)})",
        hint="keep shapes and types of loop variables the same in every iteration",
    )


def carry_place(place: Any, value: Any) -> Any:
    """What a place holds, as a value carried from one iteration or call to the next."""
    if isinstance(place, ContentPlace) and isinstance(value, OpenDict):
        return CarriedDict(place.label, place.loc, value)
    if not isinstance(place, ContentPlace):
        return CarriedValue.of(place.label, value)
    carried = CarriedValue.opened(place.label, value)  # a copy of the content, never the container itself
    carried.loc = place.loc
    return carried


@dataclass(frozen=True)
class _Traced:
    """The blocks of a loop, what each carried tensor did in the body, and which tensors from outside were changed.

    `held`: for each carried value, whether the body put it into a list that holds it by value.
    """

    cond: Block
    body: Block
    turns: list[Turn]
    handles: dict[Any, Variable]
    held: list[bool]


def _after_first(
    test: Function, body: Function, values: tuple[Any, ...], names: Sequence[str], shared: Sequence[Any], peeled: int,
    asks: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """The loop with its first iteration in front of it, which starts from other kinds of values than the rest.

    asks: whether the test is asked before the rest, too, for what it then tells of keys that the first iteration set.
    """

    def rest(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return trace_loop(test, body, values, names, shared, peeled, 1)

    def rest_if_asked(values: tuple[Any, ...]) -> tuple[Any, ...]:
        again = truth(test(*values))
        if not is_graph(again):
            return rest(values) if again else values
        return trace_branches(scalar_condition(again, "while"), lambda: rest(values), lambda: values, names, shared)

    pred = scalar_condition(truth(test(*values)), "while")
    go_on = rest_if_asked if asks else rest
    return trace_branches(pred, lambda: go_on(body(*values)), lambda: values, names, shared)


def _attempt(test: Function, body: Function, state: CarriedState, is_first: bool) -> _Traced | None:
    """The condition and body blocks, or None when tracing them found more to carry (`state` then knows it)."""
    cond = _trace_test(test, state, is_first)
    build = builder()
    outer = dict(build.current)
    memory = {id(leaf): build.held(leaf.start) for leaf in state.leaves() if is_tensor(leaf.start)}
    places = [place for place, _ in state.places.values()]
    with journaling(places) as journal, build.sub_block() as block:
        values = enter(state, block)
        parts = state.parts(block.inputs)
        results = run_path(lambda: body(*values))
        if results is ENDED:
            return ENDED  # type: ignore[no-any-return]
        journal.forget_local((values, results))
        journal.refuse_spent()
        pairs = zip(state.variables, values, results)
        kept = [carried.keep_identity(start, end, build.current.__contains__) for carried, start, end in pairs]
        if any(kept):
            return None
        handles = build.changed_since(outer, block)
        if grow(state, results, journal, handles):
            return None
        leaving = ends(state, results, journal.after(), handles)
        last = [end for carried, value in leaving for end in carried.last(value)]
        read = _read_heads(cond, block)
        turns = [
            Turn(leaf, memory.get(id(leaf)), head, kept, end, head in read)
            for (leaf, head, kept), end in zip(parts, last)
        ]
        if state.track(needs_tracking(turns)):
            return None
        flags = kept_flags(turns, outer_of(block, handles))
        block.outputs = [end for carried, value in leaving for end in carried.ends(value, flags)]
        heads = iter(block.inputs)
        held = [is_kept((value, *islice(heads, carried.width))) for carried, value in leaving]
    return _Traced(cond, block, turns, handles, held)


def _read_heads(cond: Block, body: Block) -> set[Variable]:
    """The inputs of the body that it or the condition reads."""
    used = {v for block in (cond, body) for op in block.ops for v in op.variables}
    used.update(v for v in cond.outputs if v is not None)
    formals = zip(cond.inputs, body.inputs)
    return {v for v in body.inputs if v in used} | {b for a, b in formals if a in used}


def _trace_test(test: Function, state: CarriedState, is_first: bool) -> Block:
    build = builder()
    places = [place for place, _ in state.places.values()]
    with journaling(places) as journal, build.sub_block() as block:
        values = enter(state, block)
        holds = run_path(lambda: truth(test(*values)))
        journal.forget_local((values, holds))
        journal.refuse_spent()
        if holds is ENDED and not is_first:
            raise FirstIterationDiffers(_always_raises(()))
        if holds is ENDED:
            holds = False  # never reached
        pred = scalar_condition(holds, "while") if is_graph(holds) else constant(bool(holds))
        block.outputs = [build.value(pred)]
    return block


def enter(state: CarriedState, block: Block) -> tuple[Any, ...]:
    """Give every carried value a formal input and make it current; returns the loop variables."""
    build = builder()
    formals = [iter(carried.formals(block)) for carried in state.all()]
    values = [carried.value(tensors) for carried, tensors in zip(state.all(), formals)]
    n = len(state.variables)
    for (place, _), value in zip(state.places.values(), values[n:]):
        restore(place, value)
    for handle, value in zip(state.handles, values[n + len(state.places) :]):
        build.assign(handle, value)
    enter_tracked(state.parts(block.inputs))
    return tuple(values[:n])


def ends(
    state: CarriedState, results: Sequence[Any], places: dict[Any, tuple[Any, Any]], handles: dict[Any, Variable]
) -> list[tuple[CarriedValue, Any]]:
    """Each carried value with what it is at the end of the iteration."""
    pairs = list(zip(state.variables, results))
    pairs += [(carried, places[key][1]) for key, (_, carried) in state.places.items()]
    build = builder()
    pairs += [(carried, handles.get(h, build.current.get(h, h))) for h, carried in state.handles.items()]
    return pairs


def grow(state: CarriedState, results: Sequence[Any], journal: Journal, handles: dict[Any, Variable]) -> bool:
    """Whether this trace found something that must be carried and is not yet; `state` takes it in."""
    state.check_exchanged(results, journal)
    grown = False
    for key, (place, before) in journal.before.items():
        if key not in state.places:
            state.places[key] = (place, carry_place(place, before))
            grown = True
    for key in set(state.places) - set(journal.before):  # items of what is carried as a whole by now
        del state.places[key]
    for handle in handles:
        if handle not in state.handles:
            state.handles[handle] = CarriedValue.of("tensor", handle)
            grown = True
    if grown:
        return True
    after = journal.after()
    for key, (_, carried) in state.places.items():
        if isinstance(carried, CarriedValue):
            carried.refuse_bare(after[key][1])
    wider = [carried.widen(value) for carried, value in ends(state, results, after, handles)]
    return any(wider)


def _emit_loop(state: CarriedState, trace: _Traced) -> tuple[Any, ...]:
    starts = [start for carried in state.all() for start in carried.starts()]
    outer = align_captures([trace.cond, trace.body])
    results = while_op(
        *starts, *outer, cond=trace.cond, body=trace.body, n_carried=len(starts), n_xs=0, reverse=False
    )
    build = builder()
    operator = build.block.ops[-1]
    tensors = iter(results)
    values = [carried.value(tensors) for carried in state.all()]
    n = len(state.variables)
    for (place, _), value in zip(state.places.values(), values[n:]):
        check_carried(place, value)
        note_forks(build.forks, place_parts(place, value), place_parts(place, place.get()))
        restore(place, value)
    for handle, value in zip(state.handles, values[n + len(state.places) :]):
        build.assign(handle, value)
    for carried, value, is_held in zip(state.all(), values, trace.held):
        if is_held:
            keep([value, *[leaf.start for leaf in carried.leaves]])
    share_loop(operator, trace.turns, state.parts(results), outer_of(trace.body, trace.handles))
    return tuple(values[:n])
