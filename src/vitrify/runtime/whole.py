"""When a whole program runs as one native call: once its runs have taken as long as planning it will.

As for groups (`fused.py`) it goes by estimates, not by the clock. A plan is for one signature of arrays, and must have
been earned as well by what was run before, of whatever signature: where sizes differ at every call, planning takes no
longer than what native calls save.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from ..core.config import NATIVE, NATIVE_AFTER_MS
from ..core.lazy import lazy_module
from ..core.meta import ListMeta, Meta
from ..ir.attributes import blocks_of, reachable_blocks
from ..ir.program import Block, Operator, Variable
from ..ops.fused import fused_op
from ..ops.work import windows_ms
from .costs import allocated, seconds
from .options import ALWAYS, NEVER, ExecutionOptions
from .plan import STREAMS, THREADS, Choice
from .warming import ITERATIONS

if TYPE_CHECKING:
    from ..codegen.whole import WholeProgram

_codegen, _called_back = lazy_module("vitrify.codegen.whole"), lazy_module("vitrify.runtime.called_back")

# What an operator takes longer in the interpreter than in a native program, and what planning takes for one, in
# milliseconds.
_RUN_MS, _PLAN_MS = 2e-2, 0.15
# The part of the estimated time of products and convolutions that native ones save: estimates are for a slow machine,
# and a third of what is really spent is saved where images are small.
_SAVED = 1 / 16
# So many plans may come one right after the other, once runs have been worth them.
_MOST_PLANS = 64
# So many steps an operator has at most, on average.
_MOST_STEPS = 4
LEAST_OPERATORS = 2
"""One operator costs the interpreter little more than a plan would, unless its form is worth a call by itself."""


def works_on_lists(operator: Operator) -> bool:
    """Whether an operator, or one in its blocks, takes or gives a list."""
    blocks = [inner for block in blocks_of(operator.attrs) for inner in reachable_blocks(block, lambda b: b.ops)]
    operators = [operator, *[op for block in blocks for op in block.ops]]
    return any(isinstance(var.meta, ListMeta) for op in operators for var in (*op.variables, *op.outputs))


class Whole:
    """A program that becomes one native call at some time. Threads may share it."""

    __slots__ = (
        "_cost", "_credit", "_inputs", "_is_always", "_is_part", "_most", "_operators", "_outputs", "_price",
        "_program", "_shares_items", "is_none",
    )  # fmt: skip

    def __init__(
        self, inputs: Sequence[Variable], operators: Sequence[Operator], outputs: Sequence[Any], *,
        is_always: bool = False, is_part: bool = False,
    ) -> None:  # fmt: skip
        """is_always: whatever is new is planned for at once; is_part: of a program, whose runs have paid."""
        self._inputs = inputs
        self._operators = operators
        self._outputs = outputs
        self._program: WholeProgram | None = None
        self._is_always = is_always or not NATIVE_AFTER_MS.value
        count, runs = _counted(operators)
        self._cost = runs * _RUN_MS + sum(map(_saved_ms, operators))
        self._price = count * _PLAN_MS
        self._most = _MOST_PLANS * self._price
        # What runs so far have been worth, plans that were made subtracted.
        self._is_part = is_part
        self._credit = self._price if is_part else -NATIVE_AFTER_MS.value
        self._shares_items = False  # lists in it give back the very arrays that were put into them
        self.is_none = False

    @staticmethod
    def of(
        inputs: Sequence[Variable], operators: Sequence[Operator], outputs: Sequence[Any], choice: Choice,
        options: ExecutionOptions,
    ) -> Whole | None:  # fmt: skip
        """For a program on the CPU; None where threads are asked for, and where no call would be saved."""
        is_little = _counted(operators)[0] < LEAST_OPERATORS and not any(o.op.native_alone for o in operators)
        if is_little or not _may_be_native(choice, options):
            return None
        whole = Whole(inputs, operators, outputs, is_always=options.native == ALWAYS)
        whole._shares_items = options.shares_items and any(map(works_on_lists, operators))
        return whole

    @staticmethod
    def of_little(
        inputs: Sequence[Variable], operators: Sequence[Operator], outputs: Sequence[Any], choice: Choice,
        options: ExecutionOptions,
    ) -> Whole | None:  # fmt: skip
        """For a program on the CPU that is too small to be called from the interpreter, but not from machine code."""
        if not _may_be_native(choice, options) or (options.shares_items and any(map(works_on_lists, operators))):
            return None
        return Whole(inputs, operators, outputs)

    @property
    def refused_at(self) -> Operator | None:
        """The operator that cannot be planned for, if it was one."""
        return None if self._program is None else self._program.refused_at

    def run(self, arrays: Sequence[Any]) -> tuple[Any, ...] | None:
        """The program's outputs; None where the interpreter has to run it."""
        if self._credit < self._most:
            self._credit += self._cost
        program = self._program
        if program is None:
            if not NATIVE.value or not (self._is_always or self._credit >= self._price):
                return None
            if not self._is_part and _is_surely_large(self._operators):
                self.is_none = True
                return None
            host = None if self._is_part else _called_back.PythonHost()
            if not self._shares_items:
                made = _codegen.whole_program(self._inputs, self._operators, self._outputs, self._is_part, host)
                program = self._program = made
            if program is None:
                self.is_none = True
                return None
        found = program(arrays, self._pays)
        if found is None and program.is_refused:
            self.is_none = True
        return found

    def function_for(self, arrays: Sequence[Any]) -> Any:
        """`WholeProgram.function_for`, of a program that may be too small for a plan of its own; None where none is."""
        if self._program is None:
            if not NATIVE.value or self._shares_items:
                return None
            self._program = _codegen.whole_program(self._inputs, self._operators, self._outputs, self._is_part)
        return None if self._program is None else self._program.function_for(arrays)

    def ended(self, arrays: Sequence[Any], first: int, end: int, ending: Callable[..., Any]) -> Any:
        """`WholeProgram.ended`, once runs have paid for one more plan; False while they have not."""
        program = self._program
        if program is None or not NATIVE.value or not program.has_run or not self._pays():
            return False
        return program.ended(arrays, first, end, ending)

    def _pays(self) -> bool:
        """Whether runs have been worth one more plan, which they have paid for then."""
        if self._is_always:
            return True
        if self._credit < self._price:
            return False
        self._credit -= self._price
        return True


def _may_be_native(choice: Choice, options: ExecutionOptions) -> bool:
    """Whether a program that runs in this way may be a native call."""
    is_on_streams = choice.mode == STREAMS or choice.captured
    return options.passes and not (is_on_streams or options.mode == THREADS or options.native == NEVER)


def _is_surely_large(operators: Sequence[Operator]) -> bool:
    """Whether a plan would be refused for what its steps write on average, so that none need be tried."""
    if any(operator.op.native_windows for operator in operators):
        return False
    if not all(isinstance(v.meta, Meta) and v.meta.is_static for operator in operators for v in operator.outputs):
        return False
    written = sum(sum(allocated(operator)) for operator in operators)
    most: int = _MOST_STEPS * _codegen.LARGE_STEP * len(operators)
    return written > most


def _saved_ms(operator: Operator) -> float:
    """What a native program saves beside starting the operator, by estimate."""
    if not operator.op.native_alone:
        return 0.0
    metas = [v.meta for v in (*operator.inputs, *operator.outputs) if v is not None]
    known = [m for m in metas if isinstance(m, Meta) and m.is_static]
    return seconds(operator) * 1e3 * _SAVED + windows_ms(operator.op, known)


def _counted(operators: Sequence[Operator], seen: Collection[Block] = ()) -> tuple[int, int]:
    """How many operators there are, those of blocks inside included, and how many a run runs by estimate.

    seen: the functions that this is in.
    """
    count = runs = 0
    for operator in operators:
        count, runs = count + 1, runs + 1
        if operator.op.scalar is None and operator.op.native is not None and operator.op is not fused_op:
            for block in blocks_of(operator.attrs):
                if block not in seen and any(inner.op.scalar is None for inner in block.ops):
                    more, longer = _counted(block.ops, {*seen, block} if block.name else seen)
                    count, runs = count + more, runs + ITERATIONS * longer
    return count, runs
