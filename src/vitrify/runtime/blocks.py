"""Control flow on streams: the host decides what runs next, the blocks run on the device.

Only what decides is read back. A block is a program of its own that starts when what it is given is there and, before
anything goes on, waits for itself on all its streams; a block that is to run as a sequence is one kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.meta import ListMeta
from ..ir.program import Variable
from .instruction import Instruction
from .streams import Stream

if TYPE_CHECKING:
    from .interpreter import InterpreterCore
    from .stream_run import StreamRun


class Blocks:
    """One run of an instruction with blocks, on behalf of a run on streams; `stream` is the instruction's own."""

    def __init__(self, run: StreamRun, stream: Stream, instruction: Instruction) -> None:
        self.run = run
        self.device = run.device
        self.stream = stream
        self.instruction = instruction
        self.streams: set[Stream] = set()
        self.made: list[Any] = []  # by blocks; what no output holds goes at the end

    def outputs(self, values: Sequence[Any]) -> list[Any]:
        """The values that the instruction gives."""
        operator = self.instruction.operator
        assert operator.op.steps is not None
        metas = [v.meta if isinstance(v, Variable) else None for v in operator.inputs]
        given = [Items(self, v) if isinstance(m, ListMeta) else v for v, m in zip(values, metas)]
        running, found = operator.op.steps(np, *given, **self.instruction.attrs), None
        while True:
            try:
                callee, arguments = running.send(found)
            except StopIteration as end:
                return self._settled(end.value, values)
            found = self._of_block(callee, [_plain(v) for v in arguments])

    def launch(self, compute: Any, values: Sequence[Any]) -> Any:
        """What `compute` gives: one value that may share memory with those it takes."""
        (found,) = self.device.launch(self.stream, compute, values, 1, True, None)
        self._keep([found])
        return found

    def _of_block(self, callee: InterpreterCore, values: list[Any]) -> tuple[Any, ...]:
        device = self.device
        if callee.plans is None:  # a sequence
            found = device.launch(self.stream, callee, values, callee.n_outputs, True, None)
            self._keep(found)
            return tuple(found)
        run, results = callee.in_block(device, values, self.stream)
        self.streams.update(run.plan.schedule.streams)
        found, seen = [], list(values)
        for number, value in enumerate(results):
            if number not in callee.surroundings.on_host:
                if any(value is other for other in seen):
                    value = self._another(value)
                else:
                    self._keep([value])
            seen.append(value)
            found.append(value)
        return tuple(found)

    def _another(self, value: Any) -> Any:
        """The same value again, to be freed by another owner."""
        return value if value is None else self.launch(_itself, [value])

    def _keep(self, values: Sequence[Any]) -> None:
        if not self.device.counts_references:
            self.made += values

    def _settled(self, outputs: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        """The outputs as values, when all streams of the blocks know that they are done.

        Each is a value of its own: a loop that does not run gives what it was given.
        """
        found: list[Any] = []
        for output in outputs:
            value = self._value(output)
            found.append(self._another(value) if any(value is other for other in (*given, *found)) else value)
        end = self.device.record(self.stream)
        for stream in self.streams:
            self.device.wait(stream, end)
        held = {id(v) for v in found}
        for value in self.made:
            if id(value) not in held:
                self.device.free(value)
        return found

    def _value(self, output: Any) -> Any:
        """A value for what an op gives: an array that it made on the host, a list of values, or a value."""
        if isinstance(output, np.ndarray):
            return self.device.put(self.stream, output)
        if isinstance(output, (list, tuple)):
            return self.launch(lambda *items: (list(items),), [self._value(v) for v in output])
        return _plain(output)


class Items:
    """A list on the device, as an op sees it that takes items out of it."""

    def __init__(self, blocks: Blocks, value: Any) -> None:
        self.blocks = blocks
        self.value = value

    def __getitem__(self, index: int) -> Any:
        return self.blocks.launch(lambda items: (items[index],), [self.value])


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Items) else value


def _itself(value: Any) -> Any:
    return (value,)
