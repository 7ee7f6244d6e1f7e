"""Instructions: operators prepared once, with kernel, slots and attributes bound, to be run many times."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..core.meta import Ref
from ..core.rng import default_generator
from ..ir.program import Operator, refs_in

Frame = list[Any]
Step = Callable[[Frame], None]


@dataclass(frozen=True)
class Instruction:
    """One prepared operator: `step(frame)` reads, computes, writes and frees slots.

    `reads` are the slots of its inputs in order, with those of attribute `Ref`s at the end. `steps` is there when the
    operator runs blocks that call functions: the kernel as a generator that asks for them.
    """

    operator: Operator
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    dead: tuple[int, ...]
    attrs: Mapping[str, Any]
    step: Step
    checked: bool
    steps: Callable[..., Any] | None = None

    def suspended(self, frame: Frame) -> Generator[Any, Any, None]:
        """Run the operator's `steps` on a frame, yielding what they ask for."""
        assert self.steps is not None
        outputs = yield from self.steps(*[frame[s] for s in self.reads])
        for slot, value in zip(self.writes, outputs):
            frame[slot] = value
        for slot in self.dead:
            frame[slot] = None


def fill_refs(value: Any, arrays: Sequence[Any]) -> Any:
    """`value` with each Ref replaced by the integer (or number) that the array it names holds."""
    if isinstance(value, Ref):
        array = arrays[value.index]
        return array.item() if value.item is None else array[value.item].item()
    if isinstance(value, slice):
        return slice(*(fill_refs(v, arrays) for v in (value.start, value.stop, value.step)))
    if isinstance(value, (list, tuple)):
        return type(value)(fill_refs(v, arrays) for v in value)
    return value


def _pure_call(operator: Operator, attrs: Mapping[str, Any], xp: Any) -> Callable[..., Any]:
    """The kernel as a function of arrays alone."""
    op = operator.op
    plain = op.on_numpy if xp is np else partial(op.kernel, xp)
    if op.random:
        plain = _drawing(partial(op.kernel, xp))
    refs = {k: v for k, v in attrs.items() if any(refs_in(v))}
    if not refs:
        return partial(plain, **attrs) if attrs else plain
    fixed = {k: v for k, v in attrs.items() if k not in refs}
    count = len(operator.inputs) - operator.ref_count

    def call(*arrays: Any) -> Any:
        filled = {k: fill_refs(v, arrays) for k, v in refs.items()}
        return plain(*arrays[:count], **fixed, **filled)

    return call


def _drawing(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A random kernel that draws from the generator current when it is called."""
    return lambda *arrays, **attrs: kernel(*arrays, key=default_generator(), **attrs)


def make_step(
    operator: Operator,
    reads: Sequence[int],
    writes: Sequence[int],
    dead: Sequence[int],
    attrs: Mapping[str, Any],
    xp: Any,
) -> Step:
    """The closure that runs one operator on a frame; arities 1 and 2 are spelled out because they are most calls."""
    call = _pure_call(operator, attrs, xp)
    if operator.op.multiple:
        return _step_many(call, reads, writes, dead)
    out = writes[0]
    if len(reads) == 1:
        return _step_unary(call, reads[0], out, dead)
    if len(reads) == 2:
        return _step_binary(call, reads[0], reads[1], out, dead)
    return _step_general(call, reads, out, dead)


def _step_unary(call: Callable[..., Any], a: int, out: int, dead: Sequence[int]) -> Step:
    def step(frame: Frame) -> None:
        frame[out] = call(frame[a])
        for slot in dead:
            frame[slot] = None

    return step


def _step_binary(call: Callable[..., Any], a: int, b: int, out: int, dead: Sequence[int]) -> Step:
    def step(frame: Frame) -> None:
        frame[out] = call(frame[a], frame[b])
        for slot in dead:
            frame[slot] = None

    return step


def _step_general(call: Callable[..., Any], reads: Sequence[int], out: int, dead: Sequence[int]) -> Step:
    def step(frame: Frame) -> None:
        frame[out] = call(*[frame[s] for s in reads])
        for slot in dead:
            frame[slot] = None

    return step


def _step_many(call: Callable[..., Any], reads: Sequence[int], writes: Sequence[int], dead: Sequence[int]) -> Step:
    def step(frame: Frame) -> None:
        for slot, value in zip(writes, call(*[frame[s] for s in reads])):
            frame[slot] = value
        for slot in dead:
            frame[slot] = None

    return step
