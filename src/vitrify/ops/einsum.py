"""Sums of products over labelled dimensions: einsum, as contractions of two tensors at a time."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np

from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, broadcast_dim
from .arguments import is_tensor
from .creation import clone
from .diagonal import diag_embed, diagonal_adjoint_op
from .einsum_equation import parse
from .einsum_plan import contract_form, plan_of, spread_over
from .elementwise import conj
from .reduce import sum_op
from .registry import OpDef, define_op
from .shape import squeeze
from .transpose import transpose_op

# -- two tensors -----------------------------------------------------------------------------------------------------


def _matched(x: Any, y: Any, summed: tuple[tuple[int, int], ...]) -> tuple[Any, Any]:
    """x and y with equal sizes in the dimensions summed over: against one of size 1 the other is summed alone."""
    for i, j in summed:
        if x.shape[i] == y.shape[j]:
            continue
        if x.shape[i] == 1:
            y = y.sum(axis=j, keepdims=True, dtype=y.dtype)
        else:
            x = x.sum(axis=i, keepdims=True, dtype=x.dtype)
    return x, y


def _matrices(xp: Any, x: Any, order: tuple[int, ...], batch: int, rows: int) -> tuple[Any, tuple[int, ...]]:
    """x as matrices [*batch, rows, columns], in memory that a matrix product reads without another copy, and the
    sizes of all its dimensions in this order.
    """
    ordered = x.transpose(order)
    sizes = ordered.shape
    cut = batch + rows
    found = ordered.reshape((*sizes[:batch], math.prod(sizes[batch:cut]), math.prod(sizes[cut:])))
    return (found if found.itemsize in found.strides[-2:] else xp.ascontiguousarray(found)), sizes


def _product(xp: Any, x: Any, y: Any, left: str, right: str, out: str) -> Any:
    plan = plan_of(left, right, out)
    if not plan.summed:
        return spread_over(x, left, out) * spread_over(y, right, out)
    x, y = _matched(x, y, plan.summed)
    a, x_sizes = _matrices(xp, x, plan.x_order, plan.batch, plan.x_rows)
    b, y_sizes = _matrices(xp, y, plan.y_order, plan.batch, plan.y_rows)
    found = xp.matmul(a, b)
    free = (*x_sizes[plan.batch : plan.batch + plan.x_rows], *y_sizes[plan.batch + plan.y_rows :])
    return found.reshape((*found.shape[: plan.batch], *free)).transpose(plan.out_order)


def _contract_kernel(xp: Any, x: Any, y: Any, *, left: str, right: str, out: str) -> Any:
    if x.dtype.itemsize == 2 and x.dtype.kind in "fV":  # 16-bit products are summed in float32, through BLAS
        return _product(xp, x.astype(xp.float32), y.astype(xp.float32), left, right, out).astype(x.dtype)
    return _product(xp, x, y, left, right, out)


def _sizes(x: Meta, y: Meta, left: str, right: str) -> dict[str, int]:
    sizes = dict(zip(left, x.shape))
    for label, size in zip(right, y.shape):
        try:
            sizes[label] = broadcast_dim(sizes.get(label, size), size)
        except ValueError as err:
            raise ShapeError(
                f"einsum: sizes differ for one label: {x} and {y} have {err} in dimensions {left.index(label)} and"
                f" {right.index(label)}"
            ) from None
    return sizes


def _contract_meta(x: Meta, y: Meta, *, left: str, right: str, out: str) -> Meta:
    if x.dtype.is_bool:
        raise DTypeError(f"einsum: x is {x}, y is {y}, expected numeric dtypes")
    sizes = _sizes(x, y, left, right)
    return x.with_shape([sizes[c] for c in out])


def _contract_work(x: Meta, y: Meta, *, left: str, right: str, out: str) -> float:
    return 2.0 * math.prod(max(size, 1) for size in _sizes(x, y, left, right).values())


def _fit_kernel(xp: Any, x: Any, like: Any) -> Any:
    axes = tuple(i for i, (a, b) in enumerate(zip(x.shape, like.shape)) if b == 1 != a)
    return xp.broadcast_to(x.sum(axis=axes, keepdims=True) if axes else x, like.shape).copy()


def _fit_form(n: Any, x: Any, like: Any) -> Any:
    axes = tuple(i for i, (a, b) in enumerate(zip(x.shape, like.shape)) if b == 1 != a)
    total = n.reduce("sum", x, axes, True) if axes else x
    return n.copy(n.view(lambda a: np.broadcast_to(a, like.shape), total))


# A cotangent summed over what its tensor was broadcast along, and repeated along what was summed alone.
fit_like_op: OpDef = define_op(
    "fit_like",
    kernel=_fit_kernel,
    meta=lambda x, like: x.with_shape(like.shape),
    vjp={"x": lambda ct, *, x_like: _fitted(ct, x_like)},
    shape_only=["like"],
    ahead=_fit_form,
)


def _fitted(value: Any, like: Any) -> Any:
    known = tuple(like.shape)
    return value if UNKNOWN not in known and tuple(value.shape) == known else fit_like_op(value, like)


# Each label of an operand is one of the other operand or of the result, so that the vjps are contractions as well.
contract_op: OpDef = define_op(
    "contract",
    kernel=_contract_kernel,
    meta=_contract_meta,
    vjp={
        "x": lambda ct, *, x_like, y, left, right, out: _fitted(
            contract_op(ct, conj(y), left=out, right=right, out=left), x_like
        ),
        "y": lambda ct, *, x, y_like, left, right, out: _fitted(
            contract_op(conj(x), ct, left=left, right=out, out=right), y_like
        ),
    },
    promote=("x", "y"),
    work=_contract_work,
    amp="allow",
    ahead=contract_form,
)

# -- one tensor ------------------------------------------------------------------------------------------------------


def _matching_meta(x: Meta, *, axis1: int, axis2: int) -> Meta:
    a, b = x.shape[axis1], x.shape[axis2]
    if a != b and UNKNOWN not in (a, b):
        raise ShapeError(f"einsum: dimensions {axis1} and {axis2} of {x} have one label, but sizes {a} and {b}")
    rest = [d for i, d in enumerate(x.shape) if i not in (axis1, axis2)]
    return x.with_shape([*rest, b if a == UNKNOWN else a])


def _matching_form(n: Any, x: Any, *, axis1: int, axis2: int) -> Any:
    if x.shape[axis1] != x.shape[axis2]:
        n.refuse("sizes of one label differ")
    return n.copy(n.view(lambda a: a.diagonal(0, axis1, axis2), x))


# Unlike `diagonal` for matrices that must be square, which is checked when sizes become known.
matching_diagonal_op: OpDef = define_op(
    "matching_diagonal",
    kernel=lambda xp, x, *, axis1, axis2: xp.diagonal(x, 0, axis1, axis2).copy(),
    meta=_matching_meta,
    vjp={"x": lambda ct, *, x_like, axis1, axis2: diagonal_adjoint_op(ct, x_like, offset=0, axis1=axis1, axis2=axis2)},
    ahead=_matching_form,
)


def _diagonals(x: Any, labels: str) -> tuple[Any, str]:
    """x with one dimension for each label."""
    repeated = next((c for c in labels if labels.count(c) > 1), None)
    if repeated is None:
        return x, labels
    i = labels.index(repeated)
    j = labels.index(repeated, i + 1)
    single = i if x.shape[i] == 1 else j if x.shape[j] == 1 else None
    if single is not None:  # a size of 1 broadcasts to the other one
        return _diagonals(squeeze(x, single), labels[:single] + labels[single + 1 :])
    rest = labels[:i] + labels[i + 1 : j] + labels[j + 1 :]
    return _diagonals(matching_diagonal_op(x, axis1=i, axis2=j), rest + repeated)


def _summed(x: Any, labels: str, kept: set[str]) -> tuple[Any, str]:
    """x summed over the labels that nothing else needs."""
    axes = tuple(i for i, c in enumerate(labels) if c not in kept)
    if not axes:
        return x, labels
    return sum_op(x, axis=axes, keepdim=False), "".join(c for c in labels if c in kept)


def _arranged(x: Any, labels: str, out: str) -> Any:
    """x with its dimensions as `out` says; a label that is there twice puts it on a diagonal."""
    once = "".join(dict.fromkeys(out))
    perm = tuple(labels.index(c) for c in once)
    x = x if perm == tuple(range(len(perm))) else transpose_op(x, perm=perm)
    for at, c in enumerate(out):
        if c in out[:at]:
            first = out.index(c)
            x = transpose_op(x, perm=(*(i for i in range(x.ndim) if i != first), first))
            x = diag_embed(x, dim1=first, dim2=at)
    return x


# -- any number ------------------------------------------------------------------------------------------------------


def _needed(terms: list[str], out: str, i: int, j: int) -> set[str]:
    """The labels that the product of operands i and j must keep."""
    return set(out).union(*(term for k, term in enumerate(terms) if k not in (i, j)))


def _growth(tensors: list[Any], terms: list[str], pair: tuple[int, int], kept: set[str]) -> int:
    """How much more memory the product of a pair takes than both do; sizes not known yet count as 16."""
    (x, left), (y, right) = ((tensors[k], terms[k]) for k in pair)
    sizes = dict(zip(left + right, (*x.shape, *y.shape)))

    def count(labels: set[str]) -> int:
        return math.prod(16 if sizes[c] == UNKNOWN else sizes[c] for c in labels)

    return count(kept & set(sizes)) - count(set(left)) - count(set(right))


def _contracted(tensors: list[Any], terms: list[str], out: str) -> tuple[Any, str]:
    """All operands as one with its labels, two after two, those first whose product is small."""
    if len(tensors) == 1:
        return tensors[0], terms[0]
    pairs = combinations(range(len(terms)), 2)
    i, j = (0, 1) if len(terms) == 2 else min(pairs, key=lambda p: _growth(tensors, terms, p, _needed(terms, out, *p)))
    needed = _needed(terms, out, i, j)
    x, left = _summed(tensors[i], terms[i], needed | set(terms[j]))
    y, right = _summed(tensors[j], terms[j], needed | set(terms[i]))
    found = "".join(c for c in dict.fromkeys(out + left + right) if c in needed and c in left + right)
    product = contract_op(x, y, left=left, right=right, out=found)
    rest = [k for k in range(len(terms)) if k not in (i, j)]
    return _contracted([product, *(tensors[k] for k in rest)], [found, *(terms[k] for k in rest)], out)


def einsum(equation: str, *operands: Any) -> Any:
    """The sum of products of operands over labelled dimensions: "ij,jk->ik" is a matrix product.

    equation: a letter for each dimension of each operand, "..." for any number of them, which broadcast; behind "->"
    the labels of the result, by default "..." and those that occur once, in order. Labels that the result lacks are
    summed over; one that an operand has twice means its diagonal; dimensions of size 1 broadcast.
    Raises ArgumentError for an equation that does not fit, ShapeError where sizes differ. Source: paddle.einsum.

    Example:
        >>> import vitrify as paddle
        >>> paddle.einsum("ij,jk->ki", paddle.ones([2, 3]), paddle.ones([3, 1])).tolist()
        [[3.0, 3.0]]
        >>> paddle.einsum("...ii->...", paddle.ones([2, 3, 3])).tolist()
        [3.0, 3.0]
    """
    tensors = list(operands)
    if not tensors or not all(map(is_tensor, tensors)):
        raise ArgumentError(f"einsum: expects an equation and at least one Tensor, got {len(tensors)} operands")
    terms, out = parse(equation, [t.ndim for t in tensors])
    single = [_diagonals(x, labels) for x, labels in zip(tensors, terms)]
    found, labels = _contracted([x for x, _ in single], [labels for _, labels in single], out)
    found, labels = _summed(found, labels, set(out))
    result = _arranged(found, labels, out)
    return clone(result) if len(tensors) == 1 and set(terms[0]) == set(out) else result


__all__ = ["einsum"]
