"""Whether tensors stop gradients that traced code asks about or shows: known when a trace ends, of each run.

While a loop is traced it is not known yet what it carries, so an operator stands where code asks (`values/asked.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from ..convert.values.asked import AskedFlag, unknown_flag
from ..convert.values.sequences import constant
from ..eager.host_expr import is_expression, with_stopped
from ..ir.builder import Builder
from ..ir.operator import Operator
from ..ir.program import Block, Variable
from ..ops.registry import get_op
from .ended_blocks import Wanting
from .stop_flags import blocks_run
from .stopped import Stopped


def settle_flags(build: Builder, sources: Collection[Variable]) -> None:
    """Answer in the program what was asked, and let expressions show tensors as they are; `sources`: what wants one.

    Raises UnsupportedError where nothing in the program tells what was asked.
    """
    blocks = blocks_run(build.program.global_block())
    asked = [flag for flag in build.asked if flag.block in blocks and flag.operator in flag.block.ops]
    asking = {flag.operator for flag in asked}
    showing = [(block, op) for block in blocks for op in block.ops if op not in asking and _shown(op)]
    if len(blocks) == 1 or not (showing or asked):
        return
    stopped = Stopped(build, {block for block, _ in showing} | {flag.block for flag in asked})
    for flag in asked:
        _answer(build, stopped, flag)
    wanting = Wanting(build.program, sources) if showing else None
    for block, operator in showing:
        values, first = _values(operator)
        wanted: Collection[Variable] = wanting.of(block) if wanting is not None else ()
        found = {i: _stops(stopped, var, operator, block, wanted) for i, var in values.items()}
        _show(operator, found, len(operator.inputs) - first)


def _answer(build: Builder, stopped: Stopped, asked: AskedFlag) -> None:
    """Let the operator that stands where somebody asks give the flag."""
    found = stopped.flag_at(asked.tensor, asked.operator, asked.block)
    if found is None:
        raise unknown_flag(asked)
    place = next(i for i, operator in enumerate(asked.block.ops) if operator is asked.operator)
    if not isinstance(found, Variable):
        mark = len(asked.block.ops)
        with build.resume(asked.block):
            found = constant(found)
        made = list(asked.block.ops[mark:])
        del asked.block.ops[mark:]
        asked.block.ops[place:place] = made
        place += len(made)
    op = get_op("assign")
    asked.block.ops[place] = Operator(op, (found,), asked.operator.outputs, {}, asked.operator.locs)


def _stops(
    stopped: Stopped, var: Variable, operator: Operator, block: Block, wanted: Collection[Variable]
) -> bool | Variable:
    """Whether a tensor that is shown stops gradients; where the program cannot tell, whether one may come."""
    found = stopped.flag_at(var, operator, block)
    return var not in wanted if found is None else found


def _show(operator: Operator, flags: dict[int, bool | Variable], count: int) -> None:
    """Change the expressions of an operator, which has so many values; further ones are flags that runs compute."""
    made: dict[Variable, int] = {}
    for flag in flags.values():
        if isinstance(flag, Variable):
            made.setdefault(flag, count + len(made))
    told = {i: made[flag] if isinstance(flag, Variable) else flag for i, flag in flags.items()}
    operator.inputs = (*operator.inputs, *made)
    operator.attrs.update(
        {name: with_stopped(held, told) for name, held in operator.attrs.items() if is_expression(held)}
    )


def _shown(operator: Operator) -> bool:
    """Whether an operator has an expression that shows tensors which may want a gradient."""
    return any(map(is_expression, operator.attrs.values())) and bool(_values(operator)[0])


def _values(operator: Operator) -> tuple[dict[int, Any], int]:
    """The inputs that expressions number, which stand last, where they may want a gradient; and where these start."""
    op = operator.op
    first = len(op.inputs) - 1
    values: Iterable[Any] = operator.inputs[first:] if op.variadic and op.inputs[-1] == "values" else ()
    return {i: v for i, v in enumerate(values) if isinstance(v, Variable) and not v.stop_gradient}, first
