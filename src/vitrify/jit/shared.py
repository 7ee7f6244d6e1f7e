"""Outputs of a program that share memory with each other, or with what it was given: the tape must know of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..eager.tensor import Tensor
from ..eager.views import note_view
from ..ir.program import Block, Operator, Variable, refs_of


@dataclass(frozen=True)
class Sharing:
    """Output `index` is a view, by way of these operators, of another output, or of an input: number `base`."""

    index: int
    base: int
    is_input: bool
    path: tuple[Operator, ...]

    def note(self, inputs: Sequence[Tensor], outputs: Sequence[Any]) -> None:
        """Let the tape know, if the arrays do share memory."""
        out, base = outputs[self.index], (inputs if self.is_input else outputs)[self.base]
        if out is None or base is None or not np.may_share_memory(out._data, base._data):
            return
        *inner, last = self.path
        for operator in inner:
            base = operator.op(base, **operator.attrs)
        out._cell = base.version_cell()
        note_view(last.op, [base], last.attrs, out)

    def renew(self, base: Tensor, outputs: list[Any]) -> None:
        """Make the output a view of `base`, which holds what its own base held."""
        made: Any = base
        for operator in self.path:
            made = operator.op(made, **operator.attrs)
        if np.may_share_memory(made._data, base._data):
            outputs[self.index] = made


def find_shared(block: Block, outputs: Sequence[Variable]) -> list[Sharing]:
    """What of `outputs` is made by views alone from inputs of the block or from other outputs, bases before views."""
    makers = {v: (at, op) for at, op in enumerate(block.ops) for v in op.outputs}
    given = {v: i for i, v in enumerate(block.inputs)}
    made = {v: i for i, v in enumerate(outputs)}
    found = [(makers[v][0], _followed(i, v, makers, given, made)) for i, v in enumerate(outputs) if v in makers]
    return [sharing for _, sharing in sorted(found, key=lambda pair: pair[0]) if sharing is not None]


def _followed(
    index: int, var: Variable, makers: dict[Variable, tuple[int, Operator]], given: dict[Variable, int],
    made: dict[Variable, int],
) -> Sharing | None:  # fmt: skip
    path: list[Operator] = []
    while var in makers:
        operator = makers[var][1]
        if not _is_plain_view(operator):
            return None
        path.insert(0, operator)
        var = operator.inputs[0]
        if var in made:
            return Sharing(index, made[var], False, tuple(path))
    return Sharing(index, given[var], True, tuple(path)) if path and var in given else None


def _is_plain_view(operator: Operator) -> bool:
    fixed = not refs_of(operator.attrs)
    return operator.op.view and fixed and len(operator.inputs) == 1 and isinstance(operator.inputs[0], Variable)
