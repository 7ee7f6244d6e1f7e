"""Which memory the results of tensor control flow share: a variable may be another tensor's object on some paths.

Nothing is recorded for that until one of them is changed in place; then flags are computed that tell the paths apart.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...ir.aliases import Way, always, may_be_shared
from ...ir.program import Block, Operator, Variable
from ...ir.regions import add_branch_output, add_carried, capturing_late, end_carried
from ...ops.compare import equal, greater_than, logical_and, logical_not, logical_or
from ..values.base import builder, is_graph, is_tensor
from ..values.sequences import constant
from .leaves import Leaf

Outer = Callable[[Variable], Variable | None]


def outer_of(block: Block, handles: Mapping[Variable, Variable]) -> Outer:
    """A function from a variable to the one outside of `block` whose memory it is, if any."""
    inside = {value: handle for handle, value in handles.items()}

    def outer(var: Variable) -> Variable | None:
        if var in inside:
            return builder().held(inside[var])  # type: ignore[no-any-return]
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
    seen: dict[Variable, Variable] = {}
    for value, result in zip(values, results):
        if not is_tensor(value):
            continue
        var = value if is_graph(value) else build.held(value)
        ways = build.aliases.ways(var, outer)
        build.aliases.fork(result, [_from_branch(way, position, flag, operator) for way in ways])
        twin = seen.setdefault(build.aliases.shown(var), result)
        if twin is not result and not ways:
            build.aliases.fork(twin, [Way(None, result)])
            build.aliases.fork(result, [Way(None, twin)])


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
        return self.end if is_graph(self.end) else builder().held(self.end)  # type: ignore[no-any-return]


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
    starts = {turn.head: turn.memory for turn in turns}
    seen: dict[Variable, Variable] = {}
    for turn, (leaf, result, kept) in zip(turns, results):
        var = turn.end_variable
        ways = [] if var is None else build.aliases.ways(var, lambda v: v if v in starts else outer(v))
        if turn.memory is not None:
            start = build.held(leaf.start)
            own = [way for way in ways if way.target is turn.head]
            objects = [way for way in own if not way.is_view]
            flag = _kept_start(operator, objects) if kept is None else partial(_itself, kept)
            build.aliases.fork(result, [Way(flag, start)])
            if len(objects) < len(own):
                build.aliases.fork(result, [Way(None, start, is_view=True)])
        known = None if kept is None else build.held(leaf.start)
        others = [way for way in ways if way.target not in starts and way.target is not known]
        build.aliases.fork(result, [_from_last_turn(operator, way) for way in others])
        passed = [(starts[w.target], w.is_view) for w in ways if w.target in starts and w.target is not turn.head]
        build.aliases.fork(result, [Way(None, build.aliases.latest(v), via) for v, via in passed if v is not None])
        twin = result if var is None else seen.setdefault(var, result)
        if twin is not result:
            build.aliases.fork(twin, [Way(None, result)])
            build.aliases.fork(result, [Way(None, twin)])


def _from_last_turn(operator: Operator, way: Way) -> Way:
    """A way seen at the end of the body, seen from behind the loop."""
    steps = operator.outputs[operator.attrs["n_carried"]]
    taken = partial(greater_than, steps, 0) if way.taken is always else None
    return Way(taken, builder().aliases.latest(way.target), way.is_view)


def _kept_start(operator: Operator, own: Sequence[Way]) -> Callable[[], Any] | None:
    """Tells whether a loop variable is still the object that it was before the loop."""
    flags = [way.taken for way in own]
    if None in flags:
        return None
    if always in flags:
        return always
    steps = operator.outputs[operator.attrs["n_carried"]]
    if not flags:
        return partial(equal, steps, 0)
    made: list[Any] = []

    def taken() -> Any:
        if not made:
            made.append(_carry_flag(operator, flags))
        return made[0]

    return taken


def _carry_flag(operator: Operator, flags: Sequence[Any]) -> Variable:
    with builder().resume(operator.outputs[0].block):
        head, out = add_carried(operator, _constant_before(operator))
    with capturing_late(operator), builder().resume(operator.attrs["body"]):
        kept = flags[0]()
        for flag in flags[1:]:
            kept = _either(kept, flag())
        end_carried(operator, head if kept is True else logical_and(head, kept), out)
    return out


def _constant_before(operator: Operator) -> Variable:
    """True, recorded in front of the operator."""
    block = operator.outputs[0].block
    made: Variable = constant(True)
    block.ops.insert(block.ops.index(operator), block.ops.pop())
    return made
