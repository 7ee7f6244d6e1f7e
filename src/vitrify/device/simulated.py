"""A simulated device: NumPy computes, in virtual time, and every access is checked.

Streams run what they are given in order, but how far each has come when the host, or another stream, looks is drawn at
random: an adversary that finds the schedules in which a missing event matters. Whether it matters in *some* schedule is
also known without luck: each access is compared, by vector clocks, with the accesses that it must not overtake.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from ..core.errors import InternalError
from .graphs import GraphCaptureError
from .pool import StreamPool, VirtualMemory
from .races import HOST, Memory, Races, Stamp, learn
from .values import copied
from .virtual_time import Event, VirtualTime

UNSET = object()


class Violation(InternalError):
    """What a program did on the simulated device that could go wrong on a real one."""


@dataclass(eq=False)
class Value:
    """What the program knows as an array: memory, and what it will hold."""

    memory: tuple[Memory, ...]
    maker: Stamp
    array: Any = UNSET
    freed: bool = False


class SimulatedGraph:
    """What streams were given while they captured: `stamps` says how much, for each that takes part."""

    def __init__(self, stream: Hashable) -> None:
        self.items: list[Callable[[], None]] = []
        self.stamps: dict[Hashable, int] = {stream: 0}
        self.values: list[Value] = []
        self.memory: dict[Memory, None] = {}
        self.refused = ""

    def join(self, stream: Hashable, event: Event) -> None:
        """Let a stream take part that waits for one that does."""
        if event.stream in self.stamps:
            self.stamps.setdefault(stream, 0)

    def touch(self, values: Sequence[Value]) -> None:
        """Note what kernels use."""
        self.values += values
        for memory in (memory for value in values for memory in value.memory):
            self.memory[memory] = None
            memory.is_pinned = True  # a graph's memory stays its own

    def run(self) -> None:
        """Do it all, in the order in which it was given."""
        for item in self.items:
            item()


class _Timeline:
    """The device as its pool sees it, which asks for no event while a graph is captured."""

    def __init__(self, device: SimulatedDevice) -> None:
        self.record = device.record
        self.synchronize = device.synchronize
        self._device = device

    def passed(self, event: Event) -> bool:
        return self._device._capture is None and self._device.passed(event)


class SimulatedDevice:
    """Streams of virtual time. `seed` draws the delays; `violations` lists what was found, in order.

    >>> device = SimulatedDevice(seed=0)
    >>> x = device.put("a", np.ones(2))
    >>> (y,) = device.launch("b", lambda v: (v + 1,), [x], 1, False, None)
    >>> device.violations[-1]
    'a kernel on b reads memory 0, which a kernel on a writes: no event lets it wait'
    """

    caller: Hashable | None = None
    counts_references = False

    def __init__(self, seed: int = 0) -> None:
        self._races = Races()
        self._time = VirtualTime(seed)
        self.memory = StreamPool(_Timeline(self), VirtualMemory())
        self._freed: list[Memory] = []
        self._numbers = count()
        self.failure: BaseException | None = None
        self._capture: SimulatedGraph | None = None

    @property
    def violations(self) -> list[str]:
        """What was found, in order."""
        return self._races.violations

    # -- the interface ----------------------------------------------------------------------------------------------

    def put(self, stream: Hashable, array: Any) -> Any:
        """A copy of an array, or a list of arrays, of the host."""
        if not (hasattr(array, "dtype") or isinstance(array, list)):
            return array
        self._refuse("the host gives the device a value")
        copy = copied(array)
        (value,) = self.launch(stream, lambda: copy, [], 1, False, None, sizes=[getattr(copy[0], "nbytes", 0)])
        return value

    def take(self, stream: Hashable, value: Any) -> Any:
        """A copy of what a value will hold."""
        self._refuse("the host takes a value from the device")
        if not isinstance(value, Value):
            return value
        size = sum(memory.size for memory in value.memory)
        return self.launch(stream, copied, [value], 1, False, None, sizes=[size])[0]

    def launch(
        self, stream: Hashable, compute: Callable[..., Any], inputs: Sequence[Any], count: int, views: bool,
        overwrites: int | None, effects: Collection[str] = (), sizes: Sequence[int] = (),
    ) -> list[Any]:  # fmt: skip
        """Queue a kernel and check what it touches against all that was queued before."""
        kernel, races = self._races.stamp(stream), self._races
        races.note_effects(effects, kernel)
        held = [v for v in inputs if isinstance(v, Value)]
        for value in held:
            self._read(value, kernel)
        shared = tuple(dict.fromkeys(m for v in held for m in v.memory)) if views else ()
        if overwrites is not None:
            shared = inputs[overwrites].memory
            for memory in shared:
                races.write(memory, kernel)
        outputs = [self._value(kernel, shared, size) for size in sizes or [0] * count]
        if self._capture is not None:
            self._capture.touch([*held, *outputs])
        self._push(stream, lambda: self._compute(compute, inputs, outputs, views, overwrites))
        return outputs

    def record(self, stream: Hashable) -> Event:
        """An event behind all that was queued so far."""
        return self._time.event(stream, self._races.clocks[stream])

    def wait(self, stream: Hashable, event: Event) -> None:
        """What comes later on the stream waits for the event."""
        learn(self._races.clocks[stream], event.clock)
        if self._capture is not None:
            self._capture.join(stream, event)
        else:
            self._push(stream, _nothing, [event])

    def synchronize(self, event: Event) -> None:
        """Let time pass until the event has passed."""
        self._refuse("the host waits for the device")
        self._time.run_until(event)
        self._races.host_knows(event.clock)
        if self.failure is not None:
            raise self.failure

    def passed(self, event: Event) -> bool:
        """Whether the event has passed; some time passes meanwhile."""
        self._refuse("the host asks for an event")
        self._time.pass_some()
        done = event.has_passed
        if done:
            self._races.host_knows(event.clock)
        return done

    def read(self, value: Any) -> Any:
        """What the host sees of a value."""
        if not isinstance(value, Value):
            return value
        for memory in value.memory:
            if memory.writer is not None and not self._races.knows(HOST, memory.writer):
                self._races.found(f"the host reads memory {memory.number} before it waited for {memory.writer[0]}")
        return value.array

    def free(self, value: Any) -> None:
        """Give memory back: the next value of its stream may get it."""
        if not isinstance(value, Value):
            return
        if value.freed:
            self._races.found(f"memory {value.memory[0].number} is freed twice")
            return
        value.freed = True
        for memory in value.memory:
            memory.users -= 1
            if not (memory.users or memory.is_pinned):
                self.memory.free(memory.block)
                self._freed.append(memory)

    def finish(self) -> None:
        """Let all streams come to their end; raises what a kernel raised, or the first violation."""
        self._time.run_all()
        for clock in list(self._races.clocks.values()):
            self._races.host_knows(clock)
        self.check()

    def stamp(self, stream: Hashable) -> None:
        """None: kernels run in threads of the host."""

    def check(self) -> None:
        """Raise what a kernel raised, or the first violations."""
        if self.failure is not None:
            raise self.failure
        if self.violations:
            raise Violation("; ".join(self.violations[:3]))

    def abandon(self, seconds: float | None = None) -> bool:
        """Drop what is queued and forget the failure."""
        for stream in self._time.drop():
            self._races.host_knows(self._races.clocks[stream])
        self.failure = None
        return True

    def release(self) -> None:
        """Nothing to do: each run has a device of its own."""

    # -- graphs -----------------------------------------------------------------------------------------------------

    def begin_capture(self, stream: Hashable) -> None:
        """Note what the stream, and those that wait for its events, are given from now on."""
        self._capture = SimulatedGraph(stream)

    def end_capture(self, stream: Hashable) -> SimulatedGraph:
        """What was noted; all streams that took part must have been waited for."""
        graph, self._capture = self._capture, None
        assert graph is not None
        loose = [s for s, stamp in graph.stamps.items() if not self._races.knows(stream, (s, stamp))]
        if graph.refused or loose:
            raise GraphCaptureError(graph.refused or f"the capture ended before {loose[0]} was waited for")
        return graph

    def launch_graph(self, graph: SimulatedGraph, stream: Hashable) -> None:
        """Queue it as one kernel that reads and writes all that the graph touches."""
        kernel = self._races.stamp(stream)
        for memory in graph.memory:
            self._races.write(memory, kernel)
        for value in graph.values:
            value.maker = kernel
        self._push(stream, graph.run)

    def private_memory(self) -> AbstractContextManager[Any]:
        """Nothing: what a graph uses is never given to others."""
        return nullcontext()

    def fill(self, stream: Hashable, buffer: Any, value: Any) -> None:
        """A kernel that writes into the buffer."""
        source = self.put(stream, value)
        self.free(self.launch(stream, _filled, [source, buffer], 1, False, 1)[0])
        if source is not value:
            self.free(source)

    def _refuse(self, what: str) -> None:
        if self._capture is not None:
            self._capture.refused = f"{what} while a graph is captured"
            raise GraphCaptureError(self._capture.refused)

    # -- memory -----------------------------------------------------------------------------------------------------

    def _read(self, value: Value, kernel: Stamp) -> None:
        """A kernel takes a value."""
        stream, races = kernel[0], self._races
        if not races.knows(stream, value.maker):
            races.found(f"a kernel on {stream} takes a value that one on {value.maker[0]} makes: no event between")
        if value.freed:
            races.found(f"a kernel on {stream} uses memory {value.memory[0].number} after it was freed")
        for memory in value.memory:
            races.read(memory, kernel)
            if not value.freed and memory.stream != stream:
                self.memory.use(memory.block, stream)

    def _value(self, kernel: Stamp, shared: tuple[Memory, ...], size: int) -> Value:
        value = Value(shared or (self._memory(kernel, size),), kernel)
        for memory in value.memory:
            memory.users += 1
        return value

    def _memory(self, kernel: Stamp, size: int) -> Memory:
        """New memory: all that touched what was in its place before must be done."""
        stream, races = kernel[0], self._races
        block = self.memory.allocate(size, stream)
        races.learn_of_host(stream)  # what the pool found to have passed is done before the kernel
        memory = Memory(next(self._numbers), stream, block, block.address, block.size)
        if self._freed:
            memory.replaced = [old for old in self._freed if old.overlaps(memory)]
            for old in memory.replaced:
                races.write(old, kernel)
            self._freed = [old for old in self._freed if not memory.covers(old)]
        races.write(memory, kernel)
        return memory

    # -- computing --------------------------------------------------------------------------------------------------

    def _push(self, stream: Hashable, run: Callable[[], None], after: Sequence[Event] = ()) -> None:
        if self._capture is not None and stream in self._capture.stamps:
            self._capture.items.append(run)
            self._capture.stamps[stream] = self._races.clocks[stream].get(stream, 0)
        else:
            self._time.push(stream, run, after)

    def _compute(
        self, compute: Callable[..., Any], inputs: Sequence[Any], outputs: list[Value], views: bool,
        overwrites: int | None,
    ) -> None:  # fmt: skip
        if self.failure is not None:
            return
        arrays = [v.array if isinstance(v, Value) else v for v in inputs]
        missing = [v for v, a in zip(inputs, arrays) if isinstance(v, Value) and a is UNSET]
        if missing:
            number = missing[0].memory[0].number
            self._races.found(f"memory {number} is read before it is written, or after it was reused")
            return
        try:
            options = {} if overwrites is None else {"out": arrays[overwrites]}
            results = compute(*arrays, **options)
        except Exception as err:  # noqa: BLE001 - it is raised where the host waits, as on a real device
            self.failure = err
            return
        for value, result in zip(outputs, results):
            self._settle(value, result, arrays, fresh=not views and overwrites is None)

    def _settle(self, value: Value, result: Any, arrays: Sequence[Any], fresh: bool) -> None:
        """Let a value hold a result; whatever its memory held before is gone."""
        array = np.asarray(result) if isinstance(result, np.generic) else result
        if fresh and isinstance(array, np.ndarray):
            if any(isinstance(a, np.ndarray) and np.may_share_memory(a, array) for a in arrays):
                array = array.copy()  # a kernel of a device writes into memory of its own
            for old in (old for memory in value.memory for old in memory.replaced):
                for other in old.occupants:
                    other.array = UNSET
                old.occupants = []
        for memory in value.memory:
            memory.occupants.append(value)
        value.array = array


def _filled(array: Any, buffer: Any, out: Any) -> tuple[Any]:
    out[...] = array
    return (out,)


def _nothing() -> None:
    """What a stream does when it has waited."""
