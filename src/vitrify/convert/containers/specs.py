"""What is known of an item of a list whose length a program decides: how it is put together of tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...core.closures import CLOSURES
from ...core.dtype import int64
from ...core.meta import ListMeta, Meta
from ...core.open_range import OpenRange
from ...core.pytree import OneOf, OpenTuple
from ...core.size import Size
from ...ir.graph_tensor import GraphTensor, sample
from .choices import ChoiceSpec
from .text_items import TextSpec

CODE = Meta((), int64)
"""Of the number that says which class an item has."""


@dataclass(frozen=True)
class TensorSpec:
    """A tensor, or a number that becomes one (`is_number`: all items are Python numbers in eager code).

    `is_mixed`: some are numbers there, some tensors. A second list has the class of each, one of `kinds`; where none
    are known, arithmetic means the same for both, and telling them apart is refused.
    """

    meta: Meta
    is_number: bool = False
    is_mixed: bool = False
    kinds: frozenset[type] = frozenset()

    def classes(self) -> frozenset[type]:
        """The classes that items have in eager code; none where those are not known."""
        if self.is_mixed:
            return self.kinds
        return frozenset({type(sample(self.meta)) if self.is_number else GraphTensor})


@dataclass(frozen=True)
class SameSpec:
    """A Python value that every item has."""

    value: Any


@dataclass(frozen=True)
class StructSpec:
    """A container of known structure: a tuple, dict, dataclass, or a list of known length.

    `shared`: as that of ListSpec, of a list; `TWICE` of a dict or object, too.
    """

    kind: Any
    extra: Any
    children: tuple[Any, ...]
    shared: int = 0


@dataclass(frozen=True)
class ListSpec:
    """A list of any length.

    `shared`: others may know it, too, so that a change of it here would go unseen there; with 2 (`TWICE`) the list that
    holds it may itself have it twice.
    """

    item: Any
    shared: int = 0


Spec = Any  # one of these
TWICE = 2


def is_list_spec(spec: Spec) -> bool:
    """Whether it is the spec of a list."""
    return isinstance(spec, ListSpec) or (isinstance(spec, StructSpec) and spec.kind is list)


def can_be_twice(spec: Spec | None) -> bool:
    """Whether a value of this spec is a list, dict or object, or holds one: somebody may ask which one it is."""
    if not isinstance(spec, StructSpec):
        return isinstance(spec, ListSpec)
    return not issubclass(spec.kind, _VALUES) or any(map(can_be_twice, spec.children))


_VALUES = (tuple, OneOf, OpenTuple, OpenRange, Size, *CLOSURES)


def holds_lists(spec: Spec | None) -> bool:
    """Whether a value of this spec is a list, or holds one."""
    return is_list_spec(spec) or (isinstance(spec, StructSpec) and any(map(holds_lists, spec.children)))


def metas_of(spec: Spec) -> list[Meta | ListMeta]:
    """The metas of the tensors and lists of tensors that a value of this spec is taken apart into."""
    if isinstance(spec, (TensorSpec, ChoiceSpec)):
        return [spec.meta, CODE] if isinstance(spec, TensorSpec) and spec.kinds else [spec.meta]
    if isinstance(spec, TextSpec):
        return list(spec.metas)
    if isinstance(spec, StructSpec):
        return [meta for child in spec.children for meta in metas_of(child)]
    return [ListMeta(meta) for meta in metas_of(spec.item)] if isinstance(spec, ListSpec) else []


def are_tensors(item: Spec) -> list[bool]:
    """For each list Variable of a list of such items, whether what it holds are tensors, or may be."""
    if isinstance(item, TensorSpec):
        return [not item.is_number, False] if item.kinds else [not item.is_number]
    if isinstance(item, StructSpec):
        return [is_tensor for child in item.children for is_tensor in are_tensors(child)]
    return are_tensors(item.item) if isinstance(item, ListSpec) else [False] * len(metas_of(item))
