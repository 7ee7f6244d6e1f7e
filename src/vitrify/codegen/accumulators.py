"""What reductions of a row gather in registers while a loop goes over it."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.ssa import Op
from ..ops.combiner import Combiner
from .emit import FLOAT32, FLOAT64, Dtype, Emitter, Register, constant, is_float, register_type
from .errors import NoNativeForm
from .row_plan import dtype_of
from .scalars import LlvmScalars, Operand

State = tuple[Register, ...]
# Of floats: when a number takes the place of the one before.
_EXTREMES = {"maximum": "fcmp ogt", "minimum": "fcmp olt"}


def combiner_of(op: Op) -> Combiner:
    """How a reduction combines elements."""
    if op.op.combiner is None:
        raise NoNativeForm(f"{op.op.name} is no reduction")
    return op.op.combiner


def gathered_in(op: Op) -> Dtype:
    """The dtype in which machine code gathers the elements of a reduction."""
    combiner = combiner_of(op)
    dtype = combiner.dtype(dtype_of(op.values[0]), dtype_of(op.outputs[0]))
    return FLOAT64 if combiner.combine == "add" and dtype == FLOAT32 else dtype


class Accumulator:
    """One reduction in vectors: what they begin with, how they take in elements, and what is made of them at the end.

    Sums of floats are gathered in float64, those of float64 with what each addition has lost beside them: either is
    no less accurate than sums in pairs, in whatever order elements come. Widening takes more instructions than all else
    that a sum does, so vectors side by side are added in pairs first. Extremes of floats are gathered without regard to
    NaN, with the last NaN that was met beside them: so each takes one instruction after the other, not four.
    """

    def __init__(self, op: Op, emit: Emitter, scalars: LlvmScalars, is_column: bool = False) -> None:
        combiner, dtype = combiner_of(op), gathered_in(op)
        self.emit = emit
        self.scalars = scalars
        self.combiner = combiner
        self.result = dtype_of(op.outputs[0])
        # Sums of columns are made row by row, as NumPy makes them.
        self.is_exact = combiner.combine == "add" and dtype_of(op.values[0]) == FLOAT64 and not is_column
        self.is_widened = combiner.combine == "add" and dtype == FLOAT64 and not (self.is_exact or combiner.truth)
        self.extreme = _EXTREMES.get(combiner.combine) if is_float(dtype) and not is_column else None
        self.dtype = dtype
        # The dtype of NumPy's total: what is too large for it is infinite before it is divided.
        self.total = combiner.dtype(dtype_of(op.values[0]), self.result)

    def begin(self) -> State:
        """The vectors before any element."""
        first = Register(register_type(self.dtype), constant(self.combiner.first(self.dtype), self.dtype), 1)
        start = self.emit.spread(first, self.emit.lanes)
        if self.extreme:
            return start, self.emit.spread(Register(first.type, constant(0.0, self.dtype), 1), self.emit.lanes)
        return (start, start) if self.is_exact else (start,)

    def take(self, state: State, x: Operand, mask: Register | None) -> State:
        """The vectors with one more element in each lane, or in those that the mask chooses."""
        value = self.scalars.not_(self.scalars.not_(x)) if self.combiner.truth else self.scalars.to(x, self.dtype)
        register = self.emit.spread(value.register, self.emit.lanes)
        new = self._joined(state, register, register)
        return new if mask is None else tuple(self.emit.select(mask, a, b) for a, b in zip(new, state))

    def take_all(self, state: State, vectors: Sequence[Operand]) -> State:
        """What widened sums begin with and several vectors, a power of two of them."""
        found = [self.scalars.to(x, FLOAT32) for x in vectors]
        while len(found) > 1:
            found = [self.scalars.add(a, b) for a, b in zip(found[::2], found[1::2])]
        return self.take(state, found[0], None)

    def merge(self, states: Sequence[State]) -> State:
        """Several vectors of the same elements' kinds as one."""
        found = states[0]
        for state in states[1:]:
            if self.is_exact:
                total, lost = self._with_lost(found, state[0])
                found = total, self.emit.binary("fadd", lost, state[1])
            else:
                found = self._joined(found, state[0], state[-1])
        return found

    def _joined(self, state: State, x: Register, bad: Register) -> State:
        """The state with one more number; bad: where it may be NaN, which the number itself then does not say."""
        if self.extreme:
            e = self.emit
            best = e.select(e.compare(self.extreme, x, state[0]), x, state[0])
            return best, e.select(e.compare("fcmp uno", bad, bad), bad, state[1])
        return self._with_lost(state, x) if self.is_exact else (self._combined(state[0], x),)

    def end(self, state: State, count: Register) -> Operand:
        """The result: a number."""
        e = self.emit
        while state[0].lanes > 1:
            half = state[0].lanes // 2
            parts = [tuple(e.part(r, at, half) for r in state) for at in (0, half)]
            if half == 1:
                parts = [tuple(e.element(r, at) for r in state) for at in (0, 1)]
            state = self.merge(parts)
        total = state[0]
        if self.is_exact:
            # Infinite and NaN sums have lost what is no number.
            lost = state[1]
            finite = e.compare("fcmp ord", e.binary("fsub", lost, lost), Register("double", constant(0.0, FLOAT64), 1))
            total = e.select(finite, e.binary("fadd", total, lost), total)
        if self.extreme:
            total = e.select(e.compare("fcmp uno", state[1], state[1]), state[1], total)
        found = self.scalars.operand(total, self.dtype)
        if self.combiner.finish is not None:
            found = self.scalars.to(found, self.total)
            found = getattr(self.scalars, self.combiner.finish.scalar)(found, self.scalars.operand(count, FLOAT64))
        return self.scalars.to(found, self.result)

    def _combined(self, a: Register, b: Register) -> Register:
        one, other = (self.scalars.operand(r, self.dtype) for r in (a, b))
        found: Operand = getattr(self.scalars, self.combiner.combine)(one, other)
        return found.register

    def _with_lost(self, state: State, x: Register) -> State:
        """The sum, and what all additions so far have lost to rounding (Knuth's two-sum)."""
        e, (total, lost) = self.emit, state
        new = e.binary("fadd", total, x)
        part = e.binary("fsub", new, total)
        first = e.binary("fsub", total, e.binary("fsub", new, part))
        return new, e.binary("fadd", lost, e.binary("fadd", first, e.binary("fsub", x, part)))


__all__ = ["Accumulator", "State", "combiner_of", "gathered_in"]
