"""The vjp of `while`: a loop over the same number of iterations in reverse, reading lists the forward loop wrote.

The reverse loop is itself a `while` operator, so higher derivatives need no further rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core.meta import ListMeta
from ..ir.dead_code import prune
from ..ir.program import Block, Operator, Variable, position
from ..ops.control_flow import add_cotangents, while_op, zero_cotangent
from .activity import active_variables, carries_gradient
from .context import Pullback, seed
from .shapes import leave_shapes, shape_of


@dataclass(frozen=True)
class _Loop:
    """A `while` operator taken apart."""

    operator: Operator
    body: Block
    n_carried: int
    n_xs: int
    reverse: bool
    start: int

    @staticmethod
    def of(operator: Operator) -> _Loop:
        a = operator.attrs
        return _Loop(operator, a["body"], a["n_carried"], a["n_xs"], a["reverse"], 1 if a["cond"] is None else 0)

    @property
    def inputs(self) -> Sequence[Any]:
        return self.operator.inputs[self.start :]

    @property
    def steps(self) -> Variable:
        return self.operator.outputs[self.n_carried]


def _active_formals(loop: _Loop, active: set[Variable]) -> list[int]:
    """Indices of the body's inputs that carry a derivative, carried values to a fixed point."""
    formals = loop.body.inputs
    found = {
        i for i, v in enumerate(loop.inputs) if isinstance(v, Variable) and v in active and carries_gradient(formals[i])
    }
    while True:
        inside = active_variables(loop.body, [formals[i] for i in found])
        more = {
            i
            for i, out in enumerate(loop.body.outputs[: loop.n_carried])
            if out in inside and carries_gradient(formals[i])
        }
        if more <= found:
            return sorted(found)
        found |= more


def while_vjp(rule: Pullback, operator: Operator, cts: Sequence[Variable | None]) -> list[Variable | None]:
    """A cotangent for each input of a `while` operator."""
    loop = _Loop.of(operator)
    live = _active_formals(loop, rule.active)
    carried = [i for i in live if i < loop.n_carried]
    xs = [i for i in live if loop.n_carried <= i < loop.n_carried + loop.n_xs]
    captured = [i for i in live if i >= loop.n_carried + loop.n_xs]
    ct_lists = list(cts[loop.n_carried + 1 :])
    block, n_lists = _body_gradient(rule, loop, carried, captured, xs, ct_lists)
    lists, fixed = _leave_residuals(rule, loop, block, len(carried) + len(captured) + n_lists)
    see = rule.builder.value
    start = [cts[i] if cts[i] is not None else zero_cotangent(see(operator.outputs[i])) for i in carried]
    start += [zero_cotangent(see(loop.inputs[i])) for i in captured]
    given = [ct for ct in ct_lists if ct is not None]
    results = while_op(
        loop.steps, *start, *given, *lists, *fixed,
        cond=None, body=block, n_carried=len(start), n_xs=len(given) + len(lists), reverse=not loop.reverse,
    )  # fmt: skip
    flow: list[Variable | None] = [None] * len(operator.inputs)
    for i, ct in zip([*carried, *captured], results):
        flow[loop.start + i] = ct
    for i, ct in zip(xs, results[len(start) + 1 :]):
        flow[loop.start + i] = ct
    return flow


def _body_gradient(
    rule: Pullback,
    loop: _Loop,
    carried: Sequence[int],
    captured: Sequence[int],
    xs: Sequence[int],
    ct_lists: Sequence[Variable | None],
) -> tuple[Block, int]:
    """The reverse loop: cotangents and sums of captured values in and out, list items in, cotangents of xs out."""
    body = loop.body
    with rule.builder.sub_block(parent=body) as block:
        ct_in = {i: block.add_input(body.inputs[i].meta, "ct", stop_gradient=False) for i in carried}
        sums = [block.add_input(body.inputs[i].meta, "sum", stop_gradient=False) for i in captured]
        items = [None if ct is None else block.add_input(_item(ct), "ct", stop_gradient=False) for ct in ct_lists]
        formals = [ct_in.get(i) for i in range(loop.n_carried)] + items
        targets = [body.inputs[i] for i in (*carried, *captured, *xs)]
        found = rule.pull_back(rule.builder, body, seed(body.outputs, formals), targets)

        def ct_of(i: int) -> Variable:
            var = body.inputs[i]
            return found[var] if var in found else zero_cotangent(rule.builder.value(var))

        outs: list[Variable | None] = [ct_of(i) for i in carried]
        for i, total in zip(captured, sums):
            var = body.inputs[i]
            outs.append(add_cotangents(total, found[var], var) if var in found else total)
        outs += [ct_of(i) for i in xs]
        block.outputs = outs
    prune(block)
    return block, sum(item is not None for item in items)


def _item(ct: Variable) -> Any:
    assert isinstance(ct.meta, ListMeta)
    return ct.meta.item


def _leave_residuals(rule: Pullback, loop: _Loop, block: Block, leading: int) -> tuple[list[Any], list[Any]]:
    """What `block` captured from the forward body: lists to read one item an iteration, and loop-invariant values."""
    leave_shapes(loop.body, block)
    lists: list[tuple[Any, Variable]] = []
    fixed: list[tuple[Any, Variable]] = []
    formals = loop.body.inputs
    for var, inner in block.captures.items():
        index = position(formals, var)
        if index >= loop.n_carried + loop.n_xs:
            fixed.append((shape_of(loop.inputs[index], block, inner), inner))
        elif index >= loop.n_carried:
            lists.append((loop.inputs[index], inner))
        else:
            lists.append((_written(rule, loop, var), inner))
    block.inputs[:] = [*block.inputs[:leading], *[v for _, v in lists], *[v for _, v in fixed]]
    block.captures = {}
    return [outer for outer, _ in lists], [outer for outer, _ in fixed]


def _written(rule: Pullback, loop: _Loop, var: Variable) -> Variable:
    """The forward loop's list of this variable's values, written from now on if it was not yet."""
    written = loop.body.outputs[loop.n_carried :]
    index = position(written, var)
    if index >= 0:
        return loop.operator.outputs[loop.n_carried + 1 + index]
    loop.body.outputs.append(var)
    return rule.new_output(loop.operator, ListMeta(var.meta), var)
