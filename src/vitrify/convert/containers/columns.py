"""Lists whose length only a run knows as one tensor: what `to_tensor` makes of them, or what they select as indices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.errors import UnsupportedError
from ...core.pytree import is_open
from ...ir.graph_tensor import as_number
from ...ops.creation import full
from ...ops.join import stack
from ...ops.lists import list_stack_op
from ..values.base import builder
from .specs import SameSpec, StructSpec, TensorSpec


def column_of(values: Any, may_be_empty: bool) -> Any:
    """The items of a list in one tensor. Without `may_be_empty` the program raises where there are none.

    Eager code makes float32 of an empty list, whatever would be in it: callers say when that makes no difference.
    """
    return _column(values.items.spec, iter(values.items.parts), values.length(), may_be_empty)


def _column(spec: Any, parts: Iterator[Any], length: Any, may_be_empty: bool) -> Any:
    if isinstance(spec, TensorSpec):
        return _stacked(spec, next(parts), length, may_be_empty)
    if isinstance(spec, SameSpec) and isinstance(spec.value, (bool, int, float)):
        return full([length], spec.value)
    if isinstance(spec, StructSpec) and spec.kind in (list, tuple):
        return stack([_column(child, parts, length, may_be_empty) for child in spec.children], 1)
    raise UnsupportedError(
        "a tensor made of a list whose length is known only when the program runs, and whose items are no numbers, "
        "tensors or tuples of such",
        hint="collect what the tensor is made of in a list of numbers",
    )


def _stacked(spec: TensorSpec, items: Any, length: Any, may_be_empty: bool) -> Any:
    def column() -> Any:
        found = list_stack_op(items, axis=0)
        return as_number(found) if spec.is_number else found

    if not may_be_empty or -1 in spec.meta.shape:
        return column()
    none = [0, *spec.meta.shape]
    return builder().choose(as_number(length > 0), column, lambda: full(none, 0, spec.meta.dtype), "column")


def with_columns(key: Any) -> Any:
    """An index of a tensor, in which tensors stand for such lists."""
    if is_open(key) and isinstance(key, list):
        return column_of(key, may_be_empty=True)
    return tuple(map(with_columns, key)) if type(key) is tuple else key
