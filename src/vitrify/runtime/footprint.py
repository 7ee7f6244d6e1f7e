"""How much memory a program needs at least: what is live at each instruction, in the order in which they run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .access import Access
from .costs import allocated, bytes_of
from .interpreter import InterpreterCore
from .liveness import Lives


@dataclass(frozen=True)
class Footprint:
    """Bytes of the buffers that are live while each instruction runs, without those that were there before.

    A buffer lives from the instruction that makes it to the last one that reads its values, through views as well; who
    asks for its shape alone does not count. What a kernel needs while it computes is not in it.
    """

    live: tuple[int, ...]

    @property
    def peak(self) -> int:
        """The most bytes at once."""
        return max(self.live, default=0)


@dataclass
class _Program:
    """Instructions of one or several programs over common slots, the first of them `inputs` that others hold.

    own: bytes that each slot's maker allocates.
    """

    inputs: int
    accesses: list[Access] = field(default_factory=list)
    own: dict[int, int] = field(default_factory=dict)
    kept: set[int] = field(default_factory=set)

    def append(self, core: InterpreterCore, given: Sequence[int], first: int) -> dict[int, int]:
        """Add a program whose inputs are the slots `given`, others from `first` on; its slots by their own numbers."""
        place = dict(enumerate(given))
        for instruction in core.instructions:
            access = instruction.access
            for slot in (*access.reads, *access.writes):
                place.setdefault(slot, first + len(place))
            takes_over = any(place[slot] >= self.inputs for slot in access.overwrites)
            for slot, size in zip(access.writes, allocated(instruction.operator)):
                self.own[place[slot]] = 0 if takes_over else size
            self.accesses.append(_moved(access, place))
        return place


def _moved(access: Access, place: dict[int, int]) -> Access:
    def of(slots: Sequence[int]) -> tuple[int, ...]:
        return tuple(place[slot] for slot in slots)

    return Access(
        of(access.reads), of(access.writes), of(access.views), of(access.overwrites),
        frozenset(of(tuple(access.shapes))), access.effects,
    )  # fmt: skip


def footprint(forward: InterpreterCore, backward: InterpreterCore | None = None, n_outputs: int = 0) -> Footprint:
    """The footprint of a program, or of one and its backward, which takes all outputs but the first `n_outputs`.

    Cotangents that the backward is given count as made when it starts. Sizes that are unknown count as 32.
    """
    program = _Program(len(forward.block.inputs))
    place = program.append(forward, range(program.inputs), 0)
    outputs = [place.setdefault(slot, len(place)) for slot in forward.outputs]
    program.kept.update(outputs if backward is None else outputs[:n_outputs])
    if backward is not None:
        residuals, first = outputs[n_outputs:], len(place)
        seeds = [first + i for i in range(len(backward.block.inputs) - len(residuals))]
        for slot, variable in zip(seeds, backward.block.inputs[len(residuals) :]):
            program.own[slot] = bytes_of(variable)
        program.accesses.append(Access((), tuple(seeds)))
        inner = program.append(backward, [*residuals, *seeds], first)
        program.kept.update(inner[slot] for slot in backward.outputs if slot in inner)
    return Footprint(Lives.of(program.accesses, program.own, program.kept, shapes_hold=False).live)
