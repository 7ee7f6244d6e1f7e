"""Which operators compute row by row: on the elements of the last dimensions and on single numbers made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.meta import Meta, Shape
from ..ops.expression_size import primitives_of
from ..ops.scalar import WITHOUT_CODE
from .decompose import decomposed
from .ssa import Graph, Literal, Op, Value

# Primitives that raise errors for some integers.
_RAISE_OF_INTEGERS = {"pow", "floordiv", "mod", "fmod", "reciprocal"}
_LARGEST_POWER = 64


class Rows(NamedTuple):
    """Arrays of `shape` seen as rows of their last `rank` dimensions; with rank 0 single elements."""

    shape: Shape
    rank: int

    @property
    def reduced(self) -> Shape:
        """The shape of one number for each row, with the dimensions of a row kept as 1."""
        return (*self.shape[: len(self.shape) - self.rank], *(1,) * self.rank)

    def is_narrow(self, value: Value) -> bool:
        """Whether an operand has one number for each row."""
        return all(size == 1 for size in _row(value, self.rank))

    def is_whole(self, value: Value) -> bool:
        """Whether an operand has an element for each one of a row."""
        row, own = _row(value, self.rank), self.shape[-self.rank :]
        return len(row) == self.rank and all((a == 1) == (b == 1) for a, b in zip(row, own))

    def with_(self, other: Rows) -> Rows | None:
        """The rows of two operators that are computed together; None where these may not be."""
        if self.shape == other.shape:
            ranks = {self.rank, other.rank} - {0}
            return Rows(self.shape, max(ranks, default=0)) if len(ranks) < 2 else None
        if self.rank and not other.rank and other.shape == self.reduced:
            return self
        return other if other.rank and not self.rank and self.shape == other.reduced else None


def _row(value: Value, rank: int) -> Shape:
    assert isinstance(value.meta, Meta)
    return value.meta.shape[-rank:]


def reduction_rank(op: Op) -> int:
    """Over how many of the last dimensions an operator combines elements; 0 where it does nothing of the kind."""
    if op.op.combiner is None or len(op.inputs) != 1 or op.has_refs:
        return 0
    meta, axes = getattr(op.inputs[0], "meta", None), op.attrs["axis"]
    if not isinstance(meta, Meta) or meta.dtype.is_complex:
        return 0
    return len(axes) if sorted(axes) == list(range(meta.ndim - len(axes), meta.ndim)) else 0


def column_rank(op: Op) -> int:
    """How many of the last dimensions an operator leaves, which combines elements over all others; else 0."""
    if op.op.combiner is None or len(op.inputs) != 1 or op.has_refs or reduction_rank(op):
        return 0
    meta, axes = getattr(op.inputs[0], "meta", None), op.attrs["axis"]
    if not isinstance(meta, Meta) or meta.dtype.is_complex or not axes:
        return 0
    return meta.ndim - len(axes) if sorted(axes) == list(range(len(axes))) else 0


def is_pointwise(op: Op) -> bool:
    """Whether each element of the result depends on the elements at the same place alone, always has a value, and has
    machine code that computes it.
    """
    kind = op.op
    if kind.scalar is None or kind.raises or kind.effect or kind.random or kind.multiple:
        return False
    if kind.dynamic and op.has_refs:
        return False
    return _are_real([op.outputs[0], *op.inputs]) and _has_code(op)


def _has_code(op: Op) -> bool:
    """Whether the primitives of an operator on real numbers have machine code for its dtypes."""
    names = primitives_of(op.op.scalar, len(op.op.inputs), op.attrs)
    if not names.isdisjoint(WITHOUT_CODE):
        return False
    dtypes = [v.meta.dtype for v in op.inputs if v is not None]
    if "nextafter" in names:
        return all(d.itemsize > 2 for d in dtypes)
    if names.isdisjoint(_RAISE_OF_INTEGERS) or any(d.is_floating for d in dtypes):
        return True
    exponent = op.inputs[-1]
    return names == {"pow"} and type(exponent) is Literal and 0 <= exponent.value <= _LARGEST_POWER  # type: ignore[operator]


def _are_real(values: Sequence[Any]) -> bool:
    return all(isinstance(v and v.meta, Meta) and not v.meta.dtype.is_complex for v in values)


def rows_of(op: Op) -> Rows | None:
    """The rows that an operator computes; None where it does more than that."""
    if is_pointwise(op):
        return Rows(op.outputs[0].meta.shape, 0)  # type: ignore[union-attr]
    rank = reduction_rank(op) or column_rank(op)
    if rank:
        return Rows(op.inputs[0].meta.shape, rank)
    form = decomposed(op)
    return None if form is None else _all_rows(form)


def _all_rows(form: Graph) -> Rows | None:
    found: list[Rows] = []
    ends: set[Value] = set()
    for part in form.ops:
        rows = rows_of(part)
        if rows is None or not ends.isdisjoint(part.values):
            return None
        found.append(rows)
        if drops_rows(part):
            ends.update(part.outputs)
    # Those that reduce first: without them one number for each row is like any other.
    found.sort(key=lambda rows: -rows.rank)
    whole = found[0]
    for rows in found[1:]:
        joined = whole.with_(rows)
        if joined is None:
            return None
        whole = joined
    return whole


def drops_rows(op: Op) -> bool:
    """Whether the result of a reduction does not go back to the rows: its dimensions are lost, or it is there when all
    rows are done.
    """
    if column_rank(op):
        return True
    return op.op.combiner is not None and not op.attrs["keepdim"] and op.outputs[0].meta.shape != ()  # type: ignore[union-attr]


__all__ = ["Rows", "column_rank", "drops_rows", "is_pointwise", "reduction_rank", "rows_of"]
