"""What forward keeps for backward, and what backward computes once more instead.

The vjps name what they need; kept, each such value costs a write, a read, and memory in between. An elementwise one
whose operands are kept anyway costs a few instructions where backward computes it anew, in the group of operators that
reads it. So those are not kept. With a budget below 1 what is cheapest for its size is recomputed, products included.

Source: T. Chen et al., "Training Deep Nets with Sublinear Memory Cost" (2016); what is free, as in H. He and S. Zolkin,
"Min-cut optimal (re)computation" (2022), without its search for a smallest cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from math import inf

from ..core.meta import Meta
from ..ir.dead_code import live_operators
from ..ir.program import Block, Operator, Variable
from ..ir.rows import is_pointwise, rows_of
from ..ir.sizes import bytes_of, sized
from ..ir.ssa import Op
from ..ir.ssa_blocks import graph_of
from ..ops.expression_size import count_primitives
from ..ops.work import arithmetic
from .segment import BackwardProgram

LEAST_BYTES = 1 << 16
"""Smaller arrays lie in the cache when backward reads them."""
MOST_STEPS = 24
"""More primitives take longer than reading the value from memory."""
MOST_OPERATORS = 64
"""Longer ways to a value are not looked for."""
May = Callable[[Op], bool]


def with_less_kept(
    forward: Block, outputs: Sequence[Variable], backward: BackwardProgram, budget: float = 1.0
) -> BackwardProgram:
    """The backward that keeps less: nothing that is cheaper to compute, and at most that share of the bytes if it can.

    Outputs are in memory anyway, so they stay what is kept. Below a budget of 1 inputs are kept that were not: changed
    in place between forward and backward, they are noticed.
    """
    given = {*forward.inputs, *outputs}
    candidates = [v for v in backward.residuals if v not in given and _bytes(v) >= LEAST_BYTES]
    if not candidates:
        return backward
    ways = _Ways(forward, backward.residuals)
    kept = set(backward.residuals)
    for var in _read_by_rows_alone(backward, candidates):
        way = ways.to(var, kept - {var}, is_pointwise)
        if way is not None and sum(map(ways.steps, way)) <= MOST_STEPS:
            kept.discard(var)
    if budget < 1:
        kept = _within(budget * sum(map(_bytes, candidates)), ways, kept, candidates, forward.inputs)
    return reading(forward, backward, kept) or backward


def reading(forward: Block, backward: BackwardProgram, kept: Set[Variable]) -> BackwardProgram | None:
    """The backward that takes `kept` values of the forward block alone, and computes what else it needs of them.

    None where it cannot.
    """
    gone = [v for v in backward.residuals if v not in kept]
    if not gone:
        return backward
    way = _Ways(forward, gone).to_all(gone, kept)
    return None if way is None else _recomputing(backward, way, gone)


def _within(
    limit: float, ways: _Ways, kept: set[Variable], candidates: Sequence[Variable], inputs: Sequence[Variable]
) -> set[Variable]:
    """What is kept when the cheapest values for their sizes are dropped until the rest takes at most `limit` bytes."""
    kept = kept.union(inputs)
    while sum(_bytes(v) for v in candidates if v in kept) > limit:
        found = {v: ways.to(v, kept - {v}, _may_run_twice) for v in candidates if v in kept}
        costs = {v: sum(map(ways.work, way)) / _bytes(v) for v, way in found.items() if way is not None}
        if not costs:
            break
        kept.discard(min(costs, key=lambda v: costs[v]))
    return kept


def _may_run_twice(op: Op) -> bool:
    """Whether an operator may run in forward and in backward: it gives the same, and nobody else notices."""
    return not (op.op.random or op.op.effect or op.op.raises or op.has_graphs or op.has_refs)


def _bytes(var: Variable) -> int:
    return bytes_of(var.meta)


def _read_by_rows_alone(backward: BackwardProgram, candidates: Iterable[Variable]) -> list[Variable]:
    """Those that backward reads in operators alone of which groups are made, the last first."""
    block = backward.program.global_block()
    inner = dict(zip(backward.residuals, block.inputs))
    operators = live_operators(block, block.outputs)
    others = [operator for operator, op in zip(operators, graph_of(block).ops) if rows_of(op) is None]
    elsewhere = {v for operator in others for v in operator.variables} | {v for v in block.outputs if v is not None}
    return [v for v in reversed([*candidates]) if inner[v] not in elsewhere]


class _Ways:
    """Which operators of a forward block compute one value from others."""

    def __init__(self, forward: Block, wanted: Sequence[Variable]) -> None:
        operators = live_operators(forward, wanted)
        self.op = dict(zip(operators, graph_of(forward, forward.inputs, wanted).ops))
        self.maker = {v: operator for operator in operators for v in operator.outputs if not v.persistable}

    def to(
        self, target: Variable, kept: Set[Variable], may: May, most: float = MOST_OPERATORS
    ) -> list[Operator] | None:
        """The at `most` so many operators, in order, that compute `target` from `kept`; None where some may not."""
        found: dict[Operator, None] = {}
        waiting = [target]
        while waiting:
            maker = self.maker.get(waiting.pop())
            if maker is None or not may(self.op[maker]) or len(found) >= most:
                return None
            found[maker] = None
            waiting += [v for v in maker.variables if v not in kept and self.maker.get(v) not in found]
        return [operator for operator in self.op if operator in found]

    def to_all(self, targets: Iterable[Variable], kept: Set[Variable]) -> list[Operator] | None:
        """The operators, in order, that compute all of these from `kept`."""
        found: set[Operator] = set()
        for target in targets:
            way = self.to(target, kept, _may_run_twice, inf)
            if way is None:
                return None
            found.update(way)
        return [operator for operator in self.op if operator in found]

    def steps(self, operator: Operator) -> int:
        """How many primitives an elementwise operator is."""
        op = self.op[operator]
        return count_primitives(op.op.scalar, len(op.inputs), op.attrs)

    def work(self, operator: Operator) -> float:
        """About how many operations it takes, by its rule or else one for each byte that it writes."""
        found = [getattr(v, "meta", None) for v in operator.inputs]
        metas = [sized(meta) if isinstance(meta, Meta) else None for meta in found]
        return arithmetic(operator.op, metas, operator.attrs) + sum(map(_bytes, operator.outputs))


def _recomputing(backward: BackwardProgram, way: Sequence[Operator], gone: Sequence[Variable]) -> BackwardProgram:
    """The backward with the operators of `way` each in front of what reads it first, and without what is `gone`."""
    block = backward.program.global_block()
    inner = dict(zip(backward.residuals, block.inputs))
    cotangents = block.inputs[len(inner) :]
    made = {v for operator in way for v in operator.outputs}
    for var in dict.fromkeys(v for operator in way for v in (*operator.variables, *operator.outputs)):
        if var not in inner:
            inner[var] = block.create_var(var.meta, var.name)
    copies = [_copied(operator, inner) for operator in way]
    block.ops = _merged(block.ops, copies)
    kept = [v for v in inner if v not in made.union(gone)]
    block.inputs = [*(inner[v] for v in kept), *cotangents]
    return replace(backward, residuals=tuple(kept))


def _copied(operator: Operator, inner: dict[Variable, Variable]) -> Operator:
    inputs = tuple(inner[v] if isinstance(v, Variable) else v for v in operator.inputs)
    outputs = tuple(inner[v] for v in operator.outputs)
    return Operator(operator.op, inputs, outputs, operator.attrs, operator.locs, "backward")


def _merged(operators: Sequence[Operator], copies: Sequence[Operator]) -> list[Operator]:
    """The operators with each of the copies, which are in order, in front of the first that reads it."""
    first: dict[Variable, int] = {}
    for index, operator in reversed([*enumerate(operators)]):
        first.update(dict.fromkeys(operator.variables, index))
    before: dict[int, list[Operator]] = {}
    for copy in reversed(copies):
        place = min(first.get(v, len(operators)) for v in copy.outputs)
        before.setdefault(place, []).append(copy)
        for var in copy.variables:
            first[var] = min(place, first.get(var, place))
    merged: list[Operator] = []
    for index in range(len(operators) + 1):
        merged += reversed(before.get(index, ()))
        merged += operators[index : index + 1]
    return merged


__all__ = ["reading", "with_less_kept"]
