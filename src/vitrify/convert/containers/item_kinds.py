"""Items of several kinds in a list whose length only the program knows: each is one of a few, with a number for which.

The list Variables of the kinds that an item is not hold zeros there, which nobody reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.dtype import int64
from ...core.errors import UnsupportedError
from ...core.meta import Meta
from ...core.pytree import OneOf
from ...ir.numbers import as_number
from ...ops.compare import equal
from ...ops.creation import arange, assign, full
from ...ops.gather import gather
from ...ops.like import cast
from ...ops.lists import list_append_op, list_extend_op, list_len_op, list_order_op, list_stack_op, list_unstack_op
from ..values.base import builder
from ..values.emit import emit, passed_on
from ..values.one_of import GraphOneOf
from .choices import ChoiceSpec
from .specs import SameSpec, Spec, StructSpec, TensorSpec, holds_lists, metas_of

MAX_KINDS = 4
_WHICH = TensorSpec(Meta((), int64), is_number=True)
Join = Callable[[Spec, Spec], Spec]


def is_of_kinds(spec: Spec) -> bool:
    """Whether an item is of one of several kinds."""
    return isinstance(spec, StructSpec) and spec.kind is OneOf


def of_all_kinds(specs: Sequence[Spec]) -> StructSpec:
    """The spec of what is of one of these kinds."""
    return StructSpec(OneOf, None, (_WHICH, *specs))


def kinds_in(spec: Spec) -> tuple[Spec, ...]:
    """The specs of the kinds that an item may be of."""
    return spec.children[1:] if is_of_kinds(spec) else (spec,)


def has_equal_kinds(spec: Spec) -> bool:
    """Whether items of two of the kinds may be equal, as 1 and 1.0 are."""
    if not isinstance(spec, StructSpec):
        return False
    numbers = [kind for kind in kinds_in(spec) if isinstance(kind, TensorSpec)] if is_of_kinds(spec) else []
    return len(numbers) > 1 or any(map(has_equal_kinds, spec.children))


def of_kinds(a: Spec, b: Spec, join_alike: Join, error: UnsupportedError) -> StructSpec:
    """What covers items of different kinds; raises the error for those of which no zeros can be made."""
    found = list(kinds_in(a))
    for kind in kinds_in(b):
        place = next((i for i, known in enumerate(found) if _covers(known, kind, join_alike)), None)
        if place is None:
            found.append(kind)
        else:
            found[place] = join_alike(found[place], kind)
    dicts = [kind for kind in found if isinstance(kind, StructSpec) and issubclass(kind.kind, dict)]
    if len(found) > MAX_KINDS or len(dicts) > 1 or not all(map(_may_be_zeros, found)):
        raise error  # of dicts with other keys, one with keys that the run knows is made instead
    return of_all_kinds(found)


def in_step(a: Spec, b: Spec, join_alike: Join) -> StructSpec | None:
    """What covers both, each of whose kinds is as the one at its place of the other; None where there is no such."""
    if not (is_of_kinds(a) and is_of_kinds(b) and len(a.children) == len(b.children)):
        return None
    try:
        return StructSpec(OneOf, a.extra, tuple(map(join_alike, a.children, b.children)), a.shared)
    except UnsupportedError:
        return None


def _covers(known: Spec, kind: Spec, join_alike: Join) -> bool:
    try:
        join_alike(known, kind)
    except UnsupportedError:
        return False
    return True


def _may_be_zeros(spec: Spec) -> bool:
    if isinstance(spec, StructSpec):
        return not holds_lists(spec) and all(map(_may_be_zeros, spec.children))
    return isinstance(spec, (TensorSpec, SameSpec, ChoiceSpec))


def places(given: Spec, wanted: Spec, join_alike: Join) -> list[int]:
    """For each kind of `given` the place of the one of `wanted` that covers it."""
    known = kinds_in(wanted)
    return [next(i for i, kind in enumerate(known) if _is_part(kind, found, join_alike)) for found in kinds_in(given)]


def _is_part(known: Spec, kind: Spec, join_alike: Join) -> bool:
    try:
        return bool(join_alike(known, kind) == known)
    except UnsupportedError:
        return False


def packed(
    spec: StructSpec, value: Any, given: Spec, join_alike: Join, pack: Callable[[Spec, Any], list[Any]]
) -> list[Any]:
    """The Variables of a value that is of one of the kinds; `given` is its own spec."""
    at = places(given, spec, join_alike)
    is_several = isinstance(value, GraphOneOf) and is_of_kinds(given)  # texts, say, are several values of one kind
    options = value.options if is_several else (value,)
    code = _mapped(value.code, at) if is_several else at[0]
    found: list[Any] = [emit(code, int64)]
    for place, kind in enumerate(kinds_in(spec)):
        these = [index for index, of_kind in enumerate(at) if of_kind == place]
        found += pack(kind, _one(value, options, these)) if these else [_zeros(meta) for meta in metas_of(kind)]
    return found


def _one(value: Any, options: Sequence[Any], these: Sequence[int]) -> Any:
    """The one of these options, all of one kind, that the value is; any of them where it is another one."""
    first, *others = these
    if not others:
        return options[first]
    is_first = as_number(equal(value.code, first))
    return builder().choose(is_first, lambda: options[first], lambda: _one(value, options, others), "an item")


def refitted(
    given: Spec, wanted: StructSpec, join_alike: Join, refit: Callable[[Spec, Spec], list[Any]], like: Any, code: Any
) -> list[Any]:
    """The list Variables of items of spec `given`, as those of `wanted`; `like`: one as long as they are.

    code: the one with the kind of each item, where there are several.
    """
    at = places(given, wanted, join_alike)
    parts: dict[int, list[Any]] = {}
    for index, (place, kind) in enumerate(zip(at, kinds_in(given))):
        made = refit(kind, kinds_in(wanted)[place])
        held = parts.get(place)
        parts[place] = made if held is None else [_instead(code, index, a, b) for a, b in zip(held, made)]
    length = as_number(list_len_op(like))
    codes = _repeated(full([], at[0], "int64"), length) if code is None else _mapped_all(code, at)
    found = [codes]
    for place, kind in enumerate(kinds_in(wanted)):
        found += parts.get(place) or [_repeated(_zeros(meta), length) for meta in metas_of(kind)]
    return found


def _zeros(meta: Any) -> Any:
    return full([max(size, 0) for size in meta.shape], 0, meta.dtype)


def _repeated(value: Any, length: Any) -> Any:
    """A list Variable of one value that many times."""
    return list_unstack_op(full([length, *value.shape], 0, value.dtype) + value, axis=0)


def _mapped(code: Any, table: Sequence[int]) -> Any:
    return code if list(table) == list(range(len(table))) else as_number(gather(assign(list(table)), code))


def _mapped_all(codes: Any, table: Sequence[int]) -> Any:
    if list(table) == list(range(len(table))):
        return codes
    return list_unstack_op(gather(assign(list(table)), _stacked(codes)), axis=0)


def _stacked(codes: Any) -> Any:
    """The numbers in a list, which may be empty, as one tensor."""
    return list_stack_op(list_append_op(codes, full([], 0, int64)), axis=0)[:-1]


def _instead(codes: Any, index: int, others: Any, these: Any) -> Any:
    """The list Variable with the items of `these` where the code is `index`, and of `others`, as long, elsewhere."""
    length = as_number(list_len_op(codes))
    order = arange(length) + length * cast(equal(_stacked(codes), index), int64)
    return passed_on(list_order_op, list_extend_op(others, these), order)
