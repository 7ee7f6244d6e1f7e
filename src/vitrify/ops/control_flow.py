"""Operators with blocks. Lowering replaces each Block attribute by a callable from arrays to a tuple of arrays,
so their kernels are plain Python over those callables and no interpreter switches on their names.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Protocol

from ..core.dtype import int64
from ..core.errors import ArgumentError
from ..core.meta import UNKNOWN, FrameMeta, ListMeta, Meta
from .registry import VARIADIC_OUTPUTS, StructuralGradient, define_op

DEPTH_FACTOR = 10
"""Calls of a program's functions may nest this many times as deep as Python's own."""


class Callee(Protocol):
    """A lowered block."""

    n_outputs: int

    def consume(self, frame: list[Any]) -> tuple[Any, ...]:
        """The block's outputs for a list of arrays, which it takes over: each is given up after its last use."""


class HandedList(list[Any]):
    """A list that its caller gives up: the op that takes it may empty it."""

    __slots__ = ()


# What a kernel that runs blocks is: it asks for them one by one and returns its outputs.
Steps = Generator[tuple[Callee, list[Any]], tuple[Any, ...], tuple[Any, ...]]


def merge_metas(a: Any, b: Any) -> Any:
    """What is known of a value that is `a` on one path and `b` on the other: rank and dtype, differing sizes -1."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, FrameMeta):
        return a
    if isinstance(a, ListMeta):
        return ListMeta(merge_metas(a.item, b.item))
    if len(a.shape) != len(b.shape):
        return Meta((UNKNOWN,) * max(len(a.shape), len(b.shape)), a.dtype)
    return Meta(tuple(x if x == y else UNKNOWN for x, y in zip(a.shape, b.shape)), a.dtype)


def _if_steps(xp: Any, pred: Any, *captured: Any, then: Callee, orelse: Callee) -> Steps:
    """Runs one branch on the captured values. Both give equal numbers of outputs; one left out is None."""
    return (yield (then if bool(pred) else orelse), list(captured))


def _meta(value: Any) -> Any:
    return None if value is None else value.meta


def check_block(op: str, name: str, block: Any, given: Sequence[Any]) -> None:
    """Raise ArgumentError unless the block takes these values: as many, and of the same kinds and dtypes."""
    if len(block.inputs) != len(given):
        raise ArgumentError(f"{op}: its block {name!r} takes {len(block.inputs)} values, {len(given)} are given")
    for var, meta in zip(block.inputs, given):
        if _kind(var.meta) != _kind(meta):
            raise ArgumentError(f"{op}: its block {name!r} takes %{var.name} as {var.meta}, given is {meta}")


def _kind(meta: Any) -> tuple[int, Any]:
    """How many lists stand around the tensor, and its dtype (None for a frame)."""
    depth = 0
    while isinstance(meta, ListMeta):
        meta, depth = meta.item, depth + 1
    return depth, getattr(meta, "dtype", None)


def _if_meta(pred: Any, *captured: Any, then: Any, orelse: Any) -> tuple[Any, ...]:
    check_block("if", "then", then, captured)
    check_block("if", "orelse", orelse, captured)
    if len(then.outputs) != len(orelse.outputs):
        raise ArgumentError(f"if: its blocks give {len(then.outputs)} and {len(orelse.outputs)} values")
    return tuple(merge_metas(_meta(a), _meta(b)) for a, b in zip(then.outputs, orelse.outputs))


if_op = define_op(
    "if",
    amp="keep",
    steps=_if_steps,
    decides=lambda then, orelse: ((0,), ()),
    meta=_if_meta,
    native=lambda n, pred, *values, then, orelse: n.branch(pred, then, orelse, values),
    vjp=StructuralGradient("each branch is differentiated as a block"),
    outputs=VARIADIC_OUTPUTS,
)


def _while_steps(
    xp: Any, *values: Any, cond: Callee | None, body: Callee, n_carried: int, n_xs: int, reverse: bool
) -> Steps:
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
    while steps < count if cond is None else bool((yield cond, [*carried, *captured])[0]):  # type: ignore[operator]
        at = count - 1 - steps if reverse else steps  # type: ignore[operator]
        given = [*carried, *[_taken(x, at) for x in xs], *captured]
        carried = values = ()  # the body's alone, which gives them up when it needs them no more
        outs = yield body, given
        carried = outs[:n_carried]
        for kept, value in zip(written, outs[n_carried:]):
            kept.append(value)
        outs, value = (), None
        steps += 1
    if reverse:  # item i of a written list belongs to iteration i, whichever way the loop runs
        written = [items[::-1] for items in written]
    return (*carried, xp.asarray(steps), *written)


def _taken(items: list[Any], at: int) -> Any:
    """An item that is needed once."""
    item = items[at]
    if items.__class__ is HandedList:
        items[at] = None
    return item


def _while_empties(*, cond: Any, body: Any, n_carried: int, n_xs: int, reverse: bool) -> range:
    start = n_carried + (cond is None)
    return range(start, start + n_xs)


def _while_decides(*, cond: Any, body: Any, n_carried: int, n_xs: int, reverse: bool) -> tuple[Any, Any]:
    return ((0,), ()) if cond is None else ((), ("cond",))


def _while_meta(*values: Any, cond: Any, body: Any, n_carried: int, n_xs: int, reverse: bool) -> tuple[Any, ...]:
    start = values[1:] if cond is None else values
    if not (0 <= n_carried <= len(body.outputs) and 0 <= n_xs <= len(start) - n_carried):
        raise ArgumentError(f"while: n_carried={n_carried} and n_xs={n_xs} don't fit {len(start)} values")
    read = start[n_carried : n_carried + n_xs]
    kept = (*start[:n_carried], *start[n_carried + n_xs :])
    if cond is not None:
        check_block("while", "cond", cond, kept)
    check_block("while", "body", body, (*start[:n_carried], *[xs.item for xs in read], *start[n_carried + n_xs :]))
    carried = [merge_metas(a, b.meta) for a, b in zip(start[:n_carried], body.outputs[:n_carried])]
    written = [ListMeta(v.meta) for v in body.outputs[n_carried:]]
    return (*carried, Meta((), int64), *written)


def _while_native(n: Any, *values: Any, cond: Any, body: Any, n_carried: int, n_xs: int, reverse: bool) -> Any:
    until, values = (values[0], values[1:]) if cond is None else (cond, values)
    carried, xs, captured = values[:n_carried], values[n_carried : n_carried + n_xs], values[n_carried + n_xs :]
    return n.loop(until, body, carried, captured, xs, reverse)


while_op = define_op(
    "while",
    amp="keep",
    steps=_while_steps,
    decides=_while_decides,
    empties=_while_empties,
    meta=_while_meta,
    native=_while_native,
    vjp=StructuralGradient("the body is differentiated as a block and run in reverse over the lists it wrote"),
    outputs=VARIADIC_OUTPUTS,
)
