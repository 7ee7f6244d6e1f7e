"""`if` and conditional expressions: Python's own when the condition is a Python value, an `if` operator otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.errors import UnsettledError
from ...core.meta import Meta
from ...core.pytree import LEAF, OpenDict, OpenList, can_change, flatten, is_open, is_partial
from ...core.source import user_frames
from ...ir.builder import Contents
from ...ir.numbers import as_number
from ...ir.program import Block, Operator, Variable
from ...ir.regions import align_captures
from ...ir.stop_flags import rename
from ...ir.varying import STOP_GRADIENT, differing, mark
from ...ops.compare import logical_not
from ...ops.control_flow import if_op
from ..containers.path_lists import PathLists, note_behind, of_one_path
from ..containers.plain_keys import check_keys
from ..containers.structure import Originals, snapshot
from ..state.cells import closed_over
from ..state.journal import journaling
from ..state.ownership import OF_CALLER, Forking, let_go, note_forks, note_forks_at, repeated
from ..state.places import AttrPlace, CellPlace, ContentPlace, ItemPlace, items_of, restore, wholes, with_items
from ..values.base import MaybeUnset, Undefined, Unmergeable, builder, is_graph, scalar_condition
from ..values.cases import note_chosen
from ..values.deferred import Deferred, holds_deferred
from ..values.emit import emit
from ..values.foreign import ForeignError
from ..values.handlers import RaisedInCallError, is_passed
from ..values.one_of import GraphOneOf, note_decided
from ..values.optional import means, note_known, tell, told_by
from .merge import Joined, Slot, Slots, fill_slots, merge, merge_content
from .protocols import truth
from .raise_ import ENDED, run_path
from .sharing import outer_of, share_branches
from .unknown import Pending, give_up_trial, stand_in

Function = Callable[..., Any]
# A path of an `if`: what the variables are behind it.
Path = Callable[..., tuple[Any, ...]]


@dataclass
class _Side:
    """One traced branch: its block, what it returned (as objects, and as they were then), what it changed in place."""

    block: Block
    values: tuple[Any, ...]
    copies: tuple[Any, ...]
    handles: dict[Variable, Variable]
    places: dict[Any, tuple[Any, Any, Any]]
    contents: Contents
    originals: Originals
    lists: PathLists

    def at_end(self, place: Any) -> tuple[Any, Any]:
        """What the place holds after the branch: the object, and a copy of it as it is then."""
        if place.key in self.places:
            return self.places[place.key][1:]
        value = place.get()  # left alone, but for changes of its items, and in place of what it holds
        copy = snapshot(value, self.read, self.originals, self._changed)
        if isinstance(place, ContentPlace):
            items = [item for item, _ in items_of(place, ((p, None) for p, _, _ in self.places.values()))]
            with_items(value, [(item, self.places[item.key][1]) for item in items])
            with_items(copy, [(item, self.places[item.key][2]) for item in items])
        return value, copy

    def left(self) -> list[Any]:
        """The values that the branch leaves, in variables and places."""
        return [*self.values, *[now for _, now, _ in self.places.values()]]

    def _changed(self, value: Any) -> Any:
        """A copy of a container that the branch changed, as it was then; None for others."""
        if not isinstance(value, (list, dict)):
            return None
        _, _, content = self.places.get((id(value), "content"), (None, None, None))
        items = [(p, copy) for p, _, copy in self.places.values() if isinstance(p, ItemPlace) and p.owner is value]
        if content is None and not items:
            return None
        whole = snapshot(value if content is None else content, self.read, self.originals)
        return with_items(whole, items)

    def read(self, leaf: Any) -> Any:
        """What a tensor holds after the branch, which may have changed what it is a view of and not looked at it."""
        with builder().resume(self.block, self.contents):
            return builder().latest(leaf)

    def read_again(self) -> dict[Variable, Variable]:
        """What tensors from outside hold after the branch since it read them: views of what it changed in place."""
        held, block = self.contents.current.items(), self.block
        return {handle: now for handle, now in held if now.block is block and handle.block is not block}

    def follow(self, handles: Iterable[Variable]) -> None:
        """Take note of what these hold after the branch, where that is something else than before."""
        for handle in handles:
            now = self.read(handle)
            if now is not builder().content(handle):
                self.handles.setdefault(handle, now)


def convert_ifelse(
    test: Any,
    then: Path,
    orelse: Path,
    ins: tuple[Any, ...],
    names: tuple[str, ...],
    shared: Sequence[Any] = (),
) -> tuple[Any, ...]:
    """The values called `names` after `if test: then else: orelse`."""
    test = truth(test)
    with let_go(ins, OF_CALLER):
        if not is_graph(test):
            return (then if test else orelse)(*ins)
        return trace_branches(scalar_condition(test, "if"), lambda: then(*ins), lambda: orelse(*ins), names, shared)


def unchanged(*values: Any) -> tuple[Any, ...]:
    """`values`, as a branch without statements leaves them."""
    return values


def convert_ifexp(test: Any, then: Function, orelse: Function) -> Any:
    """`then() if test else orelse()`."""
    test = truth(test)
    if not is_graph(test):
        return then() if test else orelse()
    pred = scalar_condition(test, "conditional expression")
    (value,) = trace_branches(pred, lambda: (then(),), lambda: (orelse(),), ("conditional expression",))
    return value


def choose(flag: Variable, then: Function, orelse: Function, name: str) -> Any:
    """`then()` where the number `flag` holds when the program runs, else `orelse()`."""
    pred = scalar_condition(flag, name)
    (value,) = trace_branches(pred, lambda: (then(),), lambda: (orelse(),), (name,))
    return value


def trace_branches(
    pred: Variable, then: Path, orelse: Path, names: Sequence[str], shared: Sequence[Any] = (),
    by_value: Block | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """Record an `if` operator; both functions are traced from the same state and their results merged.

    by_value: where one object stands for two that were there before, which are then no longer told apart; lists and
    dicts from before this block are.
    """
    give_up_trial()
    shared = [*shared, *closed_over((then, orelse))]
    known = told_by(pred)
    sides: list[_Side] = []
    unknown: list[Pending] = []
    originals = Originals()
    for fn, codes in zip((then, orelse), known):
        try:
            side = _trace_side(fn, shared, originals, codes)
        except RaisedInCallError as refusal:
            if not _is_left_to_try(refusal, pred, fn is then):
                raise
            note_known(known[fn is then])
            return (orelse if fn is then else then)()
        except Pending as pending:
            unknown.append(pending.with_traceback(None))  # whose frames keep objects of the path alive
            continue
        if side.values is ENDED:
            note_known(known[fn is then])
            return _go_on(pred, side.block, fn is then, orelse if fn is then else then)
        sides.append(side)
    if unknown:
        return _only_path(sides, unknown)
    for side, other in (sides, sides[::-1]):
        side.follow(other.handles)
    joined = Joined(sides[0].block, sides[1].block, (sides[0].read, sides[1].read), originals, pred, by_value)
    if builder().keeps_containers:
        joined.repeated = frozenset().union(*[repeated(side.left()) for side in sides])
    merged = _merge_values(sides, names, joined)
    handles = _merge_handles(sides, joined)
    places = _merge_places(sides, joined)
    results, operator = _emit_if(pred, joined, sides)
    _tell_what_follows(pred, joined, results)
    _note_leaves(joined, results)
    for handle, slot, is_off in handles:
        mark(results[slot], None, _differing(joined, slot, results[slot]))
        if is_off is None:
            builder().assign(handle, results[slot])
        else:
            rename(builder(), handle, results[slot], is_off)
    _share(operator, sides, joined, {slot for _, slot, _ in handles}, results)
    changes = [(place, fill_slots(value, results), sources) for place, value, sources in places]
    values = _filled_values(merged, results)
    forking = Forking(builder().forks, joined.apart(), lists=[side.lists for side in sides])
    for place, value, sources in changes:
        note_forks_at(place, forking, value, sources)
        restore(place, value)
    note_forks(forking, *[[_itself(v) for v in found] for found in (values, sides[0].values, sides[1].values)])
    note_behind(forking.lists)
    return values


def _tell_what_follows(pred: Variable, joined: Joined, results: Sequence[Any]) -> None:
    """Note which results say nothing but which path was taken: flags of keys, `done = True` on one path."""
    for result, (a, _), (b, _) in zip(results, *joined.sides):
        if isinstance(a, bool) and isinstance(b, bool) and a is not b:
            tell(means(result, pred, a), (frozenset({result}), frozenset()))
        elif type(a) is int and type(b) is int:
            note_decided(result, pred, a, b)
        if type(a) is type(b) and type(a) in (bool, int, float):
            note_chosen(result, pred, a, b)


def _note_leaves(joined: Joined, results: Sequence[Any]) -> None:
    training = builder().training
    if training is not None and training.leaf_of:
        for result, (a, _), (b, _) in zip(results, *joined.sides):
            training.merged(result, (a, b))


def _filled_values(merged: Sequence[Any], results: list[Any]) -> tuple[Any, ...]:
    """The merged values; what is one object in several variables stays one."""
    made: dict[int, Any] = {}
    return tuple([_filled(value, results, made) for value in merged])


def _filled(value: Any, results: list[Any], made: dict[int, Any]) -> Any:
    # No inner function that calls itself: it would keep `made` alive, and who refers to what is counted.
    if isinstance(value, MaybeUnset):
        flag = fill_slots(value.flag, results)
        return MaybeUnset(value.name, value.line, _filled(value.value, results, made), flag)
    if id(value) not in made:
        made[id(value)] = fill_slots(value, results)
    return made[id(value)]


def _itself(value: Any) -> Any:
    """What a variable holds where it is set."""
    return value.value if isinstance(value, MaybeUnset) else value


def _only_path(sides: Sequence[_Side], unknown: Sequence[Pending]) -> tuple[Any, ...]:
    """What the one branch gives that does not wait for the result of a recursive call: this trace finds out types."""
    if not sides:
        raise min(unknown, key=lambda pending: pending.target.depth)
    (side,) = sides
    for handle, value in side.handles.items():
        builder().assign(handle, stand_in(value))
    for place, _, value in side.places.values():
        restore(place, stand_in(value))
    return tuple(v if stand_in(v) is v else stand_in(copy) for v, copy in zip(side.values, side.copies))


def _trace_side(fn: Function, shared: Sequence[Any], originals: Originals, known: Iterable[Variable]) -> _Side:
    build = builder()
    outer = dict(build.current)
    with journaling(shared) as journal, build.sub_block() as block, of_one_path(block) as lists:
        note_known(known)
        values = run_path(fn)
        if values is ENDED:
            values = ()
            journal.forget_local(values)
            journal.refuse_spent()
            return _Side(block, ENDED, (), {}, {}, build.contents(), originals, lists)
        journal.forget_local(values)
        journal.refuse_spent()
        changed = build.changed_since(outer, block)
        after = journal.after().items()
        places = {key: (place, now, snapshot(now, build.latest, originals)) for key, (place, now) in after}
        copies = tuple(snapshot(v, build.latest, originals) for v in values)
        return _Side(block, values, copies, changed, places, build.contents(), originals, lists)


def _is_left_to_try(refusal: RaisedInCallError, pred: Variable, on: bool) -> bool:
    """Whether a path that only raises, taken where `pred` is `on`, is known not to be; else `refusal` knows of it."""
    if refusal.error is None or refusal.unless is not None or holds_deferred(refusal.error.args):
        return False
    if is_passed():
        return True
    raise refusal.decided(as_number(logical_not(pred) if on else pred), refusal.error)


def _go_on(pred: Variable, ended: Block, on: bool, other: Path) -> tuple[Any, ...]:
    """The other path, traced in place: behind a path that always raises, everything follows from it alone."""
    empty = ended.program.create_block(builder().block)
    then, orelse = (ended, empty) if on else (empty, ended)
    if_op(pred, *align_captures([then, orelse]), then=then, orelse=orelse)
    return other()


def _merge_values(sides: Sequence[_Side], names: Sequence[str], joined: Joined) -> list[Any]:
    """Each result as one value; an object that both branches give stays that object."""
    then, orelse = sides
    made: dict[Any, Any] = {}
    found: list[Any] = []
    for name, a, b, x, y in zip(names, then.values, orelse.values, then.copies, orelse.copies):
        pair = None if a is b else _pair_of_containers(a, b)
        known = made.get(pair)
        if known is None:
            known = a if a is b else merge(name, *_both_listed(x, y, joined), joined)
        elif isinstance(known, MaybeUnset):
            unset = a if isinstance(a, Undefined) else b
            known = MaybeUnset(unset.name, unset.line, known.value, known.flag)
        if pair is not None:
            made[pair] = known
        found.append(known)
    return found


def _pair_of_containers(a: Any, b: Any) -> tuple[int, int] | None:
    """What tells two variables that are one list or other container on each path, or unset; None for others."""
    pair = [0 if type(v) is Undefined else id(v) if _is_container(v) else None for v in (a, b)]
    return None if None in pair or pair == [0, 0] else (pair[0], pair[1])  # type: ignore[return-value]


def _is_container(value: Any) -> bool:
    return is_open(value) or can_change(value) or (isinstance(value, Deferred) and value.region() is not None)


def _both_listed(a: Any, b: Any, joined: Joined) -> tuple[Any, Any]:
    """What two paths left in a variable; beside a list, one that a run computes as one that the program holds."""
    if isinstance(a, list) or isinstance(b, list):
        return _listed(a, joined.then), _listed(b, joined.orelse)
    return a, b


def _listed(value: Any, block: Block) -> Any:
    if not isinstance(value, Deferred) or value.region() is not block:
        return value
    with builder().resume(block):
        found = value.listed()
    return value if found is None else found


def _merge_handles(sides: Sequence[_Side], joined: Joined) -> list[tuple[Variable, int, bool | None]]:
    """Tensors changed in place in either branch become outputs; the other branch passes its value on.

    Those of which merely stop_gradient was set say, last, whether some path took them off the tape.
    """
    found: list[tuple[Variable, int, bool | None]] = []
    for handle in dict.fromkeys(h for side in sides for h in side.handles):
        ends = [side.handles.get(handle, handle) for side in sides]
        _check_kinds([builder().content(end) for end in ends])
        found.append((handle, joined.add(*[(end, None) for end in ends]), _is_off(handle, sides)))
    return found


def _check_kinds(ends: Sequence[Any]) -> None:
    """Raise UnsettledError where one tensor would have another rank or dtype on either path: nobody can exchange it."""
    first, second = (end.meta for end in ends)
    if not (isinstance(first, Meta) and isinstance(second, Meta)):
        return
    if len(first.shape) != len(second.shape) or first.dtype is not second.dtype:
        raise UnsettledError(
            f"a tensor is {first} on one path of a tensor's decision and {second} on another, changed in place",
            loc=next(iter(user_frames(2)), None),
            hint="make a new tensor there (y = y.unsqueeze(0) in place of y.unsqueeze_(0))",
        )


def _is_off(handle: Variable, sides: Sequence[_Side]) -> bool | None:
    """Whether a path took a tensor off the tape; None where one did more to it than to set its stop_gradient."""
    before = builder().held(handle)
    forms = [builder().aliases.flagged_form(side.handles.get(handle, before), before) for side in sides]
    return None if None in forms else True in forms


def _merge_places(sides: Sequence[_Side], joined: Joined) -> list[tuple[Any, Any, tuple[Any, Any]]]:
    """Each place that a branch wrote, what it holds afterwards, and what it held after either branch."""
    found: list[tuple[Any, Any, tuple[Any, Any]]] = []
    check_keys(*[[(place, value) for place, value, _ in side.places.values()] for side in sides])
    places = {key: place for side in sides for key, (place, _, _) in side.places.items()}
    for place in wholes(places).values():
        (a, x), (b, y) = (side.at_end(place) for side in sides)
        merged = a if a is b else _merged(place, x, y, joined)
        unset = [value for value in (x, y) if isinstance(value, Undefined)]
        is_bare = len(unset) == 1 and bool(unset[0].name) and _is_bare(merged)
        if is_bare or (isinstance(merged, MaybeUnset) and not isinstance(place, (AttrPlace, CellPlace))):
            merged = Unmergeable(place.label, "only one branch sets it, to something without tensors")
        if isinstance(place, ContentPlace) and _cannot_hold(place.owner, merged):
            raise _grows(place, _length(x), _length(y)).of(place.owner)
        found.append((place, merged, (a, b)))
    return found


def _merged(place: Any, x: Any, y: Any, joined: Joined) -> Any:
    """What a place holds on two paths; the content of a list or dict is one by value, whatever else stays several."""
    is_one = isinstance(place, ContentPlace) and isinstance(x, (list, dict)) and isinstance(y, (list, dict))
    is_one = is_one and joined.originals.common(x, y) is None
    return (merge_content if is_one else merge)(place.label, x, y, joined)


def _differing(joined: Joined, slot: int, result: Variable) -> frozenset[str]:
    """What the paths disagree about of a tensor that one of them changed in place."""
    ends = [end for block in (joined.then, joined.orelse) if (end := block.outputs[slot]) is not None]
    stops = {end.stop_gradient for end in ends}
    return differing(ends, result.meta) | (frozenset() if len(stops) == 1 else {STOP_GRADIENT})


def _share(
    operator: Operator | None, sides: Sequence[_Side], joined: Joined, handles: set[int], results: Sequence[Any]
) -> None:
    if operator is None:
        return
    values = [[None if i in handles else v for i, (v, _) in enumerate(side)] for side in joined.sides]
    outers = [outer_of(side.block, side.read_again() | side.handles) for side in sides]
    share_branches(operator, values, outers, results)


def _is_bare(merged: Any) -> bool:
    """Whether it is a container without anything in it that could tell whether it is set."""
    leaves: list[Any] = []
    return flatten(merged, leaves) is not LEAF and not any(isinstance(leaf, (Slot, Slots)) for leaf in leaves)


def _cannot_hold(owner: Any, content: Any) -> bool:
    """Whether only a list or dict that converted code made can hold this."""
    if isinstance(content, GraphOneOf):
        return True
    if is_partial(content):
        return not isinstance(owner, OpenDict)
    is_open_list = isinstance(content, Slots) or is_open(content)
    return isinstance(content, Undefined) or (is_open_list and not isinstance(owner, OpenList))


def _length(content: Any) -> str:
    return "an unknown number of" if is_open(content) or is_partial(content) else str(len(content))


def _grows(place: ContentPlace, then: str, orelse: str) -> ForeignError:
    return ForeignError(
        f"{place.label} is changed in an `if` that a tensor decides: it has {then} items on one path and {orelse} on "
        "the other",
        loc=place.loc,
        hint="give it the same items on both paths, change a copy of it (xs = list(xs)), or use a tensor",
    )


def _emit_if(pred: Variable, joined: Joined, sides: Sequence[_Side]) -> tuple[list[Any], Operator | None]:
    build = builder()
    for outputs, side in zip(joined.sides, sides):
        with build.resume(side.block, side.contents), of_one_path(side.block) as lists:
            side.block.outputs = [emit(value, dtype) for value, dtype in outputs]
        side.lists.add(lists)
    if not joined.sides[0] and not any(b.ops for b in (joined.then, joined.orelse)):
        return [], None
    outer = align_captures([joined.then, joined.orelse])
    decision = build.value(pred)
    with build.as_made(outer):
        results: list[Any] = if_op(decision, *outer, then=joined.then, orelse=joined.orelse)
    return results, build.block.ops[-1]
