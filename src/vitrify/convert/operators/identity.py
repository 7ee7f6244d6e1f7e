"""`is` and `id`: whether values are one object. Where a tensor decided that, only the program may know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.errors import UnsupportedError
from ...eager.tensor import Tensor
from ...ir.aliases import Way, always, any_of, both
from ...ir.builder import current_builder
from ...ir.graph_tensor import as_number, is_number
from ...ir.program import Block, Variable
from ...ir.varying import kinds_of
from ...ops.compare import equal, logical_and
from ..containers.hashed_tensors import is_item, is_known_by_itself, undecided_object
from ..control.held_items import may_be_one
from ..control.numbered import is_head, number_of, reached, ways_to
from ..state.ownership import maybe_the_same
from ..state.places import kind_of
from ..values.base import Unmergeable, builder, is_graph, is_tensor
from ..values.facts import ask
from ..values.foreign import undecided_identity
from ..values.optional import is_none, optional_kind


def is_same(left: Any, right: Any) -> Any:
    """`left is right`: a bool, or a number of the program."""
    for value in (left, right):
        if isinstance(value, Unmergeable):
            raise value.fail()
    if left is right:
        return True
    if not (is_graph(left) or is_graph(right)):
        _refuse_merged_containers(left, right)
        return False
    return _is_object(left, right) if is_graph(left) else _is_object(right, left)


def identity_of(value: Any) -> Any:
    """`id(value)`: an int, or a number of the program where a tensor decides which tensor it is."""
    if isinstance(value, Unmergeable):
        raise value.fail()
    build = current_builder()
    if build is None:
        return id(value)
    if maybe_the_same(build.forks, value):
        raise undecided_identity(kind_of(value))
    if not is_known_by_itself(value):
        return id(value)
    if isinstance(value, Variable) and _is_made_in_loop(value.block):
        raise undecided_object()
    return _first_like(value, list(build.identified))


def _first_like(tensor: Any, known: Sequence[Any]) -> Any:
    """The number of the first of the tensors that it is; its own, which is known from now on, where it is none."""
    if known:
        first, *others = known
        same = is_same(tensor, first)
        if isinstance(same, bool):
            return id(first) if same else _first_like(tensor, others)
        return builder().choose(same, lambda: id(first), lambda: _first_like(tensor, others), "id()")
    if not any(other is tensor for other in builder().identified):
        builder().identified.append(tensor)
    return id(tensor)


def _is_made_in_loop(block: Block | None) -> bool:
    """Whether each turn of a loop, or call, has its own: other tensors, with other numbers."""
    while block is not None:
        if block in builder().loop_bodies or block.name:
            return True
        block = block.parent
    return False


def _is_object(value: Any, other: Any) -> Any:
    """Whether a tensor or number of the program is `other`, which is not the same Variable."""
    if other is None:
        return is_none(value)
    if optional_kind(value) is not None and optional_kind(other) is not None:
        raise undecided_identity("value")
    if isinstance(other, bool):
        return _is_bool(value, other)
    if is_tensor(other) and not is_number(other) and not is_number(value):
        return _is_tensor(value, other)
    if not is_tensor(other) or is_number(other):
        _refuse_numbers(value, other)
    return False


def _is_bool(value: Any, other: bool) -> Any:
    """True and False are one object each."""
    if optional_kind(value) is not None:
        return builder().choose(is_none(value), lambda: False, lambda: _is_bool(value, other), "is")
    holds = ask(value, lambda kind: kind is bool)
    if holds is False:
        return False
    if holds is not True and value.ndim:
        raise undecided_identity("tensor")
    same = value == other
    return same if holds is True else as_number(logical_and(holds, same))


def _refuse_numbers(value: Any, other: Any) -> None:
    """Raise UnsupportedError for numbers of one class: small ones are one object each, others are not."""
    if kinds_of(value) & kinds_of(other):
        raise UnsupportedError(
            "`is` between numbers that are known only when the program runs", hint="compare them with =="
        )


def _is_tensor(value: Any, other: Any) -> Any:
    """Whether two tensors are one object: on the paths on which both are what they come from.

    Raises UnsupportedError where nothing tells whether it is such a path.
    """
    build = builder()
    first, second = (build.held(v) if isinstance(v, Tensor) else v for v in (value, other))
    same: Any = False
    ways, others = _sources(first, second), _sources(second, first)
    for one in ways:
        for way in others:
            is_numbered = build.numbers_heads and (is_head(one.target) or is_head(way.target))
            is_one = build.tensor_of(one.target) is build.tensor_of(way.target)
            if not is_one and not is_numbered:
                build.apart.add((one.target, way.target))
                continue
            if one.taken is None or way.taken is None:
                raise undecided_identity("tensor")
            flag = both(one.taken(), way.taken())
            if not is_one:
                flag = both(flag, equal(number_of(one.target), number_of(way.target)))
            same = flag if same is False else any_of(same, flag)
    if same is False and any(is_item(way.target) for way in (*ways, *others)):
        _refuse_items([way.target for way in ways], [way.target for way in others])
    return same if isinstance(same, bool) else as_number(same)


def _sources(var: Variable, other: Variable) -> list[Way]:
    """The ways on which `var` is another object: `other`, one that is itself on every path, or one that both may be."""
    aliases, others = builder().aliases, reached(other)
    ways = aliases.ways(var, lambda v: v if v is other or v not in aliases.forks else None)
    for target in reached(var):
        if target in others and target in aliases.forks and target is not var and target is not other:
            ways += ways_to(target, var)
    return [Way(always, var), *[way for way in ways if not way.is_view]]


def _refuse_items(first: Sequence[Variable], second: Sequence[Variable]) -> None:
    """Raise ForkedError where one of these was read from a list that may hold one of those."""
    if may_be_one(first, second):
        raise undecided_identity("tensor")


def _refuse_merged_containers(left: Any, right: Any) -> None:
    build = current_builder() if _is_container(left) and _is_container(right) else None
    if build is not None and any(part is right for part in maybe_the_same(build.forks, left)):
        raise undecided_identity(kind_of(right))


def _is_container(value: Any) -> bool:
    return isinstance(value, (list, dict, set)) or hasattr(value, "__dict__")
