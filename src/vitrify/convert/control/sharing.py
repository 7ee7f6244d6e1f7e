"""Which memory the results of tensor control flow share: a variable may be another tensor's object on some paths.

Nothing is recorded for that until one of them is changed in place; then flags are computed that tell the paths apart.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

from ...ir.aliases import Way, always, any_of, both, may_be_shared
from ...ir.program import Block, Operator, Variable
from ...ir.regions import add_branch_output, capturing_late
from ...ops.compare import logical_and, logical_not, logical_or
from ..values.base import builder, is_graph, is_tensor
from ..values.foreign import AskedInLoopError, undecided_identity
from ..values.sequences import constant
from .held_items import refuse_added
from .leaves import Leaf
from .numbered import Numbered, is_head, reached, ways_to
from .passed import Passed

Outer = Callable[[Variable], Variable | None]


def outer_of(block: Block, handles: Mapping[Variable, Variable]) -> Outer:
    """A function from a variable to the one outside of `block` whose memory it is, if any."""
    inside = {value: handle for handle, value in handles.items()}

    def outer(var: Variable) -> Variable | None:
        if var in inside:
            held: Variable = builder().held(inside[var])
            return held
        return None if var.block is block else var

    return outer


def share_branches(
    operator: Operator, sides: Sequence[Sequence[Any]], outers: Sequence[Outer], results: Sequence[Any]
) -> None:
    """Note what the results of an `if` share; `sides` are their values in each branch, None for no matter what."""
    pred = operator.inputs[0]
    flags = (lambda: pred), (lambda: logical_not(pred))
    for position in range(2):
        _share_one_branch(position, flags[position], operator, sides[position], outers[position], results)


def _share_one_branch(
    position: int, flag: Callable[[], Any], operator: Operator, values: Sequence[Any], outer: Outer, results: Any
) -> None:
    build = builder()
    seen: dict[Variable, tuple[Variable, Variable]] = {}
    first: dict[Variable, Variable] = {}  # the first result that is this very tensor
    for value, result in zip(values, results):
        if not is_tensor(value):
            continue
        var = value if is_graph(value) else build.held(value)
        ways = build.aliases.ways(var, outer)
        build.aliases.fork(result, [_from_branch(way, position, flag, operator) for way in ways])
        other, twin = seen.setdefault(build.aliases.shown(var), (var, result))
        if not all(way.is_view for way in ways):
            continue
        same = first.setdefault(var, result)
        if same is not result and same is not twin:
            build.aliases.fork(same, [Way(flag, result)])
            build.aliases.fork(result, [Way(flag, same)])
        if twin is not result:
            taken = flag if other is var else None  # else one may be a view of the other
            is_view = other is not var and not {other, var} & build.aliases.forks.keys()
            build.aliases.fork(twin, [Way(taken, result, is_view)])
            build.aliases.fork(result, [Way(taken, twin, is_view)])
    _share_made_on_path(position, flag, operator, values, outer, results)


def _share_made_on_path(
    position: int, flag: Callable[[], Any], operator: Operator, values: Sequence[Any], outer: Outer, results: Any
) -> None:
    """Note which results are one tensor that the branch has made, on the paths in it on which both are that one."""
    build = builder()
    holders: dict[Variable, dict[Variable, Variable]] = {}  # of what the branch made, with their results
    for value, result in zip(values, results):
        if is_tensor(value):
            var = value if is_graph(value) else build.held(value)
            for made in reached(var):
                if outer(made) is None:
                    holders.setdefault(made, {})[result] = var
    shared: dict[tuple[Variable, Variable], list[tuple[Variable, Variable, Variable]]] = {}
    for made, found in holders.items():
        for (one, first), (other, second) in combinations(found.items(), 2):
            if not (first is second and all(way.is_view for way in build.aliases.ways(first, outer))):
                shared.setdefault((one, other), []).append((made, first, second))
    for (one, other), places in shared.items():
        taken = _from_branch(Way(partial(_are_both, places), other), position, flag, operator).taken
        build.aliases.fork(one, [Way(taken, other)])
        build.aliases.fork(other, [Way(taken, one)])


def _are_both(places: Sequence[tuple[Variable, Variable, Variable]]) -> Any:
    """Whether two variables are one of these tensors, computed where the program is recorded now."""
    found: Any = False
    for made, first, second in places:
        flag = both(_is_made(made, first), _is_made(made, second))
        found = flag if found is False else any_of(found, flag)
    return found


def _is_made(made: Variable, var: Variable) -> Any:
    if var is made:
        return True
    found: Any = False
    for way in ways_to(made, var):
        if way.taken is None:
            raise undecided_identity("tensor")
        found = way.taken() if found is False else any_of(found, way.taken())
    return found


def _from_branch(way: Way, position: int, flag: Callable[[], Any], operator: Operator) -> Way:
    """A way seen in one branch, seen from behind the `if`."""
    inner = way.taken
    made: list[Variable] = []
    if inner is None or inner is always:
        return Way(inner and flag, way.target, way.is_view)

    def taken() -> Any:
        if not made:
            ends = []
            with capturing_late(operator):
                for index, block in enumerate(operator.blocks.values()):
                    with builder().resume(block):
                        found = inner() if index == position else False
                        ends.append(constant(found) if isinstance(found, bool) else block.resolve(found))
            made.append(add_branch_output(operator, ends))
        return made[0]

    return Way(taken, way.target)


@dataclass(frozen=True)
class Turn:
    """One carried tensor in the trace of a loop's body: what it is before the loop, at the head, at the end.

    `memory` is the variable that held `start` when the loop began; `kept`, the flag of a tracked leaf at the head;
    `is_read` says whether an iteration needs what the one before left.
    """

    leaf: Leaf
    memory: Variable | None
    head: Variable
    kept: Variable | None
    end: Any
    is_read: bool

    @property
    def end_variable(self) -> Variable | None:
        """The end as a Variable, None if it is no tensor."""
        if not is_tensor(self.end):
            return None
        end: Variable = self.end if is_graph(self.end) else builder().held(self.end)
        return end


def enter_tracked(parts: Sequence[tuple[Leaf, Variable, Variable | None]]) -> None:
    """Let tracked leaves share the memory of what they were before the loop, while they are still that."""
    build = builder()
    for leaf, head, kept in parts:
        if kept is not None:
            build.aliases.fork(head, [Way(partial(_itself, kept), build.held(leaf.start))])


def _itself(flag: Any) -> Any:
    return flag


def needs_tracking(turns: Sequence[Turn]) -> set[int]:
    """ids of the leaves that are changed in place at the head, or whose object is, and that are not tracked yet."""
    return {
        id(t.leaf)
        for t in turns
        if t.memory is not None and not t.leaf.tracked and (_is_changed(t.head) or _is_changed(t.memory))
    }


def _is_changed(var: Variable) -> bool:
    return builder().aliases.latest(var) is not var


def kept_flags(turns: Sequence[Turn], block: Block, handles: Mapping[Variable, Variable]) -> dict[int, Any]:
    """For each tracked leaf (by its id) whether it is still the object from before the loop after this iteration.

    handles: what the body, `block`, changed in place of what was made outside, and what that holds then. Raises
    UnsupportedError where memory that is changed in place may pass from one loop variable to another.
    """
    heads = {t.head for t in turns}
    outer, written = outer_of(block, handles), {builder().held(handle) for handle in handles}
    flags: dict[int, Any] = {}
    seen: dict[Variable, Turn] = {}
    for turn in turns:
        var = turn.end_variable
        if var is None:
            flags[id(turn.leaf)] = False
            continue
        ways = builder().aliases.ways(var, lambda v: v if v in heads else outer(v))
        flags[id(turn.leaf)] = _kept(turn, ways, written)
        twin = seen.setdefault(var, turn)
        if not ways and twin is not turn and (_is_changed(twin.head) or _is_changed(turn.head)):
            raise may_be_shared()
    return flags


def _kept(turn: Turn, ways: Sequence[Way], written: Container[Variable]) -> Any:
    kept: Any = False
    memory = None if turn.memory is None else builder().aliases.latest(turn.memory)
    for way in ways:
        own = way.target is turn.head
        if not own and way.target is not memory:
            if turn.is_read and (way.target in written or _is_changed(way.target) or _is_changed(turn.head)):
                raise may_be_shared()
            continue
        if turn.kept is None:
            continue
        if way.taken is None:
            raise may_be_shared()
        taken = way.taken()
        kept = _either(kept, turn.kept if own and taken is True else logical_and(taken, turn.kept) if own else taken)
    return kept


def _either(a: Any, b: Any) -> Any:
    return b if a is False else True if a is True or b is True else logical_or(a, b)


def share_loop(operator: Operator, turns: Sequence[Turn], results: Sequence[Any], outer: Outer) -> None:
    """Note what the results of a `while` share; results: for each turn, (leaf, result, its flag if tracked)."""
    build = builder()
    heads = {turn.head for turn in turns}
    starts = {t.head: None if t.memory is None else build.held(leaf.start) for t, (leaf, _, _) in zip(turns, results)}
    ends: dict[Variable, list[Way]] = {}
    for turn in turns:
        var = turn.end_variable
        found = [] if var is None else build.aliases.ways(var, lambda v: v if v in heads else outer(v))
        ends[turn.head] = [w if w.target in heads else replace(w, target=build.aliases.latest(w.target)) for w in found]
    passed = Passed(operator, starts, ends)
    numbered = Numbered(operator, starts, {turn.head: turn.end_variable for turn in turns}, outer)
    _refuse_asked(passed, numbered, operator, turns, outer)
    numbered.answer()
    seen: dict[Variable, Variable] = {}
    for turn, (_, result, kept) in zip(turns, results):
        start = starts[turn.head]
        ways = passed.ways(turn.head)
        if kept is not None and start is not None:  # how often it was changed counts, too
            ways = [Way(partial(_itself, kept), start), *[way for way in ways if way.target is not start]]
        build.aliases.fork(result, ways)
        twin = result if turn.end_variable is None else seen.setdefault(turn.end_variable, result)
        if twin is not result:
            build.aliases.fork(twin, [Way(passed.ran, result)])
            build.aliases.fork(result, [Way(passed.ran, twin)])
    _share_made(numbered, [(turn.head, result) for turn, (_, result, _) in zip(turns, results)])
    refuse_added()


def _share_made(numbered: Numbered, pairs: Sequence[tuple[Variable, Variable]]) -> None:
    """Note which results of a `while` may be one tensor that an iteration has made.

    Of what was there before the loop the ways to that tell.
    """
    for (second, other), (first, one) in combinations(pairs, 2):
        if not numbered.end_as_one(first, second) and numbered.may_be_one(first, second):
            flag = partial(numbered.is_same, first, second)
            builder().aliases.fork(one, [Way(flag, other)])
            builder().aliases.fork(other, [Way(flag, one)])


def _refuse_asked(passed: Passed, numbered: Numbered, operator: Operator, turns: Sequence[Turn], outer: Outer) -> None:
    """Raise ForkedError where `is` took a loop variable for another tensor than one that iterations assign to it."""
    build = builder()
    carried = {turn.head for turn in turns}
    formals = zip(operator.attrs["body"].inputs, operator.attrs["cond"].inputs)
    heads = {var: head for head, asked in formals if head in carried for var in (head, asked)}
    for first, second in [pair for a, b in build.apart for pair in ((a, b), (b, a))]:
        if first not in heads:
            continue
        mine = {way.target for way in passed.ways(heads[first]) if not way.is_view}
        if second in heads:
            theirs = {way.target for way in passed.ways(heads[second]) if not way.is_view}
        else:
            found = outer(second)
            theirs = set() if found is None else {found, build.aliases.latest(found)}
        are_made = second in heads and numbered.may_be_one(heads[first], heads[second])
        if are_made or any(_leads_to(var, theirs) for var in mine):
            raise AskedInLoopError.instead_of(undecided_identity("tensor"))
        pairs = [(a, b) for var in mine for a in reached(var) for other in theirs for b in reached(other)]
        build.apart.update(pair for pair in pairs if any(map(is_head, pair)))  # which loops around this one settle


def _leads_to(var: Variable, targets: Container[Variable]) -> bool:
    """Whether a variable may be one of these, be it by way of what a loop before gave."""
    return bool(builder().aliases.ways(var, lambda v: v if v in targets else None))
