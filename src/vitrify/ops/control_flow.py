"""Operators with blocks. Lowering replaces each Block attribute by a callable from arrays to a tuple of arrays,
so their kernels are plain Python over those callables and no interpreter switches on their names.
"""

from __future__ import annotations

from typing import Any, Protocol

from ..core.dtype import int64
from ..core.meta import UNKNOWN, ListMeta, Meta
from .registry import VARIADIC_OUTPUTS, StructuralGradient, define_op


class Callee(Protocol):
    """A lowered block."""

    n_outputs: int

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """The block's outputs."""



def merge_metas(a: Any, b: Any) -> Any:
    """What is known of a value that is `a` on one path and `b` on the other: same rank and dtype, differing sizes -1."""
    if isinstance(a, ListMeta):
        return ListMeta(merge_metas(a.item, b.item))
    if len(a.shape) != len(b.shape):
        return Meta((UNKNOWN,) * max(len(a.shape), len(b.shape)), a.dtype)
    return Meta(tuple(x if x == y else UNKNOWN for x, y in zip(a.shape, b.shape)), a.dtype)


def _if_kernel(xp: Any, pred: Any, *captured: Any, then: Callee, orelse: Callee) -> tuple[Any, ...]:
    """Runs one branch on the captured values. Both give equal numbers of outputs; one left out is None."""
    return (then if bool(pred) else orelse)(*captured)


def _if_meta(pred: Any, *captured: Any, then: Any, orelse: Any) -> tuple[Any, ...]:
    return tuple(merge_metas(a.meta, b.meta) for a, b in zip(then.outputs, orelse.outputs))


if_op = define_op(
    "if",
    kernel=_if_kernel,
    meta=_if_meta,
    vjp=StructuralGradient("each branch is differentiated as a block"),
    outputs=VARIADIC_OUTPUTS,
)


def _while_kernel(
    xp: Any, *values: Any, cond: Callee | None, body: Callee, n_carried: int, n_xs: int, reverse: bool
) -> tuple[Any, ...]:
    """Inputs: carried values, lists read one item an iteration (xs), captured values; with no `cond`, the first of
    all is the trip count. Outputs: carried values, the number of iterations, lists written one item an iteration.
    """
    count = None
    if cond is None:
        count, values = int(values[0]), values[1:]
    carried = values[:n_carried]
    xs = values[n_carried : n_carried + n_xs]
    captured = values[n_carried + n_xs :]
    written: list[list[Any]] = [[] for _ in range(body.n_outputs - n_carried)]
    steps = 0
    while steps < count if cond is None else bool(cond(*carried, *captured)[0]):  # type: ignore[operator]
        at = count - 1 - steps if reverse else steps  # type: ignore[operator]
        outs = body(*carried, *[x[at] for x in xs], *captured)
        carried = outs[:n_carried]
        for kept, item in zip(written, outs[n_carried:]):
            kept.append(item)
        steps += 1
    return (*carried, xp.asarray(steps), *written)


def _while_meta(
    *values: Any, cond: Any, body: Any, n_carried: int, n_xs: int, reverse: bool
) -> tuple[Any, ...]:
    start = values[1:] if cond is None else values
    carried = [merge_metas(a, b.meta) for a, b in zip(start[:n_carried], body.outputs[:n_carried])]
    written = [ListMeta(v.meta) for v in body.outputs[n_carried:]]
    return (*carried, Meta((), int64), *written)


while_op = define_op(
    "while",
    kernel=_while_kernel,
    meta=_while_meta,
    vjp=StructuralGradient("the body is differentiated as a block and run in reverse over the lists it wrote"),
    outputs=VARIADIC_OUTPUTS,
)
