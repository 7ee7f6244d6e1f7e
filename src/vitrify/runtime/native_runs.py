"""Programs that are no native call as a whole: each run of neighbouring operators that could be one becomes one.

Operators without a native form, and those that work on much at a time, for which several threads and early ends of
buffers count more, stay with the interpreter and cut the program. Views of what is there stay as well, behind the call:
they cost next to nothing, and a native program would give copies.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING

from ..codegen.single import alone
from ..codegen.whole import LARGE_STEP, is_plain_list, why_not
from ..core.meta import Meta
from ..ir.decompose import decomposed
from ..ir.program import Operator, Variable
from ..ir.rows import is_pointwise
from ..ir.ssa_blocks import graph_of
from ..ops.control_flow import while_op
from ..ops.like import shows_input
from ..ops.sizes import stand_in_op
from .costs import allocated, bytes_of
from .instruction import Frame, Instruction
from .options import ALWAYS
from .whole import LEAST_OPERATORS, Whole, works_on_lists

if TYPE_CHECKING:
    from .interpreter import InterpreterCore

# Bytes that a run writes before the next one begins.
_MOST_WRITTEN = 1 << 23
Part = Callable[[Frame], object]


class NativeRun:
    """Some neighbouring instructions of a core, as one native call where that is possible."""

    __slots__ = ("_after", "_core", "_dead", "_first", "_reads", "_steps", "_whole", "_writes")

    def __init__(self, core: InterpreterCore, first: int, instructions: Sequence[Instruction], later: set[int]) -> None:
        self._core, self._first = core, first
        self._steps = [i.step for i in instructions]
        self._dead = [slot for i in instructions for slot in i.dead]
        after = _views(instructions, later)
        self._after = [i.bare for i in after]
        inside = _computed(instructions, after)
        slots: dict[Variable, int] = {}
        reads, made = dict[Variable, None](), dict[Variable, None]()
        for i in inside:
            own = zip((*i.operator.inputs, *i.operator.outputs), (*i.reads, *i.writes))
            slots.update({v: slot for v, slot in own if isinstance(v, Variable)})
            reads |= dict.fromkeys(v for v in i.operator.inputs if isinstance(v, Variable) and v not in made)
            made |= dict.fromkeys(i.operator.outputs)
        wanted = later.union(*[i.reads for i in after])
        shown = {v for i in after for v in i.operator.outputs}
        outputs = [v for v in made if slots[v] in wanted and v not in shown]
        self._reads, self._writes = [slots[v] for v in reads], [slots[v] for v in outputs]
        is_always = core.options.native == ALWAYS
        operators = [i.operator for i in inside]
        self._whole = Whole([*reads], operators, outputs, is_always=is_always, is_part=True)

    def __call__(self, frame: Frame) -> None:
        whole = self._whole
        if not whole.is_none:
            found = whole.run([frame[s] for s in self._reads])
            if found is not None:
                for slot, value in zip(self._writes, found):
                    frame[slot] = value
                for step in self._after:
                    step(frame)
                for slot in self._dead:
                    frame[slot] = None
                return
            if whole.is_none and whole.refused_at is not None:
                self._core.leave_out(whole.refused_at)
        self._core.run_steps(self._steps, self._first, frame)


class _Stretch:
    """Neighbouring instructions that the interpreter runs."""

    __slots__ = ("_core", "_first", "_steps")

    def __init__(self, core: InterpreterCore, first: int, instructions: Sequence[Instruction]) -> None:
        self._core, self._first = core, first
        self._steps = [i.step for i in instructions]

    def __call__(self, frame: Frame) -> None:
        self._core.run_steps(self._steps, self._first, frame)


def cut(core: InterpreterCore, left_out: Collection[Operator]) -> list[Part] | None:
    """A core's instructions in native runs and what is between them; None where there is no such run."""
    instructions = core.instructions
    beside = _beside_large([i.operator for i in instructions])
    shares = core.options.shares_items
    is_cut = [
        i.operator in left_out
        or not _may_be_native(i.operator, i.operator in beside)
        or (shares and works_on_lists(i.operator))
        for i in instructions
    ]
    found: list[Part] = []
    start_of_rest = 0
    for start, end in _stretches(instructions, is_cut):
        own = instructions[start:end]
        count = sum(_weight(i.operator) for i in own)
        if count >= LEAST_OPERATORS or any(i.operator.op.native_alone for i in own):
            if start_of_rest < start:
                found.append(_Stretch(core, start_of_rest, instructions[start_of_rest:start]))
            later = {slot for i in instructions[end:] for slot in i.reads}.union(core.outputs)
            found.append(NativeRun(core, start, own, later))
            start_of_rest = end
    if not found:
        return None
    if start_of_rest < len(instructions):
        found.append(_Stretch(core, start_of_rest, instructions[start_of_rest:]))
    return found


def _beside_large(operators: Sequence[Operator]) -> set[Operator]:
    """Operators that read or write what those of any size (`native_alone`) write or read: between two native calls,
    they take less time within one. Views do not, which cost nothing outside and would be copied.
    """
    large = [operator for operator in operators if operator.op.native_alone]
    made = {v for operator in large for v in operator.outputs}
    read = {v for operator in large for v in operator.inputs if isinstance(v, Variable)}
    beside = {o for o in operators if not made.isdisjoint(_read(o)) or not read.isdisjoint(o.outputs)}
    return {o for o in beside if not o.op.view}


def _read(operator: Operator) -> list[Variable]:
    return [v for v in operator.inputs if isinstance(v, Variable)]


def _stretches(instructions: Sequence[Instruction], is_cut: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Where runs begin and end: between instructions that cut, and where what a run has written is so much that its
    arrays had better be freed before more are made.
    """
    start, written = 0, 0
    for i, instruction in enumerate(instructions):
        if is_cut[i]:
            yield start, i
            start, written = i + 1, 0
            continue
        own = sum(allocated(instruction.operator))
        if written and written + own > _MOST_WRITTEN:
            yield start, i
            start, written = i, 0
        written += own
    yield start, len(instructions)


def _may_be_native(operator: Operator, may_be_large: bool) -> bool:
    """Whether an operator works on little, and has a native form as far as can be said without compiling."""
    values = [v for v in (*operator.inputs, *operator.outputs) if isinstance(v, Variable)]
    largest = inf if operator.op.native_alone or may_be_large else LARGE_STEP
    are_small = all(is_plain_list(v) or (isinstance(v.meta, Meta) and bytes_of(v) < largest) for v in values)
    if not are_small or why_not([operator]):
        return False
    if operator.op.native is not None or _is_free(operator):
        return True
    (op,) = graph_of(alone(operator)).ops
    return is_pointwise(op) or decomposed(op) is not None


def _weight(operator: Operator) -> int:
    """How many operators the interpreter would run; of loops at least as many as are worth a call."""
    return 0 if _is_free(operator) else LEAST_OPERATORS if operator.op is while_op else 1


def _is_free(operator: Operator) -> bool:
    """Whether the result takes no memory of its own."""
    return shows_input(operator.op) or operator.op is stand_in_op


def _computed(instructions: Sequence[Instruction], after: Collection[Instruction]) -> list[Instruction]:
    """What the native call has of the instructions: all but views made behind it that nothing inside reads."""
    found: list[Instruction] = []
    read = set[Variable]()
    for instruction in reversed(instructions):
        if instruction not in after or not read.isdisjoint(instruction.operator.outputs):
            found.append(instruction)
            read.update(_read(instruction.operator))
    return found[::-1]


def _views(instructions: Sequence[Instruction], later: set[int]) -> list[Instruction]:
    """The views among the instructions that are seen by others, and those in between them and what they show."""
    found: list[Instruction] = []
    seen = set(later)
    for instruction in reversed(instructions):
        if _is_free(instruction.operator) and not seen.isdisjoint(instruction.writes):
            found.append(instruction)
            seen.update(instruction.reads[:1])
    return found[::-1]


__all__ = ["NativeRun", "Part", "cut"]
