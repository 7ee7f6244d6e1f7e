"""How much memory a program needs at least: what is live at each instruction, in the order in which they run."""

from __future__ import annotations

from dataclasses import dataclass

from .costs import allocated
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


def footprint(core: InterpreterCore) -> Footprint:
    """The footprint of a program. Sizes that are unknown count as 32."""
    inputs = len(core.block.inputs)
    own: dict[int, int] = {}  # bytes that each slot's maker allocates
    for instruction in core.instructions:
        takes_over = any(slot >= inputs for slot in instruction.access.overwrites)
        for slot, size in zip(instruction.access.writes, allocated(instruction.operator)):
            own[slot] = 0 if takes_over else size
    accesses = [instruction.access for instruction in core.instructions]
    return Footprint(Lives.of(accesses, own, frozenset(core.outputs), shapes_hold=False).live)
