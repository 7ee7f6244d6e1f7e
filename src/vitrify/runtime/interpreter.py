"""The interpreter core: a lowered block as a callable from input arrays to a tuple of output arrays.

Control flow is nested callables, so a sub-block is lowered by the same function and each of its runs has a frame (local
scope) of its own. Blocks that call functions run on the stack of `runtime.calls`, programs whose operators can share
the machine in `runtime.threads`; all others one instruction after the other, in an order computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ..core.errors import VitrifyError
from ..core.lazy import lazy_module
from ..core.place import Place
from ..core.setting import WATCH
from ..core.timeline import TracerEventType, span
from ..device.api import on_device
from ..device.places import arrived, graph_device_at
from ..ir.program import Block, Operator
from .calls import run_on_stack
from .checks import check_shapes, explain_instruction
from .failure import raise_if_other
from .instruction import Frame, Instruction, Step
from .observer import Observer, Timings, observer_of
from .options import ExecutionOptions, in_force
from .plan import STREAMS, THREADS, Choice
from .whole import Whole

if TYPE_CHECKING:
    from ..device.stream_device import StreamDevice
    from .captured import Graphs
    from .native_runs import Part
    from .schedule import Schedule
    from .stream_plan import StreamPlan
    from .stream_run import StreamRun

# A program runs in one of several ways, each of which imports what it needs; native runs, the code generator.
_native_runs, _threads = lazy_module("vitrify.runtime.native_runs"), lazy_module("vitrify.runtime.threads")
_on_streams, _captured = lazy_module("vitrify.runtime.on_streams"), lazy_module("vitrify.runtime.captured")
_summary, _schedule = lazy_module("vitrify.runtime.summary"), lazy_module("vitrify.runtime.schedule")
MAX_CHECKED_SHAPES = 256
Shapes = tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True)
class Surroundings:
    """Where a lowered block runs: its place, how many slots are inputs, which constants and outputs are the host's."""

    place: Place
    n_inputs: int
    host_constants: frozenset[int]
    on_host: frozenset[int]


class InterpreterCore:
    """A lowered block. Calling it runs the instructions; it keeps no state between runs, so threads may share it."""

    __slots__ = (
        "_checked_shapes", "_is_cut", "_left_out", "_little", "_lone", "_n_inputs", "_optimized", "_outputs", "_parts",
        "_relower", "_rest", "_schedule", "_steps", "_takes_turns", "block", "choice", "graphs", "instructions",
        "label", "n_outputs", "names", "options", "plans", "refused", "surroundings", "suspends", "timings",
        "variants", "whole",
    )  # fmt: skip

    def __init__(
        self,
        block: Block,
        instructions: Sequence[Instruction],
        rest: Frame,
        outputs: Sequence[int],
        choice: Choice,
        options: ExecutionOptions,
        names: Mapping[int, str],
        surroundings: Surroundings,
        label: str,
        relower: Callable[[ExecutionOptions], InterpreterCore],
        optimized: bool = False,
        whole: Whole | None = None,
        little: Whole | None = None,
    ) -> None:
        self.block = block
        self.label = label
        self.timings = Timings(len(instructions))
        self.instructions = tuple(instructions)
        self.choice = choice
        self.options = options
        self.whole = whole
        self._little = little
        self.names = names
        self.surroundings = surroundings
        self._n_inputs = surroundings.n_inputs
        self._steps = [i.step for i in instructions]
        # Where the whole is no native call: its parts, and which operators these leave out.
        self._parts: list[Part] | None = None
        self._left_out: set[Operator] = set()
        self._is_cut = False
        self._rest = rest
        self._outputs = tuple(outputs)
        self.n_outputs = len(outputs)
        # Meta rules of operators with unknown sizes run once per distinct input shapes; None: all sizes known.
        self._checked_shapes: set[Shapes] | None = set() if any(i.checked for i in instructions) else None
        # Whether it calls functions, itself or in its blocks: then it runs step by step on a stack.
        self.suspends = any(i.steps is not None for i in instructions)
        self._schedule = self._shared_schedule()
        # Where it runs on streams, its plans: one for each set of inputs that must be copied to the device.
        self.plans: dict[tuple[tuple[int, ...] | None, bool], StreamPlan] | None = (
            {} if choice.mode == STREAMS and not self.suspends else None
        )
        self.graphs: Graphs | None = _captured.Graphs(self) if choice.captured and not self.suspends else None
        is_away = surroundings.place.is_gpu_place()
        self._takes_turns = self.suspends or is_away or self._schedule is not None or self.plans is not None
        self._lone = self._lone_kernel()
        # The same block lowered with what flags ask for; they may change between two runs.
        self._relower = relower
        self._optimized = optimized
        self.variants: dict[ExecutionOptions, InterpreterCore] = {}
        self.refused: VitrifyError | None = None

    def _shared_schedule(self) -> Schedule | None:
        if self.choice.mode != THREADS or self.suspends or self.choice.order is None:
            return None
        choice = self.choice
        shared = _schedule.Schedule.of(self.instructions, choice.order, choice.costs, self.kept, self._n_inputs)
        return cast("Schedule", shared)

    @property
    def kept(self) -> frozenset[int]:
        """The slots that outlive a run, or are there before it: outputs and constants."""
        first = self._n_inputs
        constants = [first + i for i, value in enumerate(self._rest) if value is not None]
        return frozenset((*self._outputs, *constants))

    @property
    def outputs(self) -> tuple[int, ...]:
        """The slots of the outputs."""
        return self._outputs

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        return self.consume([*arrays])

    def consume(self, frame: Frame) -> tuple[Any, ...]:
        """The outputs for a list of arrays, which becomes the run's own: each array is given up after its last use."""
        if WATCH.on:
            return self._watched(frame)
        lone = self._lone
        if lone is not None:
            try:
                return (lone(frame),)
            except Exception as err:
                raise_if_other(self.explained(0, err, [*frame, *self._rest]), err)
                raise
        whole = self.whole
        if whole is not None and not whole.is_none:
            found = whole.run(frame)
            if found is not None:
                return found
        if self._takes_turns:
            return self._run(frame)
        new = None if self._checked_shapes is None else self._new_shapes(frame)
        frame += self._rest
        if new is not None:
            self._run_checked(frame, new)
        else:
            if whole is not None and whole.is_none and not self._is_cut:
                self._cut(whole)
            parts, step = self._parts, None
            try:
                for step in self._steps if parts is None else parts:
                    step(frame)
            except Exception as err:
                if parts is None:  # those explain themselves
                    raise_if_other(self.explained(self._steps.index(step), err, frame), err)  # type: ignore[arg-type]
                raise
        return tuple([frame[s] for s in self._outputs])

    def native(self, frame: Frame) -> tuple[Any, ...] | None:
        """The outputs by one native call, where the whole block is one for these arrays."""
        whole = self.whole
        return None if whole is None or whole.is_none or WATCH.on else whole.run(frame)

    def function_for(self, arrays: Sequence[Any]) -> Any:
        """The built-in function that is the whole program for arrays like these, and what `WholeProgram.function_for`
        says of its results; None where there is none.
        """
        whole = self._little if self.whole is None else self.whole
        if whole is None or whole.is_none or self._takes_turns:
            return None
        return whole.function_for(arrays)

    def _lone_kernel(self) -> Callable[[Frame], Any] | None:
        """The program as its kernel alone, where it is one of two operands that gives one array; else None."""
        first, *others = self.instructions or (None,)
        if first is None or others or self._takes_turns or self.whole is not None or self._checked_shapes is not None:
            return None
        plain = not (first.operator.op.multiple or first.access.overwrites or first.handed)
        if not plain or len(first.reads) != 2 or self._outputs != tuple(first.writes):
            return None
        (a, b), compute, count = first.reads, first.compute, self._n_inputs
        if a < count <= b:
            constant = self._rest[b - count]
            return lambda frame: compute(frame[a], constant)
        return (lambda frame: compute(frame[a], frame[b])) if a < count and b < count else None

    def run_steps(self, steps: Sequence[Step], first: int, frame: Frame) -> None:
        """Run the steps of neighbouring instructions, the first of which has this number."""
        done = first
        try:
            for step in steps:
                step(frame)
                done += 1
        except Exception as err:
            raise_if_other(self.explained(done, err, frame), err)
            raise

    def _cut(self, whole: Whole) -> None:
        """Look for parts that could be native calls where the whole could not."""
        self._is_cut = True
        if whole.refused_at is not None:
            self._left_out.add(whole.refused_at)
        self._parts = _native_runs.cut(self, self._left_out)

    def leave_out(self, operator: Operator) -> None:
        """Make native calls without this operator from the next run on."""
        self._left_out.add(operator)
        self._parts = _native_runs.cut(self, self._left_out)

    def _watched(self, frame: Frame) -> tuple[Any, ...]:
        """A run while some flag or profiler is on, here or elsewhere."""
        options = in_force(self.options, self._optimized)
        if options is not self.options and options != self.options:
            return self.variant(options)._watched(frame)
        observer = observer_of(self, self.waited_for())
        if observer is None or not self.label:
            return self._run(frame, observer)
        with span(TracerEventType.Program, self.label):
            return self._run(frame, observer)

    def variant(self, options: ExecutionOptions) -> InterpreterCore:
        """The same block lowered with other options, once."""
        found = self.variants.get(options)
        return self.variants.setdefault(options, self._relower(options)) if found is None else found

    def refuse(self, err: VitrifyError) -> None:
        """Let every run raise this error before anything runs."""
        self.refused, self._takes_turns, self.whole, self._lone = err, True, None, None

    def _run(self, frame: Frame, observer: Observer | None = None) -> tuple[Any, ...]:
        """A run that is not just one step after the other."""
        if self.refused is not None:
            raise self.refused
        place = self.surroundings.place
        if not place.is_gpu_place():
            return self._run_there(frame, observer)
        with on_device(place):
            return self._run_there(frame if self.plans is not None else [*arrived(frame, place)], observer)

    def _run_there(self, frame: Frame, observer: Observer | None) -> tuple[Any, ...]:
        if self.suspends:
            return run_on_stack(self, frame)
        if self.graphs is not None and observer is None and not self.graphs.refused:
            results = self.graphs.run(frame, graph_device_at(self.surroundings.place))
            if results is not None:
                return results
        new = None if self._checked_shapes is None else self._new_shapes(frame)
        if self.plans is not None and new is None and not (observer is not None and observer.looks):
            return tuple(_on_streams.run_on_streams(self, frame, observer))
        frame = [*arrived(frame, self.surroundings.place)] if self.plans is not None else frame
        frame += self._rest
        if self._schedule is not None and new is None and not (observer is not None and observer.timings is not None):
            _threads.run_threads(self._schedule, frame, self.explained, self.options, observer)
        else:
            self._run_checked(frame, new, observer)
        return tuple([frame[s] for s in self._outputs])

    def running(self, frame: Frame) -> Generator[Any, Any, tuple[Any, ...]]:
        """`consume` as a generator, which asks for the blocks and functions that it needs."""
        new = None if self._checked_shapes is None else self._new_shapes(frame)
        frame += self._rest
        observer = observer_of(self) if WATCH.on else None
        for index, instruction in enumerate(self.instructions):
            try:
                if new is not None and instruction.checked:
                    check_shapes(instruction, frame, observer)
                if instruction.steps is not None:
                    yield from instruction.suspended(frame)
                elif observer is not None:
                    observer.run(index, instruction, frame)
                else:
                    instruction.step(frame)
            except Exception as err:
                raise_if_other(self.explained(index, err, frame), err)
                raise
        self._have_passed(new)
        return tuple([frame[s] for s in self._outputs])

    def _new_shapes(self, arrays: Sequence[Any]) -> Shapes | None:
        """The shapes of the inputs, if the meta rules have not passed on them yet."""
        shapes = tuple([getattr(a, "shape", None) for a in arrays])
        checked = self._checked_shapes
        assert checked is not None
        # Shapes that keep changing (a text that grows) are not worth a check each: a failing kernel explains itself.
        return None if shapes in checked or len(checked) >= MAX_CHECKED_SHAPES else shapes

    def straight(self, frame: Frame) -> tuple[Any, ...]:
        """The outputs for a frame with inputs and constants, one instruction after the other."""
        self._run_checked(frame, None)
        return tuple([frame[s] for s in self._outputs])

    @property
    def rest(self) -> Sequence[Any]:
        """What a frame starts with behind the inputs: constants, and None for what is computed."""
        return self._rest

    @property
    def device_constants(self) -> list[int]:
        """Which of `rest` are constants that the device takes."""
        first, on_host = self._n_inputs, self.surroundings.host_constants
        return [i for i, value in enumerate(self._rest) if value is not None and first + i not in on_host]

    def waited_for(self) -> Sequence[Sequence[int]]:
        """For each instruction those that it waits for, where they may be in other threads."""
        return () if self._schedule is None else self._schedule.before

    def _have_passed(self, shapes: Shapes | None) -> None:
        if shapes is not None and self._checked_shapes is not None:
            self._checked_shapes.add(shapes)

    def _run_checked(self, frame: Frame, new: Shapes | None, observer: Observer | None = None) -> None:
        for index, instruction in enumerate(self.instructions):
            try:
                if new is not None and instruction.checked:
                    check_shapes(instruction, frame, observer)
                if observer is None:
                    instruction.step(frame)
                else:
                    observer.run(index, instruction, frame)
            except Exception as err:
                raise_if_other(self.explained(index, err, frame), err)
                raise
        self._have_passed(new)

    def in_block(
        self, device: StreamDevice, values: Sequence[Any], origin: Hashable
    ) -> tuple[StreamRun, tuple[Any, ...]]:
        """A run on behalf of the stream of an operator that runs this block, and what it gave."""
        observer = observer_of(self, self.waited_for()) if WATCH.on else None
        found: tuple[StreamRun, tuple[Any, ...]] = _on_streams.on_streams(self, device, [*values], origin, observer)
        return found

    def explained(self, index: int, err: Exception, frame: Frame) -> Exception:
        """The exception to raise for what instruction `index` raised."""
        return explain_instruction(self.instructions[index], err, frame)

    def __str__(self) -> str:
        return str(_summary.listing(self))
