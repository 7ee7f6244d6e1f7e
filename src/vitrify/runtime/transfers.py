"""Which values must be brought to another memory, or into another form, before an instruction can take them.

Kernels of a device take arrays of the device. What the host itself needs to know (the condition of a branch, a number
that an attribute takes from a tensor) and what only works in the memory of the host (prints, the user's Python,
functions that CuPy lacks) gets copies; so does a kernel that takes some dtypes, or one layout, only. Each copy is an
operator like any other, so that dependencies, streams, events and liveness follow from what it reads and writes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..core.dtype import DType
from ..core.meta import Meta
from ..ir.program import Block, Operator, Variable
from ..ops.limits import dtype_limit, layout_limit
from ..ops.registry import OpDef
from ..ops.transfer import memcpy_d2h_op, memcpy_h2d_op, transfer_dtype_op, transfer_layout_op

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

    def __init__(self, block: Block, place: str) -> None:
        self._block = block
        self._place = place
        self._found: list[Operator] = []
        self._on_host: set[Variable] = set()
        self._copies: dict[tuple[Variable, Any], Variable] = {}

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
        inputs = tuple(self._at(v, HOST if i in read else DEVICE, operator) for i, v in enumerate(operator.inputs))
        operator = _with(operator, inputs)
        back: list[Operator] = []
        if operator.op.limits:
            operator = self._in_layout(self._in_dtype(operator, back), back)
        self._found += [operator, *reversed(back)]
        for added in (operator, *back):
            self._written(added)

    def _written(self, operator: Operator) -> None:
        for var in operator.outputs:
            for key in [key for key in self._copies if key[0] is var]:
                del self._copies[key]
            (self._on_host.add if operator.op.on_host else self._on_host.discard)(var)

    def _in_dtype(self, operator: Operator, back: list[Operator]) -> Operator:
        """The operator on values of a dtype that its kernel takes; `back` gets what brings results back."""
        through = {v: self._through(operator, v) for v in (*operator.variables, *operator.outputs)}
        inputs = []
        for value in operator.inputs:
            dtype = through[value] if isinstance(value, Variable) else None
            inputs.append(value if dtype is None else self._cast(value, dtype, operator))
        operator = _with(operator, tuple(inputs))
        for at, var in enumerate(operator.outputs):
            dtype, meta = through[var], var.meta
            if dtype is not None and isinstance(meta, Meta):
                made = Variable(self._block, f"{var.name}@{dtype.name}", meta.with_dtype(dtype))
                operator = _giving(operator, at, made, back, transfer_dtype_op, {"dtype": meta.dtype})
        return operator

    def _through(self, operator: Operator, var: Variable) -> DType | None:
        meta = var.meta
        return dtype_limit(operator.op.limits, self._place, meta.dtype) if isinstance(meta, Meta) else None

    def _cast(self, value: Variable, dtype: DType, reader: Operator) -> Variable:
        return self._in_form(value, transfer_dtype_op, {"dtype": dtype}, reader)

    def _in_layout(self, operator: Operator, back: list[Operator]) -> Operator:
        """The operator on values in the layout that its kernel takes."""
        op = operator.op
        names = layout_limit(op.limits, self._place, operator.attrs)
        if not names:
            return operator
        inputs = tuple(
            self._in_form(v, transfer_layout_op, {"channel_last": False}, operator)
            if op.input_name(i) in names and isinstance(v, Variable) else v
            for i, v in enumerate(operator.inputs)
        )  # fmt: skip
        operator = _with(operator, inputs, {**operator.attrs, "channel_last": False})
        for at, (name, var) in enumerate(zip(op.outputs, operator.outputs)):
            if name in names:
                meta = transfer_layout_op.meta(var.meta, channel_last=False)
                made = Variable(self._block, f"{var.name}@first", meta)
                operator = _giving(operator, at, made, back, transfer_layout_op, {"channel_last": True})
        return operator

    def _in_form(self, value: Variable, op: OpDef, attrs: dict[str, Any], reader: Operator) -> Variable:
        """The variable that holds `value` in another form."""
        key = (value, (op.name, *attrs.values()))
        found = self._copies.get(key)
        if found is None:
            name = f"{value.name}@{op.name.removeprefix('transfer_')}"
            found = Variable(self._block, name, op.meta(value.meta, **attrs))
            self._found.append(Operator(op, (value,), (found,), attrs, reader.locs, reader.role))
            self._copies[key] = found
        return found

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


def _with(operator: Operator, inputs: tuple[Any, ...], attrs: dict[str, Any] | None = None) -> Operator:
    """The operator on other inputs: itself if they are the same."""
    if attrs is None and all(a is b for a, b in zip(inputs, operator.inputs)):
        return operator
    attrs = operator.attrs if attrs is None else attrs
    return Operator(operator.op, inputs, operator.outputs, attrs, operator.locs, operator.role)


def _giving(
    operator: Operator, at: int, made: Variable, back: list[Operator], op: OpDef, attrs: dict[str, Any]
) -> Operator:
    """The operator with `made` as an output; `op` makes of it what the output was, as the last of `back` to be told."""
    back.append(Operator(op, (made,), (operator.outputs[at],), attrs, operator.locs, operator.role))
    outputs = (*operator.outputs[:at], made, *operator.outputs[at + 1 :])
    return Operator(operator.op, operator.inputs, outputs, operator.attrs, operator.locs, operator.role)
