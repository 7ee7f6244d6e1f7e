"""Runs of a lowered program on the streams of a device: for the host, for one of the streams, or noted as a graph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from ..device.graphs import GraphDevice
from ..device.places import device_at, is_on_host
from ..device.stream_device import StreamDevice, in_use
from .instruction import Frame
from .observed_streams import ObservedStreamRun
from .observer import Observer
from .stream_plan import StreamPlan
from .stream_run import NotedStreamRun, StreamRun
from .streams import D2H, Stream

if TYPE_CHECKING:
    from .interpreter import InterpreterCore


def stream_plan(core: InterpreterCore, fed: tuple[int, ...] | None = None, settled: bool = False) -> StreamPlan:
    """The plan for runs to which these inputs come from the host; None: all do, and all outputs go back there.

    settled: the constants of the program are on the device.
    """
    assert core.plans is not None
    found = core.plans.get((fed, settled))
    if found is None:
        found = core.plans[fed, settled] = _planned(core, fed, settled)
    return found


def _planned(core: InterpreterCore, fed: tuple[int, ...] | None, settled: bool) -> StreamPlan:
    first = core.surroundings.n_inputs
    constants = [first + i for i in core.device_constants]
    moved = () if fed is None else (*fed, *(s for s in constants if is_on_host(core.rest[s - first])))
    moved = fed or () if settled else moved
    resident = None if fed is None else {*range(first), *constants} - {*moved}
    in_order = core.options.sequential or core.options.deterministic
    return StreamPlan.of(core.instructions, first, core.outputs, constants, sequential=in_order, resident=resident)


def run_on_streams(core: InterpreterCore, frame: Frame, observer: Observer | None) -> tuple[Any, ...]:
    """The outputs for a list of arrays, by the device of the core's place."""
    with in_use(device_at(core.surroundings.place)) as device:
        _, results = on_streams(core, device, frame, device.caller, observer)
    return results


def on_streams(
    core: InterpreterCore, device: StreamDevice, frame: Frame, origin: Hashable | None,
    observer: Observer | None = None,
) -> tuple[StreamRun, tuple[Any, ...]]:  # fmt: skip
    """A run on behalf of one of the device's streams (None: of the host), and what it gave."""
    fed = None if origin is None else tuple([i for i, v in enumerate(frame) if is_on_host(v)])
    plan, gc = stream_plan(core, fed), core.options.gc
    run: StreamRun
    if observer is None:
        run = StreamRun(plan, device, core.explained, gc, origin)
    else:
        run = ObservedStreamRun(plan, device, core.explained, gc, observer, origin)
    frame += core.rest
    found = run.run(frame)
    results = [found[s] for s in core.outputs]
    if core.surroundings.on_host and origin is not None:
        device.synchronize(device.record(Stream(D2H)))
        device.check()
        for number in core.surroundings.on_host:
            results[number] = device.read(results[number])
    return run, tuple(results)


def settled_constants(core: InterpreterCore, device: StreamDevice, stream: Hashable) -> Frame:
    """What a frame holds behind the inputs, with constants on the device."""
    found = [*core.rest]
    for i in core.device_constants:
        found[i] = device.put(stream, found[i])
    return found


def noted(core: InterpreterCore, device: GraphDevice, frame: Frame, stream: Hashable) -> Sequence[Any]:
    """What a device gives that takes note of a run on behalf of a stream; `frame` has all on the device."""
    if core.plans is None:
        return device.launch(stream, lambda: core.straight(frame), (), core.n_outputs, True, None)
    run = NotedStreamRun(stream_plan(core, (), True), device, core.explained, "none", stream)
    results = run.run(frame)
    return [results[s] for s in core.outputs]
