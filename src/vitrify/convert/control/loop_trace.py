"""The loop that a tensor decides, as an operator: traced until what it carries from iteration to iteration settles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ...core.errors import UnsettledError
from ...core.modes import scoped
from ...core.pytree import BY_CONTENT, OpenDict, can_change, eager_class, is_open, node_of
from ...ir.program import Block, Variable
from ...ir.regions import align_captures
from ...ops.control_flow import while_op
from ..containers.dicts import UnknownKeysError
from ..containers.inner_lists import Kept, inner_lists, keep, keep_parts, kept_parts, note_turns
from ..containers.plain_keys import check_carried
from ..containers.structure import Originals, is_alike, snapshot
from ..state.cells import closed_over
from ..state.inside import is_from_before, is_told_apart
from ..state.journal import Journal, journaling, note_write
from ..state.ownership import OF_CALLER, Forking, note_forks, note_forks_at, private
from ..state.places import ContentPlace, content_before, restore
from ..values.base import builder, is_graph, is_tensor, scalar_condition
from ..values.facts import FirstIterationDiffers
from ..values.one_of import GraphOneOf
from ..values.optional import MaybeNoneError
from ..values.sequences import constant
from .branches import trace_branches
from .carried import CarriedState, CarriedValue, is_shared
from .carried_dict import CarriedDict, carry_keys
from .carried_parts import is_object
from .collapse import collapsed
from .protocols import truth
from .raise_ import ENDED, run_path
from .sharing import Turn, enter_tracked, kept_flags, needs_tracking, outer_of, share_loop
from .slopes import SlopesNeeded, with_slopes
from .unknown import Pending, give_up_trial

Function = Callable[..., Any]
MAX_ATTEMPTS = 12
MAX_PEELED = 3


_unpeeled: ContextVar[int] = ContextVar("unpeeled", default=0)


def may_be_peeled() -> bool:
    """Whether a loop around what is traced was not yet traced with its first iteration before it.

    What would need a path for that iteration alone does better to raise an UnknownKeysError first.
    """
    return _unpeeled.get() > 0


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
    give_up_trial()
    own = private(values, holders)
    keeps = builder().keeps_containers
    state = CarriedState([CarriedValue.of(n, v, keeps, id(v) in own) for n, v in zip(names, values)], own)
    for place in (*shared, *closed_over((test, body))):
        state.places[place.key] = (place, carry_place(place, place.get()))
    for attempt in range(MAX_ATTEMPTS):
        try:
            with scoped(_unpeeled, _unpeeled.get() + (not peeled)):
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
        except SlopesNeeded as need:
            if need.head.block is not state.body:
                raise
            loop = with_slopes(need, state, test, body, values, names)
            results = trace_loop(loop.test, loop.body, loop.values, loop.names, shared, peeled, holders + 1)
            return results[: len(values)]
        except UnknownKeysError:  # a key that is not there yet in the first iteration
            if peeled:
                raise
            return _after_first(test, body, values, names, shared, peeled + 1, asks=True)
        except Pending:
            return values  # what a recursive function gives is still unknown; taken for a loop that ends at once
        if trace is ENDED:  # the first iteration raises, so there is none or the program ends
            return _go_round(test, lambda: body(*values), values, names, shared)
        if trace is not None:
            forking = Forking(builder().forks, {id(leaf.start) for leaf in state.leaves() if is_object(leaf)})
            results = _emit_loop(state, trace, forking)
            note_forks(forking, results, values)  # after no iteration it is the object from before
            for value, end in zip(results, trace.last):
                _note_given(forking, value, end, trace.body)
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
        return CarriedValue.of(place.label, value, builder().keeps_containers)
    # a copy of the content, never the container itself
    carried = CarriedValue.opened(place.label, value, builder().keeps_containers)
    carried.loc = place.loc
    return carried


@dataclass(frozen=True)
class _Listed:
    """What of a carried value is in a list: of its last value, and of what it starts from."""

    last: Kept
    first: list[Any]

    @classmethod
    def of(cls, carried: CarriedValue, last: Any, heads: Iterator[Variable]) -> _Listed:
        """heads: the formal inputs of the body, of which those of `carried` are taken."""
        given = [(leaf.start, list(islice(heads, leaf.width))) for leaf in carried.leaves]
        return cls(kept_parts(last), [start for start, own in given if any(map(builder().is_kept, own))])


@dataclass(frozen=True)
class _Traced:
    """The blocks of a loop, what each carried tensor did in the body, and which tensors from outside were changed.

    `listed`: for each carried value, what of it the body put into a list that holds it by value. `last`: what the loop
    variables, and then the places, are after an iteration.
    """

    cond: Block
    body: Block
    turns: list[Turn]
    handles: dict[Variable, Variable]
    listed: list[_Listed]
    last: tuple[Any, ...]


def _note_given(forking: Forking, value: Any, end: Any, body: Block) -> None:
    """Note of a loop variable that it is, or holds, an object from before that an iteration gave it by value.

    Such stay themselves where the trace tells them apart.
    """
    if isinstance(end, GraphOneOf) and isinstance(value, GraphOneOf):
        for option in end.options:
            for found in value.options:
                _note_given(forking, found, option, body)
        return
    is_list = isinstance(end, BY_CONTENT)
    is_given = value is not end and (can_change(end) or is_list) and eager_class(end) is eager_class(value)
    is_given = is_given and not (builder().keeps_containers and is_told_apart(end))
    if is_given and (is_from_before(end, body) or id(end) in builder().forks.references):
        note_forks(forking, (value,), (end,))
    if not is_list:
        node, found = node_of(end), node_of(value)
        if node is not None and found is not None and is_alike(node, found):
            for held, part in zip(node[1], found[1]):
                _note_given(forking, part, held, body)


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
        return _go_round(test, lambda: rest(values), values, names, shared)

    go_on = rest_if_asked if asks else rest
    return _go_round(test, lambda: go_on(body(*values)), values, names, shared)


def _go_round(
    test: Function, go_on: Callable[[], tuple[Any, ...]], values: tuple[Any, ...], names: Sequence[str],
    shared: Sequence[Any],
) -> tuple[Any, ...]:  # fmt: skip
    """What `go_on` gives if the loop goes on with `values`; those if it ends. Of Python values Python tells."""
    again = truth(test(*values))
    if not is_graph(again):
        return go_on() if again else values
    return trace_branches(scalar_condition(again, "while"), go_on, lambda: values, names, shared)


def _attempt(test: Function, body: Function, state: CarriedState, is_first: bool) -> _Traced | None:
    """The condition and body blocks, or None when tracing them found more to carry (`state` then knows it)."""
    cond = _trace_test(test, state, is_first)
    build = builder()
    outer = dict(build.current)
    memory = {id(leaf): build.held(leaf.start) for leaf in state.leaves() if is_tensor(leaf.start)}
    places = [place for place, _ in state.places.values()]
    with journaling(places) as journal, build.sub_block() as block:
        build.loop_bodies.add(block)
        state.body = block
        values = enter(state, block)
        parts = state.parts(block.inputs)
        held = {key: place.get() for key, (place, _) in state.places.items() if not isinstance(place, ContentPlace)}
        results = run_path(lambda: body(*values))
        if results is ENDED:
            return ENDED  # type: ignore[no-any-return]
        results = tuple(map(collapsed, results))
        _collapse_places(journal)
        journal.forget_local((values, results))
        journal.refuse_spent()
        pairs = zip(state.variables, values, results)
        kept = [carried.keep_identity(start, end, _is_changed) for carried, start, end in pairs]
        if any(kept):
            return None
        handles = build.changed_since(outer, block)
        left = {key: value for key, (_, value) in journal.after().items() if key in held}
        note_turns([*values, *[held[key] for key in left]], [*results, *left.values()])
        if _note_flagged(state, handles, outer) or grow(state, results, journal, handles):
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
        flags = kept_flags(turns, block, handles)
        block.outputs = [end for carried, value in leaving for end in carried.ends(value, flags)]
        heads = iter(block.inputs)
        listed = [_Listed.of(carried, value, heads) for carried, value in leaving]
    return _Traced(cond, block, turns, handles, listed, tuple(value for _, value in leaving))


def _collapse_places(journal: Journal) -> None:
    """Let what places hold, and the items of what they hold, be of few kinds, as loop variables are."""
    keeps = builder().keeps_containers
    for place, value in journal.after().values():
        if isinstance(place, ContentPlace):
            found = _with_few_kinds(value) if keeps else value
        else:
            found = collapsed(value)
        if found is not value:
            restore(place, found)


def _with_few_kinds(content: Any) -> Any:
    """A copy of what a list or dict holds whose items are of few kinds; `content` itself where they are."""
    if is_open(content) or not isinstance(content, (list, dict)):
        return content
    keys = list(dict.keys(content)) if isinstance(content, dict) else range(len(content))
    plain: Any = dict if isinstance(content, dict) else list  # whose methods note nothing
    held = [(key, plain.__getitem__(content, key)) for key in keys]
    fewer = [(key, collapsed(item)) for key, item in held if isinstance(item, GraphOneOf)]
    fewer = [(key, item) for key, item in fewer if item is not plain.__getitem__(content, key)]
    copied = content.copy() if fewer else content
    for key, item in fewer:
        plain.__setitem__(copied, key, item)
    return copied


def _note_flagged(state: CarriedState, handles: dict[Variable, Variable], outer: Mapping[Variable, Variable]) -> bool:
    """Note of which tensors the body merely set stop_gradient; whether it was traced with another belief."""
    known = dict(state.flagged)
    for handle in dict.fromkeys((*handles, *known)):
        before = outer.get(handle, handle)
        is_off = builder().aliases.flagged_form(handles.get(handle, before), before)
        if is_off is None:
            state.flagged.pop(handle, None)
        elif handle in known or handle not in state.handles:
            state.flagged[handle] = is_off or known.get(handle, False)
    return any(state.flagged.get(handle) is not is_off for handle, is_off in known.items())


def _is_changed(value: Any) -> bool:
    return builder().changed(value) is not None


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
        build.loop_tests.add(block)
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
    formals = [iter(carried.formals(block)) for carried in state.all()]
    values = [carried.value(tensors) for carried, tensors in zip(state.all(), formals)]
    n = len(state.variables)
    for (place, _), value in zip(state.places.values(), values[n:]):
        restore(place, value)
    for place, value in state.lost.values():
        note_write(place)
        restore(place, value)
    state.exchange_handles(values[n + len(state.places) :])
    enter_tracked(state.parts(block.inputs))
    return tuple(values[:n])


def ends(
    state: CarriedState, results: Sequence[Any], places: dict[Any, tuple[Any, Any]], handles: dict[Variable, Variable]
) -> list[tuple[CarriedValue, Any]]:
    """Each carried value with what it is at the end of the iteration."""
    pairs = list(zip(state.variables, results))
    pairs += [(carried, places[key][1]) for key, (_, carried) in state.places.items()]
    build = builder()
    pairs += [(carried, build.held(handle)) for handle, carried in state.handles.items()]
    return pairs


def grow(state: CarriedState, results: Sequence[Any], journal: Journal, handles: dict[Variable, Variable]) -> bool:
    """Whether this trace found something that must be carried and is not yet; `state` takes it in."""
    state.check_exchanged(results, journal)
    grown = state.lose(journal.after()) or carry_keys(state, results)
    for key, (place, before) in journal.before.items():
        if key not in state.places and key not in state.lost:
            taken_apart = isinstance(place, ContentPlace) and not isinstance(before, OpenDict)
            # Where lists stay the objects that they are, each has a place of its own for what it holds.
            is_copied = taken_apart and not builder().keeps_containers
            carried = carry_place(place, _as_before(before, journal) if is_copied else before)
            if not taken_apart and isinstance(carried, CarriedValue) and isinstance(before, BY_CONTENT):
                known = content_before(before, journal.before)
                carried.before = carried.before if known is before else known
            if taken_apart:
                carried.shared = carried.shared or (not carried.keeps and is_shared(before))
            state.places[key] = (place, carried)
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


def _as_before(value: Any, journal: Journal) -> Any:
    """What a place held before the body, the containers in it with what they held then."""
    before = _Before(journal)
    is_changed = any(before(part) is not None for part in inner_lists(value))
    return snapshot(value, _itself, before.originals, before) if is_changed else value


class _Before:
    """What a changed container held before the body. A function that refers to itself would hold it for the trace."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.originals = Originals()

    def __call__(self, part: Any) -> Any:
        held = content_before(part, self._journal.before) if isinstance(part, (list, dict)) else part
        return None if held is part else snapshot(held, _itself, self.originals, self)


def _itself(value: Any) -> Any:
    return value


def _emit_loop(state: CarriedState, trace: _Traced, forking: Forking) -> tuple[Any, ...]:
    starts = [start for carried in state.all() for start in carried.starts()]
    outer = align_captures([trace.cond, trace.body])
    build = builder()
    with build.as_made((*starts, *outer)):
        results = while_op(
            *starts, *outer, cond=trace.cond, body=trace.body, n_carried=len(starts), n_xs=0, reverse=False
        )
    operator = build.block.ops[-1]
    tensors = iter(results)
    values = [carried.value(tensors) for carried in state.all()]
    n = len(state.variables)
    for (place, _), value, end in zip(state.places.values(), values[n:], trace.last[n:]):
        check_carried(place, value)
        note_forks_at(place, forking, value, (place.get(),))
        restore(place, value)
        if not isinstance(place, ContentPlace):
            _note_given(forking, value, end, trace.body)
    state.exchange_handles(values[n + len(state.places) :])
    for place, value in state.lost.values():
        note_write(place)
        restore(place, value)
    for value, listed in zip(values, trace.listed):
        keep_parts(value, listed.last)
        keep(listed.first)
    share_loop(operator, trace.turns, state.parts(results), outer_of(trace.body, trace.handles))
    return tuple(values[:n])
