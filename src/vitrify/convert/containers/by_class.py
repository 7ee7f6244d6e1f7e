"""What is None or a number of one class on one path and of another class on another, as an item of a list.

One Variable stands for it (`ir/varying.py`). An item of several kinds keeps each by itself, so that the int among
floats stays one, with a number that says which it is.
"""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import Any

from ...core.meta import Meta
from ...ir.graph_tensor import GraphTensor
from ...ir.numbers import as_number, number_dtype
from ...ir.program import Variable
from ...ir.varying import KIND, KINDS, kind_of
from ...ops.creation import assign, full
from ...ops.gather import gather
from ...ops.like import cast
from ...ops.promote import SCALARS
from ..values.base import builder
from ..values.emit import dtype_of
from ..values.one_of import GraphOneOf
from ..values.optional import is_none, optional_kind
from .item_kinds import of_all_kinds
from .specs import SameSpec, Spec, StructSpec, TensorSpec

Classes = frozenset[type]


def spec_by_class(value: Any, spec_of_rest: Callable[[Any], TensorSpec]) -> StructSpec | None:
    """The spec of a value of several classes; None for any other. `spec_of_rest`: of what numbers and tensors share."""
    groups = _groups(value)
    if len(groups) < 2:
        return None

    def spec(group: Classes) -> Spec:
        if group == {NoneType}:
            return SameSpec(None)
        return TensorSpec(Meta((), _dtype(group)), is_number=True) if _is_of_numbers(group) else spec_of_rest(value)

    return of_all_kinds([*map(spec, groups)])


def as_options(value: Any) -> Any:
    """`value`; one of several classes as a value of one of several kinds, in the order of its spec."""
    groups = _groups(value)
    if len(groups) < 2:
        return value
    found = value
    if groups[0] == {NoneType}:
        found = builder().choose(is_none(value), lambda: _nothing(value), lambda: value, "an item")
    places = [next((i for i, group in enumerate(groups) if kind in group), 0) for kind in KINDS]
    code = as_number(gather(assign(places), value.__dict__[KIND].code))
    return GraphOneOf([code, *[_option(found, group) for group in groups]])


def _groups(value: Any) -> list[Classes]:
    """The classes of a value, apart from each other as far as a list holds them so: tensors go with numbers."""
    if not isinstance(value, Variable):
        return []
    kind = kind_of(value)
    rest = frozenset[type]() if kind is None else kind.kinds - {NoneType}
    are_apart = len(rest) > 1 and GraphTensor not in rest
    groups = [frozenset({known}) for known in KINDS if known in rest] if are_apart else [rest]
    return [frozenset({NoneType}), *groups] if optional_kind(value) is not None else groups


def _option(value: Any, group: Classes) -> Any:
    if group == {NoneType}:
        return None
    return as_number(cast(value, _dtype(group))) if _is_of_numbers(group) else value


def _is_of_numbers(group: Classes) -> bool:
    return bool(group) and group.issubset(SCALARS)


def _dtype(group: Classes) -> Any:
    (cls,) = group
    return number_dtype(dtype_of(cls()))


def _nothing(value: Any) -> Any:
    """What stands for a value where it is None."""
    number = next((held for held in KINDS if held in SCALARS and held in value.__dict__[KIND].kinds), None)
    shape = [max(size, 0) for size in value.shape]
    return full(shape, 0, value.dtype) if number is None else number(0)
