"""Programs as graphs of the device: captured once, then launched as one piece that costs the host next to nothing.

Inputs are copied into buffers that belong to the graph, outputs are copied out of it. What a graph cannot hold is told
before (`refusal`) or found when the device refuses it: then the program runs as ever, and says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..core.errors import call_chain
from ..core.meta import Meta
from ..device.graphs import GraphCaptureError, GraphDevice
from ..device.values import copied
from ..ir.program import Block, Operator, Variable
from .instruction import Frame
from .on_streams import noted, settled_constants
from .options import FORCE
from .streams import Stream

if TYPE_CHECKING:
    from .interpreter import InterpreterCore

CAPTURE = Stream("capture")


def refusal(operators: Sequence[Operator], inputs: Sequence[Variable]) -> str:
    """Why these operators cannot be one graph: the first that stands in the way, with its line; empty if none does."""
    for var in inputs:
        if not (isinstance(var.meta, Meta) and var.meta.is_static):
            return f"the size of input {var.name!r} ({var.meta}) may vary"
    for operator in operators:
        why = _why_not(operator)
        if why:
            where = f" at {operator.locs[0].file}:{operator.locs[0].line}" if operator.locs else ""
            return f"{operator.op.name}{where} {why}"
    return ""


def _why_not(operator: Operator) -> str:
    op = operator.op
    if any(isinstance(v, Block) for v in operator.attrs.values()):
        return "lets the host decide what runs next"
    if op.random:
        return "draws random numbers: the host gives each draw its place in the stream, which a graph would repeat"
    if op.on_host:
        return "runs on the host"
    if op.moves or operator.ref_count:
        return "needs a value on the host"
    known = all(isinstance(v.meta, Meta) and v.meta.is_static for v in operator.outputs)
    return "" if known else "gives a tensor whose size depends on values"


class Captured:
    """The graph of a program on one device, for one thread: its buffers, its outputs."""

    def __init__(self, core: InterpreterCore, device: GraphDevice) -> None:
        self.core = core
        self.device = device
        self.memory = device.private_memory()
        self.buffers: list[Any] = []
        self.rest: list[Any] = []
        self.is_prepared = False
        self.outputs: Sequence[Any] = ()
        self.graph: Any = None
        self.is_capturing = False

    def run(self, frame: Frame) -> tuple[Any, ...]:
        """The outputs. The first run only prepares: the device compiles kernels and finds the memory they need."""
        device = self.device
        if device.caller is not None:
            device.wait(CAPTURE, device.record(device.caller))
        if not self.is_prepared:
            self.buffers = [device.launch(CAPTURE, copied, [device.put(CAPTURE, v)], 1, False, None)[0] for v in frame]
            self.rest = settled_constants(self.core, device, CAPTURE)
        else:
            for buffer, value in zip(self.buffers, frame):
                device.fill(CAPTURE, buffer, value)
        if self.is_prepared and self.graph is None:
            self._capture()
        self.is_prepared = True
        if self.graph is None:
            with self.memory:
                results = self._queue()
        else:
            device.launch_graph(self.graph, CAPTURE)
            results = self.outputs
        return self._handed_out(results)

    def _capture(self) -> None:
        device = self.device
        self.is_capturing = True
        device.begin_capture(CAPTURE)
        try:
            with self.memory:
                outputs = self._queue()
        except BaseException:
            self._abandon()
            raise
        self.graph, self.outputs = device.end_capture(CAPTURE), outputs
        self.is_capturing = False

    def _abandon(self) -> None:
        """End a capture that failed."""
        try:
            self.device.end_capture(CAPTURE)
        except GraphCaptureError:
            return  # it is what the kernel's own error comes from

    def _queue(self) -> Sequence[Any]:
        """Give the device all kernels."""
        return noted(self.core, self.device, [*self.buffers, *self.rest], CAPTURE)

    def _handed_out(self, results: Sequence[Any]) -> tuple[Any, ...]:
        """Copies of the results, for the caller: the next launch writes into them."""
        device = self.device
        if device.caller is None:
            taken = [device.take(CAPTURE, v) for v in results]
            device.synchronize(device.record(CAPTURE))
            return tuple([device.read(v) for v in taken])
        made = [device.launch(CAPTURE, copied, [v], 1, False, None)[0] for v in results]
        device.wait(device.caller, device.record(CAPTURE))
        return tuple(made)


class Graphs:
    """The graphs of all threads for one program. `refused`: why there is none after all; empty while there may be."""

    def __init__(self, core: InterpreterCore) -> None:
        self.core = core
        self.refused = ""
        self._found: WeakKeyDictionary[Any, Captured] = WeakKeyDictionary()

    def run(self, frame: Frame, device: GraphDevice) -> tuple[Any, ...] | None:
        """The outputs by a graph; None where the device refused it. Raises GraphCaptureError if one was demanded."""
        captured = self._found.get(device)
        if captured is None:
            captured = self._found[device] = Captured(self.core, device)
        try:
            return captured.run(frame)
        except Exception as err:
            # Nothing has run while a graph is captured: what a kernel raises there it raises again in the run that
            # follows, and what only the capture cannot do is no fault of the program.
            if not captured.is_capturing:
                raise
            device.finish()
            del self._found[device]
            self.refused = str(err).split("\n")[0]
            if self.core.options.graph == FORCE:
                raise GraphCaptureError(f"the program cannot be captured: {self.refused}") from err
            return None


def demanded(reason: str, operators: Sequence[Operator]) -> GraphCaptureError:
    """What to raise where a graph is demanded and cannot be."""
    locs = next((op.locs for op in operators if _why_not(op)), ())
    return GraphCaptureError(
        f"the program cannot be captured: {reason}\n{call_chain(locs)}".rstrip(),
        hint='leave it out of what is captured, or allow other runs: ExecutionOptions(graph="allow")',
    )
