"""The interpreter core: a lowered block as a callable from input arrays to a tuple of output arrays.

Control flow is nested callables, so a sub-block is lowered by the same function and each of its runs has a frame (local
scope) of its own. Blocks that call functions run on the stack of `runtime.calls`, programs whose operators can share
the machine in `runtime.threads`; all others one instruction after the other, in an order computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.place import Place
from ..core.setting import WATCH
from ..core.timeline import TracerEventType, span
from ..device.api import on_device
from ..device.graphs import GraphDevice
from ..device.places import arrived, device_at, graph_device_at, is_on_host
from ..device.stream_device import StreamDevice, in_use
from ..ir.program import Block, Operator
from ..ops.failure import metas_of
from .calls import run_on_stack
from .captured import Graphs
from .failure import explain_failure, raise_if_other
from .instruction import Frame, Instruction, fill_refs
from .observed_streams import ObservedStreamRun
from .observer import Observer, Timings, observer_of
from .options import ExecutionOptions, in_force
from .plan import STREAMS, THREADS, Choice
from .schedule import Schedule
from .stream_run import NotedStreamRun, StreamPlan, StreamRun
from .streams import D2H, Stream
from .threads import run_threads

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
        "_checked_shapes", "_n_inputs", "_optimized", "_outputs", "_relower", "_rest", "_schedule", "_steps",
        "_takes_turns", "_variants", "block", "choice", "graphs", "instructions", "label", "n_outputs", "names",
        "options", "plans", "surroundings", "suspends", "timings",
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
    ) -> None:
        self.block = block
        self.label = label
        self.timings = Timings(len(instructions))
        self.instructions = tuple(instructions)
        self.choice = choice
        self.options = options
        self.names = names
        self.surroundings = surroundings
        self._n_inputs = surroundings.n_inputs
        self._steps = [i.step for i in instructions]
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
        self.graphs = Graphs(self) if choice.captured and not self.suspends else None
        is_away = surroundings.place.is_gpu_place()
        self._takes_turns = self.suspends or is_away or self._schedule is not None or self.plans is not None
        # The same block lowered with what flags ask for; they may change between two runs.
        self._relower = relower
        self._optimized = optimized
        self._variants: dict[ExecutionOptions, InterpreterCore] = {}

    def _shared_schedule(self) -> Schedule | None:
        if self.choice.mode != THREADS or self.suspends or self.choice.order is None:
            return None
        return Schedule.of(self.instructions, self.choice.order, self.choice.costs, self.kept, self._n_inputs)

    def plan(self, fed: tuple[int, ...] | None = None, settled: bool = False) -> StreamPlan:
        """The plan for runs to which these inputs come from the host; None: all do, and all outputs go back there.

        settled: the constants of the program are on the device.
        """
        assert self.plans is not None
        found = self.plans.get((fed, settled))
        if found is None:
            found = self.plans[fed, settled] = self._planned(fed, settled)
        return found

    def _planned(self, fed: tuple[int, ...] | None, settled: bool) -> StreamPlan:
        first = self._n_inputs
        constants = [first + i for i in self._device_constants]
        moved = () if fed is None else (*fed, *(s for s in constants if is_on_host(self._rest[s - first])))
        moved = fed or () if settled else moved
        resident = None if fed is None else {*range(first), *constants} - {*moved}
        in_order = self.options.sequential or self.options.deterministic
        return StreamPlan.of(
            self.instructions, first, self._outputs, constants, sequential=in_order, resident=resident
        )

    @property
    def _device_constants(self) -> list[int]:
        """Which of `_rest` are constants that the device takes."""
        first, on_host = self._n_inputs, self.surroundings.host_constants
        return [i for i, value in enumerate(self._rest) if value is not None and first + i not in on_host]

    def settled(self, device: StreamDevice, stream: Hashable) -> Frame:
        """What a frame holds behind the inputs, with constants on the device."""
        found = [*self._rest]
        for i in self._device_constants:
            found[i] = device.put(stream, found[i])
        return found

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
        if self._takes_turns or WATCH.on:
            return self._watched(frame) if WATCH.on else self._run(frame)
        new = None if self._checked_shapes is None else self._new_shapes(frame)
        frame += self._rest
        if new is not None:
            self._run_checked(frame, new)
        else:
            step = None
            try:
                for step in self._steps:
                    step(frame)
            except Exception as err:
                raise_if_other(self.explained(self._steps.index(step), err, frame), err)  # type: ignore[arg-type]
                raise
        return tuple([frame[s] for s in self._outputs])

    def _watched(self, frame: Frame) -> tuple[Any, ...]:
        """A run while some flag or profiler is on, here or elsewhere."""
        options = in_force(self.options, self._optimized)
        if options is not self.options and options != self.options:
            return self.variant(options)._watched(frame)
        observer = observer_of(self, self._waited_for())
        if observer is None or not self.label:
            return self._run(frame, observer)
        with span(TracerEventType.Program, self.label):
            return self._run(frame, observer)

    def _waited_for(self) -> Sequence[Sequence[int]]:
        """For each instruction those that it waits for, where they may be in other threads."""
        return () if self._schedule is None else self._schedule.before

    def variant(self, options: ExecutionOptions) -> InterpreterCore:
        """The same block lowered with other options, once."""
        found = self._variants.get(options)
        return self._variants.setdefault(options, self._relower(options)) if found is None else found

    def _run(self, frame: Frame, observer: Observer | None = None) -> tuple[Any, ...]:
        """A run that is not just one step after the other."""
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
        if self.plans is not None and new is None and not (observer is not None and observer.finite):
            return self._run_on_streams(frame, observer)
        frame = [*arrived(frame, self.surroundings.place)] if self.plans is not None else frame
        frame += self._rest
        if self._schedule is not None and new is None and not (observer is not None and observer.timings is not None):
            run_threads(self._schedule, frame, self.explained, self.options, observer)
        else:
            self._run_checked(frame, new, observer)
        return tuple([frame[s] for s in self._outputs])

    def _run_on_streams(self, frame: Frame, observer: Observer | None) -> tuple[Any, ...]:
        with in_use(device_at(self.surroundings.place)) as device:
            _, results = self.on_streams(device, frame, device.caller, observer)
        return results

    def on_streams(
        self, device: StreamDevice, frame: Frame, origin: Hashable | None, observer: Observer | None = None,
    ) -> tuple[StreamRun, tuple[Any, ...]]:  # fmt: skip
        """A run on streams of a device, on behalf of one of them (None: of the host), and what it gave."""
        fed = None if origin is None else tuple([i for i, v in enumerate(frame) if is_on_host(v)])
        plan, gc = self.plan(fed), self.options.gc
        run: StreamRun
        if observer is None:
            run = StreamRun(plan, device, self.explained, gc, origin)
        else:
            run = ObservedStreamRun(plan, device, self.explained, gc, observer, origin)
        frame += self._rest
        found = run.run(frame)
        results = [found[s] for s in self._outputs]
        if self.surroundings.on_host and origin is not None:
            device.synchronize(device.record(Stream(D2H)))
            device.check()
            for number in self.surroundings.on_host:
                results[number] = device.read(results[number])
        return run, tuple(results)

    def noted(self, device: GraphDevice, frame: Frame, stream: Hashable) -> Sequence[Any]:
        """What a device gives that takes note of a run on behalf of a stream; `frame` has all on the device."""
        if self.plans is None:
            return device.launch(stream, lambda: self._straight(frame), (), self.n_outputs, True, None)
        run = NotedStreamRun(self.plan((), True), device, self.explained, "none", stream)
        results = run.run(frame)
        return [results[s] for s in self._outputs]

    def _straight(self, frame: Frame) -> tuple[Any, ...]:
        self._run_checked(frame, None)
        return tuple([frame[s] for s in self._outputs])

    def in_block(
        self, device: StreamDevice, values: Sequence[Any], origin: Hashable
    ) -> tuple[StreamRun, tuple[Any, ...]]:
        """`on_streams` for the block of an operator."""
        observer = observer_of(self, self._waited_for()) if WATCH.on else None
        return self.on_streams(device, [*values], origin, observer)

    def __str__(self) -> str:
        """How it runs and why, and its instructions: the slots that each frees are those dead behind it.

        What `FLAGS_benchmark` has measured stands beside them.
        """
        slots = ", ".join(f"s{slot} = %{name}" for slot, name in sorted(self.names.items()) if slot < self._n_inputs)
        refused = f"; no graph after all: {self.graphs.refused}" if self.graphs and self.graphs.refused else ""
        lines = [f"{self.choice.mode}: {self.choice.reason}{refused}", f"inputs {slots}", *self._instruction_lines()]
        lines.append("outputs " + ", ".join(f"s{slot} = %{self.names.get(slot, '')}" for slot in self._outputs))
        for variant in self._variants.values():
            if any(variant.timings.calls):
                lines += ["timed, operator by operator:", *variant._instruction_lines()]
        return "\n".join(lines)

    def _instruction_lines(self) -> Iterator[str]:
        for index, instruction in enumerate(self.instructions):
            freed = "".join(f" s{slot}" for slot in instruction.dead)
            notes = [f"frees{freed}" if freed else "", self.timings.text(index)]
            yield f"  {instruction}" + (f"  # {', '.join(filter(None, notes))}" if any(notes) else "")

    def running(self, frame: Frame) -> Generator[Any, Any, tuple[Any, ...]]:
        """`consume` as a generator, which asks for the blocks and functions that it needs."""
        new = None if self._checked_shapes is None else self._new_shapes(frame)
        frame += self._rest
        observer = observer_of(self) if WATCH.on else None
        for index, instruction in enumerate(self.instructions):
            try:
                if new is not None and instruction.checked:
                    _check(instruction, frame, observer)
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

    def _have_passed(self, shapes: Shapes | None) -> None:
        if shapes is not None and self._checked_shapes is not None:
            self._checked_shapes.add(shapes)

    def _run_checked(self, frame: Frame, new: Shapes | None, observer: Observer | None = None) -> None:
        for index, instruction in enumerate(self.instructions):
            try:
                if new is not None and instruction.checked:
                    _check(instruction, frame, observer)
                if observer is None:
                    instruction.step(frame)
                else:
                    observer.run(index, instruction, frame)
            except Exception as err:
                raise_if_other(self.explained(index, err, frame), err)
                raise
        self._have_passed(new)

    def explained(self, index: int, err: Exception, frame: Frame) -> Exception:
        """The exception to raise for what instruction `index` raised."""
        instruction = self.instructions[index]
        arrays = [frame[s] for s in instruction.reads]
        n = _arity(instruction.operator)
        attrs = {k: fill_refs(v, arrays) for k, v in instruction.attrs.items()}
        return explain_failure(instruction.operator, arrays[:n], attrs, err)


def _arity(operator: Operator) -> int:
    """How many leading inputs are the op's own (the rest feed attribute Refs)."""
    op = operator.op
    if op.variadic and not op.dynamic:
        return len(operator.inputs)
    return len(operator.inputs) - operator.ref_count


def _check(instruction: Instruction, frame: Frame, observer: Observer | None) -> None:
    if observer is not None:
        observer.checking(_run_meta, instruction, frame)
    else:
        _run_meta(instruction, frame)


def _run_meta(instruction: Instruction, frame: Frame) -> None:
    arrays = [frame[s] for s in instruction.reads]
    n = _arity(instruction.operator)
    attrs = {k: fill_refs(v, arrays) for k, v in instruction.attrs.items()}
    instruction.operator.op.meta(*metas_of(arrays[:n]), **attrs)
