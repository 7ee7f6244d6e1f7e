"""unique and unique_consecutive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.alias import aliased
from ..core.dtype import DType, as_dtype, int32, int64
from ..core.errors import DTypeError
from ..core.meta import UNKNOWN, Meta, normalize_axis
from .registry import NoGradient, define_op
from .shape import flatten, unsqueeze_op

CHOICE = NoGradient("which elements remain depends on their values")


def _metas(x: Meta, axis: int, wanted: Sequence[bool], dtype: DType) -> tuple[Meta, ...]:
    """Of the remaining slices, and of the index, inverse and counts that are wanted (else empty)."""
    sizes = [UNKNOWN, x.shape[axis], UNKNOWN][-len(wanted) :]
    side = tuple(Meta((size if want else 0,), dtype) for size, want in zip(sizes, wanted))
    return (x.with_shape((*x.shape[:axis], UNKNOWN, *x.shape[axis + 1 :])), *side)


def _filled(xp: Any, found: Any, wanted: Sequence[bool], dtype: DType) -> tuple[Any, ...]:
    """`found`, one array for each thing wanted, with empty ones in place of the others."""
    given = iter(found)
    return tuple(next(given).reshape(-1).astype(dtype.np) if want else xp.empty((0,), dtype.np) for want in wanted)


def _unique_kernel(
    xp: Any, x: Any, *, axis: int, index: bool, inverse: bool, counts: bool, dtype: DType
) -> tuple[Any, ...]:
    found = xp.unique(
        x, return_index=index, return_inverse=inverse, return_counts=counts, axis=None if x.ndim == 1 else axis
    )
    wanted = (index, inverse, counts)
    values, *side = found if any(wanted) else (found,)
    return (values, *_filled(xp, side, wanted, dtype))


unique_op = define_op(
    "unique",
    kernel=_unique_kernel,
    meta=lambda x, *, axis, index, inverse, counts, dtype: _metas(x, axis, (index, inverse, counts), dtype),
    vjp=CHOICE,
    outputs=("out", "index", "inverse", "counts"),
    maps={"paddle": "unique"},
)


def _row_of(x: Any, axis: int | None, op: str) -> tuple[Any, int]:
    """x and the axis to look along; flattened without one."""
    if axis is None:
        return flatten(x), 0
    x = unsqueeze_op(x, axes=(0,)) if x.ndim == 0 else x
    return x, normalize_axis(op, axis, x.ndim)


def _index_dtype(op: str, dtype: Any) -> DType:
    wanted = as_dtype(dtype)
    if wanted not in (int32, int64):
        raise DTypeError(f"{op}: dtype of the indices must be int32 or int64, got {wanted.name}")
    return wanted


def _chosen(found: Sequence[Any], wanted: Sequence[bool]) -> Any:
    out = (found[0], *(value for value, want in zip(found[1:], wanted) if want))
    return out if len(out) > 1 else out[0]


def unique(
    x: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None, dtype: Any = "int64", sorted: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """The different elements of x (or slices along `axis`), ascending.

    With the flags also, each a 1-D tensor of `dtype`: where each stands first, which of them each element of x is,
    and how often each occurs. Source: paddle.unique.

    Example:
        >>> import vitrify as paddle
        >>> values, counts = paddle.unique(paddle.to_tensor([2, 3, 3, 1]), return_counts=True)
        >>> values.tolist(), counts.tolist()
        ([1, 2, 3], [1, 1, 2])
    """
    row, at = _row_of(x, axis, "unique")
    wanted = (bool(return_index), bool(return_inverse), bool(return_counts))
    index, inverse, counts = wanted
    kind = _index_dtype("unique", dtype)
    return _chosen(unique_op(row, axis=at, index=index, inverse=inverse, counts=counts, dtype=kind), wanted)


def _consecutive_kernel(xp: Any, x: Any, *, axis: int, inverse: bool, counts: bool, dtype: DType) -> tuple[Any, ...]:
    rows = xp.moveaxis(x, axis, 0)
    size = rows.shape[0]
    differs = rows[1:] != rows[:-1]
    changes = differs.any(axis=tuple(range(1, rows.ndim)))
    first = xp.concatenate([xp.ones((min(size, 1),), bool), changes])
    starts = xp.nonzero(first)[0]
    runs = xp.diff(xp.append(starts, size))
    values = xp.ascontiguousarray(xp.moveaxis(rows[starts], 0, axis))
    wanted = (inverse, counts)
    side = [value for value, want in zip((xp.cumsum(first) - 1, runs), wanted) if want]
    return (values, *_filled(xp, side, wanted, dtype))


unique_consecutive_op = define_op(
    "unique_consecutive",
    kernel=_consecutive_kernel,
    meta=lambda x, *, axis, inverse, counts, dtype: _metas(x, axis, (inverse, counts), dtype),
    vjp=CHOICE,
    outputs=("out", "inverse", "counts"),
    maps={"paddle": "unique_consecutive"},
)


@aliased(x="input", axis="dim")
def unique_consecutive(
    x: Any, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None,
    dtype: Any = "int64", name: str | None = None,
) -> Any:  # fmt: skip
    """x (or its slices along `axis`) with each run of equal elements reduced to one.

    With the flags also which run each element belongs to, and how long the runs are. Source: paddle.unique_consecutive.

    Example:
        >>> import vitrify as paddle
        >>> paddle.unique_consecutive(paddle.to_tensor([1, 1, 2, 1])).tolist()
        [1, 2, 1]
    """
    row, at = _row_of(x, axis, "unique_consecutive")
    wanted = (bool(return_inverse), bool(return_counts))
    kind = _index_dtype("unique_consecutive", dtype)
    found = unique_consecutive_op(row, axis=at, inverse=wanted[0], counts=wanted[1], dtype=kind)
    return _chosen(found, wanted)


METHODS = {"unique": unique, "unique_consecutive": unique_consecutive}
__all__ = ["unique", "unique_consecutive"]
