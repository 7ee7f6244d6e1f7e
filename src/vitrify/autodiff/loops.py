"""The vjp of `while`: a loop over the same number of iterations in reverse, reading lists the forward loop wrote.

The reverse loop is itself a `while` operator, so higher derivatives need no further rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.meta import ListMeta
from ..ir.dead_code import prune
from ..ir.program import Block, Operator, Variable, position
from ..ops.control_flow import while_op
from ..ops.missing import (
    MAY_BE_MISSING,
    MAY_HAVE_GAPS,
    absent,
    add_cotangents,
    if_run_op,
    mark_missing,
    present_list,
    zero_cotangent,
)
from .activity import active_formals
from .context import Pullback, seed
from .gaps import Marks, has_gaps, marks_of, put_marks
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


def while_vjp(rule: Pullback, operator: Operator, cts: Sequence[Variable | None]) -> list[Variable | None]:
    """A cotangent for each input of a `while` operator."""
    loop = _Loop.of(operator)
    live = active_formals(operator, rule.active)
    steps = rule.builder.value(loop.steps)
    reverse = _Reverse(
        rule, loop,
        carried=[i for i in live if i < loop.n_carried],
        captured=[i for i in live if i >= loop.n_carried + loop.n_xs],
        xs=[i for i in live if loop.n_carried <= i < loop.n_carried + loop.n_xs],
        starts=cts[: loop.n_carried],
        lists=[ct if ct is None else present_list(ct, steps) for ct in cts[loop.n_carried + 1 :]],
    )  # fmt: skip
    block, sums = reverse.record()
    given = [ct for ct in reverse.lists if ct is not None]
    start = reverse.start(sums)
    lists, fixed = _leave_residuals(rule, loop, block, len(start) + len(given))
    results = while_op(
        loop.steps, *start, *given, *lists, *fixed,
        cond=None, body=block, n_carried=len(start), n_xs=len(given) + len(lists), reverse=not loop.reverse,
    )  # fmt: skip
    return reverse.flow(sums, results, block.outputs)


@dataclass(frozen=True)
class _Sum:
    """The cotangents of the captured value `index`, added up; `is_sure` if every iteration has one."""

    index: int
    is_sure: bool


@dataclass(frozen=True)
class _Reverse:
    """The reverse of a loop: cotangents and sums of captured values in and out, list items in, cotangents of xs out.

    `starts` are the cotangents of what is carried after the last iteration, `lists` those of the lists it writes.
    """

    rule: Pullback
    loop: _Loop
    carried: Sequence[int]
    captured: Sequence[int]
    xs: Sequence[int]
    starts: Sequence[Variable | None]
    lists: Sequence[Variable | None]

    def record(self) -> tuple[Block, list[_Sum]]:
        """The body, and the sums that it carries. Whether what it carries is there for sure in each iteration shows
        when the body is recorded: what is not makes it be recorded once more.
        """
        marks = [marks_of([self.starts[i]]) for i in self.carried]
        while True:
            block, sums = self._body(marks)
            ends = [marks_of([v]) for v in block.outputs[: len(marks)]]
            if all(end <= mark for end, mark in zip(ends, marks)):
                return block, sums
            marks = [end | mark for end, mark in zip(ends, marks)]

    def _body(self, marks: Sequence[Marks]) -> tuple[Block, list[_Sum]]:
        body, see = self.loop.body, self.rule.builder.value
        with self.rule.builder.sub_block(parent=body) as block:
            cts: list[Any] = [None] * self.loop.n_carried
            for i, mark in zip(self.carried, marks):
                cts[i] = put_marks(block.add_input(body.inputs[i].meta, "ct", stop_gradient=False), mark)
            totals = [block.add_input(body.inputs[i].meta, "sum", stop_gradient=False) for i in self.captured]
            cts += [None if ct is None else _item(block, ct) for ct in self.lists]
            targets = [body.inputs[i] for i in (*self.carried, *self.captured, *self.xs)]
            found = self.rule.pull_back(self.rule.builder, body, seed(body.outputs, cts), targets)
            ends = {v: see(found[v]) if v in found else None for v in targets}
            sums, added = self._sums(block, totals, ends)
            kept = [[body.inputs[i] for i in indices] for indices in (self.carried, self.xs)]
            carried, xs = ([absent(v.meta) if ends[v] is None else ends[v] for v in part] for part in kept)
            block.outputs = [*carried, *added, *xs]
        prune(block)
        return block, sums

    def _sums(self, block: Block, totals: Sequence[Variable], ends: Mapping[Variable, Any]) -> tuple[Any, Any]:
        """The sums of what has cotangents, and what they are at the end of an iteration."""
        sums, added = [], []
        for i, total in zip(self.captured, totals):
            var = self.loop.body.inputs[i]
            ct = ends[var]
            if ct is None:
                block.inputs = [v for v in block.inputs if v is not total]
                continue
            put_marks(total, marks_of([ct]))
            sums.append(_Sum(i, not marks_of([ct])))
            added.append(add_cotangents(total, ct, var))
        return sums, added

    def start(self, sums: Sequence[_Sum]) -> list[Variable]:
        """What the reverse loop carries at first."""
        see = self.rule.builder.value
        cts = [(self.loop.body.inputs[i].meta, self.starts[i]) for i in self.carried]
        likes = [see(self.loop.inputs[total.index]) for total in sums]
        zeros = [zero_cotangent(v) if s.is_sure else absent(v.meta) for s, v in zip(sums, likes)]
        return [*[absent(meta) if ct is None else ct for meta, ct in cts], *zeros]

    def flow(
        self, sums: Sequence[_Sum], results: Sequence[Variable], ends: Sequence[Variable | None]
    ) -> list[Variable | None]:
        """A cotangent for each input of the operator, of what the reverse loop gives."""
        places = [*self.carried, *[total.index for total in sums]]
        steps = self.rule.builder.value(self.loop.steps)
        flow: list[Variable | None] = [None] * len(self.loop.operator.inputs)
        starts = [*[self.starts[i] for i in self.carried], *ends[len(self.carried) :]]
        for i, ct, end, start in zip(places, results, ends, starts):  # without iterations it is the one from behind
            flow[self.loop.start + i] = put_marks(ct, marks_of([end, start]))
        for total, ct in zip(sums, results[len(self.carried) :]):  # no iteration, no cotangent
            flow[self.loop.start + total.index] = mark_missing(if_run_op(ct, steps) if total.is_sure else ct)
        for i, ct, end in zip(self.xs, results[len(places) + 1 :], ends[len(places) :]):
            flow[self.loop.start + i] = put_marks(ct, frozenset({MAY_HAVE_GAPS} if marks_of([end]) else ()))
        return flow


def _item(block: Block, ct: Variable) -> Variable:
    """The input of `block` for one item of a list of cotangents."""
    assert isinstance(ct.meta, ListMeta)
    item = block.add_input(ct.meta.item, "ct", stop_gradient=False)
    return put_marks(item, frozenset({MAY_BE_MISSING, MAY_HAVE_GAPS})) if has_gaps(ct) else item


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
