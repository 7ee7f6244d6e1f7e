"""Which values must be brought from the device to the host, or back, before an instruction can take them.

Kernels of a device take arrays of the device. What the host itself needs to know (the condition of a branch, a number
that an attribute takes from a tensor) and what only works in the memory of the host (prints, the user's Python,
functions that CuPy lacks) gets copies. Each is an operator like any other, so that dependencies, streams, events and
liveness follow from what it reads and writes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..ir.program import Block, Operator, Variable
from ..ops.registry import OpDef
from ..ops.transfer import memcpy_d2h_op, memcpy_h2d_op

HOST, DEVICE = "host", "device"


def read_by_host(operator: Operator) -> frozenset[int]:
    """The positions of the inputs that must be in the memory of the host."""
    op, count = operator.op, len(operator.inputs)
    if op.on_host:
        return frozenset(range(count))
    decided = op.decides(**operator.attrs)[0] if op.decides else ()
    return frozenset((*decided, *range(count - operator.ref_count, count)))


def deciding_blocks(operator: Operator) -> tuple[Block, ...]:
    """The blocks whose first output tells the host what runs next."""
    decides = operator.op.decides
    return tuple(operator.attrs[name] for name in decides(**operator.attrs)[1]) if decides else ()


class Transfers:
    """Inserts copies into a list of operators; each value is copied once, until it is written again."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._found: list[Operator] = []
        self._on_host: set[Variable] = set()
        self._copies: dict[tuple[Variable, str], Variable] = {}

    def inserted(
        self, operators: Sequence[Operator], outputs: Sequence[Any], on_host: Collection[int] = ()
    ) -> tuple[list[Operator], list[Any]]:
        """The operators with copies between them, and the outputs, of which those numbered `on_host` are the host's."""
        for operator in operators:
            self._add(operator)
        last = operators[-1] if operators else None
        wanted = [self._at(v, HOST if i in on_host else DEVICE, last) for i, v in enumerate(outputs)]
        return self._found, wanted

    def _add(self, operator: Operator) -> None:
        read = read_by_host(operator)
        inputs = tuple(
            self._at(v, HOST if i in read else DEVICE, operator) for i, v in enumerate(operator.inputs)
        )
        changed = any(a is not b for a, b in zip(inputs, operator.inputs))
        if changed:
            parts = (operator.op, inputs, operator.outputs, operator.attrs, operator.locs, operator.role)
            operator = Operator(*parts)
        self._found.append(operator)
        for var in operator.outputs:
            for key in [key for key in self._copies if key[0] is var]:
                del self._copies[key]
            (self._on_host.add if operator.op.on_host else self._on_host.discard)(var)

    def _at(self, value: Any, where: str, reader: Operator | None) -> Any:
        """The variable that holds `value` there."""
        if not isinstance(value, Variable) or (value in self._on_host) == (where == HOST):
            return value
        found = self._copies.get((value, where))
        if found is None:
            found = self._copy(value, memcpy_d2h_op if where == HOST else memcpy_h2d_op, reader)
            self._copies[value, where] = found
        return found

    def _copy(self, value: Variable, op: OpDef, reader: Operator | None) -> Variable:
        made = Variable(self._block, f"{value.name}@{op.moves}", value.meta)
        locs, role = (reader.locs, reader.role) if reader is not None else ((), "forward")
        self._found.append(Operator(op, (value,), (made,), {}, locs, role))
        if op.moves == "d2h":
            self._on_host.add(made)
        return made
