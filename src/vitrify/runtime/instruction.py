"""Instructions: operators prepared once, with kernel, slots and attributes bound, to be run many times."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from sys import getrefcount
from typing import Any

import numpy as np

from ..core.meta import Ref
from ..core.rng import default_generator
from ..ir.attributes import may_hold
from ..ir.program import Operator, refs_in
from ..ops.control_flow import HandedList
from ..ops.registry import OpDef
from .access import Access

Frame = list[Any]
Step = Callable[[Frame], None]


@dataclass(frozen=True)
class Instruction:
    """One prepared operator: `step(frame)` reads, computes, writes and frees slots; `compute` is the kernel alone.

    `access.reads` are the slots of its inputs in order, with those of attribute `Ref`s at the end. `handed` are those
    of lists that it may empty. `steps` is there when the operator runs blocks that call functions: the kernel as a
    generator that asks for them.
    """

    operator: Operator
    access: Access
    dead: tuple[int, ...]
    attrs: Mapping[str, Any]
    compute: Callable[..., Any]
    step: Step
    checked: bool
    steps: Callable[..., Any] | None = None
    handed: tuple[int, ...] = ()

    @property
    def reads(self) -> tuple[int, ...]:
        """The slots that it reads."""
        return self.access.reads

    @property
    def writes(self) -> tuple[int, ...]:
        """The slots that it writes."""
        return self.access.writes

    @cached_property
    def bare(self) -> Step:
        """`step` without the frees, for those who look at the results."""
        return make_step(self.compute, self.access, (), self.operator.op.multiple, handed=self.handed)

    def suspended(self, frame: Frame) -> Generator[Any, Any, None]:
        """Run the operator's `steps` on a frame, yielding what they ask for."""
        assert self.steps is not None
        _hand_over(frame, self.handed)
        outputs = yield from self.steps(*[frame[s] for s in self.reads])
        for slot, value in zip(self.writes, outputs):
            frame[slot] = value
        for slot in self.dead:
            frame[slot] = None

    @property
    def placed(self) -> str:
        """The instruction as text, with the user's line."""
        locs = self.operator.locs
        return f"{self}, at {locs[0].file}:{locs[0].line}" if locs else str(self)

    def __str__(self) -> str:
        read = ", ".join(f"s{slot}" for slot in self.reads)
        written = ", ".join(f"s{slot}" for slot in self.writes)
        where = "".join(f" into s{slot}" for slot in self.access.overwrites)
        return f"{written} = {self.operator.op.name}({read}){where}"


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


def pure_call(operator: Operator, attrs: Mapping[str, Any], xp: Any) -> Callable[..., Any]:
    """The kernel as a function of arrays alone."""
    op = operator.op
    if op.bound is not None:
        return op.bound(**attrs)
    plain = op.on_numpy if xp is np else _foreign(op, xp)
    if op.random:
        plain = _drawing(partial(op.kernel, xp))
    refs = {k: v for k, v in attrs.items() if may_hold(v, Ref) and any(refs_in(v))}
    if not refs:
        return partial(plain, **attrs) if attrs else plain
    fixed = {k: v for k, v in attrs.items() if k not in refs}
    count = len(operator.inputs) - operator.ref_count

    def call(*arrays: Any) -> Any:
        filled = {k: fill_refs(v, arrays) for k, v in refs.items()}
        return plain(*arrays[:count], **fixed, **filled)

    return call


def _foreign(op: OpDef, xp: Any) -> Callable[..., Any]:
    """The kernel for arrays of another library than NumPy; one that may be told where to write is told as there."""
    if not isinstance(op.on_numpy, np.ufunc):
        return partial(op.kernel, xp)
    same = getattr(xp, op.on_numpy.__name__, None)
    return same if same is not None else partial(_written, partial(op.kernel, xp))


def _written(kernel: Callable[..., Any], *arrays: Any, out: Any = None) -> Any:
    """What the kernel gives, in `out` if there is one."""
    made = kernel(*arrays)
    if out is None:
        return made
    out[...] = made
    return out


def _drawing(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A random kernel that draws from the generator current when it is called."""
    return lambda *arrays, **attrs: kernel(*arrays, key=default_generator(), **attrs)


def make_step(
    compute: Callable[..., Any],
    access: Access,
    dead: Sequence[int],
    multiple: bool,
    partners: Sequence[int] = (),
    handed: Sequence[int] = (),
) -> Step:
    """The closure that runs one operator on a frame; arities 1 and 2 are spelled out because they are most calls.

    partners: slots that must have the shape of what is overwritten, else nothing is; handed: those of lists that the
    kernel may empty.
    """
    reads, writes = access.reads, access.writes
    if multiple:
        many = _step_many(compute, reads, writes, dead)
        return _step_handing(many, handed) if handed else many
    if access.overwrites:
        return _step_inplace(compute, reads, access.overwrites[0], writes[0], dead, partners)
    if len(reads) == 1:
        return _step_unary(compute, reads[0], writes[0], dead)
    if len(reads) == 2:
        return _step_binary(compute, reads[0], reads[1], writes[0], dead)
    return _step_general(compute, reads, writes[0], dead)


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


def step_taking(
    run: Callable[[list[Any]], Sequence[Any]], access: Access, dead: Sequence[int], taken: Sequence[int]
) -> Step:
    """The closure that runs a group of operators on a list of arrays; those of the slots `taken` it may overwrite."""
    reads, writes = access.reads, access.writes

    def step(frame: Frame) -> None:
        arrays = [frame[s] for s in reads]
        for slot in taken:
            frame[slot] = None
        for slot, value in zip(writes, run(arrays)):
            frame[slot] = value
        for slot in dead:
            frame[slot] = None

    return step


def _step_handing(step: Step, handed: Sequence[int]) -> Step:
    def handing(frame: Frame) -> None:
        _hand_over(frame, handed)
        step(frame)

    return handing


def _hand_over(frame: Frame, slots: Sequence[int]) -> None:
    """Let the kernel empty those lists that the frame alone refers to."""
    for slot in slots:
        items = frame[slot]
        if getrefcount(items) == _ALONE and items.__class__ is list:
            frame[slot] = HandedList(items)


def _references_of_a_frame() -> int:
    """What getrefcount says of an array that a frame and one local variable hold, and nobody else."""
    frame: Frame = [object()]
    array = frame[0]
    return getrefcount(array)


_ALONE = _references_of_a_frame()


def alike(arrays: Sequence[Any]) -> bool:
    """Whether a result written into one of these arrays lies in memory as a new one would.

    Sums add in the order of memory, so their bits depend on it.
    """
    return all(a.ndim and a.flags.c_contiguous for a in arrays)


def _step_inplace(
    call: Callable[..., Any], reads: Sequence[int], target: int, out: int, dead: Sequence[int], partners: Sequence[int]
) -> Step:
    """Writes the result into the buffer of an input that dies here; not where someone else holds that buffer.

    The analysis says that nothing in the program needs the buffer. That a kernel gave out its own input, or an array
    that the caller knows, only the array itself can tell: by who refers to it.
    """

    def step(frame: Frame) -> None:
        array = frame[target]
        is_free = getrefcount(array) == _ALONE and array.__class__ is np.ndarray and array.base is None
        is_free = is_free and array.flags.writeable and all(frame[slot].shape == array.shape for slot in partners)
        if is_free and alike([frame[s] for s in reads]):
            frame[out] = call(*[frame[s] for s in reads], out=array)
        else:
            frame[out] = call(*[frame[s] for s in reads])
        for slot in dead:
            frame[slot] = None

    return step
