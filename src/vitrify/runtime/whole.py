"""When a whole program runs as one native call: once its runs have taken as long as planning it will.

As for groups (`fused.py`) it goes by estimates, not by the clock. A plan is for one signature of arrays, so one that is
seen for the first few times is left to the interpreter, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..codegen.whole import WholeProgram, whole_program
from ..core.config import NATIVE, NATIVE_AFTER_MS
from ..ir.attributes import blocks_in
from ..ir.program import Operator, Variable
from ..ops.fused import fused_op
from .options import ALWAYS, NEVER, ExecutionOptions
from .plan import STREAMS, THREADS, Choice
from .warming import ITERATIONS

# What an operator takes longer in the interpreter than in a native program, and what planning takes for one, in
# milliseconds.
_RUN_MS, _PLAN_MS = 2e-2, 0.15
LEAST_OPERATORS = 2
"""One operator costs the interpreter little more than a plan would."""


class Whole:
    """A program that becomes one native call at some time. Threads may share it."""

    __slots__ = ("_at_once", "_cost", "_inputs", "_limit", "_operators", "_outputs", "_program", "_spent", "is_none")

    def __init__(
        self, inputs: Sequence[Variable], operators: Sequence[Operator], outputs: Sequence[Any], at_once: bool = False
    ) -> None:
        self._inputs = inputs
        self._operators = operators
        self._outputs = outputs
        self._program: WholeProgram | None = None
        count, runs = _counted(operators)
        self._cost = runs * _RUN_MS
        after = NATIVE_AFTER_MS.value
        self._limit = after + count * _PLAN_MS if after else 0
        self._spent = 0.0
        self._at_once = at_once
        self.is_none = False

    @staticmethod
    def of(
        inputs: Sequence[Variable], operators: Sequence[Operator], outputs: Sequence[Any], choice: Choice,
        options: ExecutionOptions,
    ) -> Whole | None:  # fmt: skip
        """For a program on the CPU; None where threads are asked for, and where no call would be saved."""
        is_on_streams = choice.mode == STREAMS or choice.captured
        if is_on_streams or options.mode == THREADS or not options.passes or options.native == NEVER:
            return None
        if _counted(operators)[0] < LEAST_OPERATORS:
            return None
        return Whole(inputs, operators, outputs, options.native == ALWAYS)

    @property
    def refused_at(self) -> Operator | None:
        """The operator that cannot be planned for, if it was one."""
        return None if self._program is None else self._program.refused_at

    def run(self, arrays: Sequence[Any]) -> tuple[Any, ...] | None:
        """The program's outputs; None where the interpreter has to run it."""
        program = self._program
        if program is None:
            if not self._is_due():
                return None
            program = self._program = whole_program(self._inputs, self._operators, self._outputs)
            if program is None:
                self.is_none = True
                return None
        found = program(arrays)
        if found is None and program.is_refused:
            self.is_none = True
        return found

    def _is_due(self) -> bool:
        if not NATIVE.value:
            return False
        self._spent += self._cost
        return self._at_once or self._spent >= self._limit


def _counted(operators: Sequence[Operator]) -> tuple[int, int]:
    """How many operators there are, those of blocks inside included, and how many a run runs by estimate."""
    count = runs = 0
    for operator in operators:
        count, runs = count + 1, runs + 1
        if operator.op.scalar is None and operator.op.native is not None and operator.op is not fused_op:
            for block in blocks_in(tuple(operator.attrs.values())):
                if any(inner.op.scalar is None for inner in block.ops):
                    more, longer = _counted(block.ops)
                    count, runs = count + more, runs + ITERATIONS * longer
    return count, runs
