"""How two tensors with labelled dimensions are multiplied: the plan, and its steps in programs made ahead of time."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from ..core.cache import BoundedCache
from .registry import get_op


class Plan(NamedTuple):
    """How two tensors with these labels are multiplied: as matrices, or elementwise where nothing is summed over."""

    summed: tuple[tuple[int, int], ...]  # the dimension of x and that of y
    batch: int
    x_order: tuple[int, ...]
    x_rows: int
    y_order: tuple[int, ...]
    y_rows: int
    out_order: tuple[int, ...]


_PLANS: BoundedCache[tuple[str, str, str], Plan] = BoundedCache("einsum plans", limit=1024)


def plan_of(left: str, right: str, out: str) -> Plan:
    """The plan for operands with the labels `left` and `right`, and a result with the labels `out`."""
    return _PLANS.get_or_build((left, right, out), lambda: _plan(left, right, out))


def _plan(left: str, right: str, out: str) -> Plan:
    both = [c for c in left if c in right]
    summed, batch = [c for c in both if c not in out], [c for c in out if c in both]
    rows, columns = ([c for c in out if c in labels and c not in batch] for labels in (left, right))
    return Plan(
        tuple((left.index(c), right.index(c)) for c in summed),
        len(batch),
        tuple(left.index(c) for c in batch + rows + summed),
        len(rows),
        tuple(right.index(c) for c in batch + summed + columns),
        len(summed),
        tuple((batch + rows + columns).index(c) for c in out),
    )


def spread_over(x: Any, labels: str, out: str) -> Any:
    """A view of the array x with its dimensions in the order of `out`, of size 1 where x has no such label."""
    found = x.transpose([labels.index(c) for c in out if c in labels])
    return found[(*(slice(None) if c in labels else None for c in out), ...)]  # of 0-D a view as well


# -- ahead of time -----------------------------------------------------------------------------------------------------


def contract_form(n: Any, x: Any, y: Any, *, left: str, right: str, out: str) -> Any:
    """The product as steps: views, and one product of stacks of matrices or of elements."""
    if x.dtype.itemsize == 2 and x.dtype.kind in "fV":
        n.refuse("products of 16-bit floats are summed in float32")
    plan = plan_of(left, right, out)
    if not plan.summed:
        a, b = (n.view(lambda v, own=own: spread_over(v, own, out), t) for t, own in ((x, left), (y, right)))
        return n.apply(get_op("multiply"), a, b)
    x, y = _matched(n, x, y, plan.summed)
    a, x_sizes = _matrices(n, x, plan.x_order, plan.batch, plan.x_rows)
    b, y_sizes = _matrices(n, y, plan.y_order, plan.batch, plan.y_rows)
    found = n.matmul(a, b)
    free = (*x_sizes[plan.batch : plan.batch + plan.x_rows], *y_sizes[plan.batch + plan.y_rows :])
    apart = n.reshape(found, (*found.shape[: plan.batch], *free))
    return n.view(lambda v: v.transpose(plan.out_order), apart)


def _matched(n: Any, x: Any, y: Any, summed: tuple[tuple[int, int], ...]) -> tuple[Any, Any]:
    """x and y with equal sizes in the dimensions summed over: against one of size 1 the other is summed alone."""
    for i, j in summed:
        if x.shape[i] == y.shape[j]:
            continue
        if x.shape[i] == 1:
            y = n.reduce("sum", y, (j,), True)
        elif y.shape[j] == 1:
            x = n.reduce("sum", x, (i,), True)
        else:
            n.refuse("sizes of one label differ")
    return x, y


def _matrices(n: Any, x: Any, order: tuple[int, ...], batch: int, rows: int) -> tuple[Any, tuple[int, ...]]:
    """x as matrices [*batch, rows, columns], and the sizes of all its dimensions in this order."""
    ordered = n.view(lambda v: v.transpose(order), x)
    sizes, cut = ordered.shape, batch + rows
    return n.reshape(ordered, (*sizes[:batch], prod(sizes[batch:cut]), prod(sizes[cut:]))), sizes


__all__ = ["Plan", "contract_form", "plan_of", "spread_over"]
