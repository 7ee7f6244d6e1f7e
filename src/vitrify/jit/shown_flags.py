"""stop_gradient of tensors that a program prints or hands to Python: known of what loops carry when a trace ends."""

from __future__ import annotations

from collections.abc import Collection

from ..eager.host_expr import is_expression, with_stopped
from ..ir.operator import Operator
from ..ir.program import Program, Variable
from .ended_blocks import Wanting


def settle_shown(program: Program, sources: Collection[Variable]) -> None:
    """Let expressions show what no gradient comes to as tensors that want none; `sources`: what wants one.

    While a loop or function is traced all in it is taken to want one that may, since what it is given is not known yet.
    """
    wanting: Wanting | None = None
    for block in program.blocks if len(program.blocks) > 1 else ():
        for operator in block.ops:
            shown = {name: held for name, held in operator.attrs.items() if is_expression(held)}
            values = _values(operator) if shown else []
            if values:
                wanting = wanting or Wanting(program, sources)
                wanted = wanting.of(block)
                stopped = {i for i, v in enumerate(values) if isinstance(v, Variable) and v not in wanted}
                operator.attrs.update({name: with_stopped(held, stopped) for name, held in shown.items()})


def _values(operator: Operator) -> list[object]:
    """The inputs that expressions number, which stand last."""
    op = operator.op
    return list(operator.inputs[len(op.inputs) - 1 :]) if op.variadic and op.inputs[-1] == "values" else []
