"""Large steps of a plan cut into parts, which members of a team run side by side (`team.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .elements import in_memory_order, over
from .operands import Edge, Operand, Step
from .team import Team

if TYPE_CHECKING:
    from .assembler import Assembler

# Bytes of operands from which on an elementwise step takes several times as long as waking the others does.
_LARGE = 1 << 19
# Parts begin at multiples of so many elements, so that no two threads write to one line of the cache.
_GRAIN = 64
SHARED = "shared"
"""The step whose blocks run side by side."""
Work = Callable[[], object]


def bounds(count: int, parts: int, grain: int = 1) -> list[tuple[int, int]]:
    """`count` things in at most so many parts, nearly alike, that begin at multiples of `grain`."""
    grains = -(-count // grain)
    parts = max(min(parts, grains), 1)
    ends = [min(grains * i // parts * grain, count) for i in range(parts + 1)]
    return list(zip(ends, ends[1:]))


def shared(n: Assembler, team: Team | None, parts: Sequence[Work]) -> None:
    """What each of these adds as steps, side by side. They may write to different places only."""
    if team is None or len(parts) < 2:
        for part in parts:
            part()
        return
    outer, blocks = n.steps, list[list[Step]]()
    try:
        for part in parts:
            n.steps = []
            part()
            blocks.append(n.steps)
    finally:
        n.steps = outer
    edges = [Edge(block, is_end) for block in range(len(blocks)) for is_end in (False, True)]
    n.add(SHARED, [team.share, team.address, len(blocks), *edges], tuple(blocks))


def in_parts(n: Assembler, count: int, is_large: bool, part: Callable[[int, int], object], grain: int = 1) -> None:
    """What `part` adds for all of so many things, from one to another; where it is large for some on each thread."""
    team = n.team if is_large else None
    if team is None:
        part(0, count)
        return
    shared(n, team, [lambda own=own: part(*own) for own in bounds(count, team.size, grain)])  # type: ignore[misc]


def over_elements(
    n: Assembler, loop: Any, data: Any, operands: Sequence[Operand], shape: Sequence[int], keep_last: bool = False
) -> None:
    """An inner loop over all elements of operands that broadcast to a shape, by several threads where it is large.

    keep_last: the last dimension is one call's, as it stands.
    """
    shape = tuple(shape)
    if not keep_last:
        operands, shape = in_memory_order(operands, shape)
    team = n.team
    axes = range(len(shape) - (1 if keep_last else 0))
    size = sum(x.size * x.dtype.itemsize for x in operands)
    axis = None
    if team is not None and size >= _LARGE:
        axis = next((a for a in axes if shape[a] >= 2 * team.size), None)
    if axis is None or team is None:
        _add(n, over(loop, data, operands, shape, keep_last))
        return
    grain = _GRAIN if axis == len(shape) - 1 else 1
    parts = bounds(shape[axis], team.size, grain)

    def part(start: int, stop: int) -> None:
        ours = [_part(x, axis - len(shape), start, stop) for x in operands]
        _add(n, over(loop, data, ours, (*shape[:axis], stop - start, *shape[axis + 1 :]), keep_last))

    shared(n, team, [lambda ends=ends: part(*ends) for ends in parts])  # type: ignore[misc]


def _add(n: Assembler, words: list[Any] | None) -> None:
    if words is not None:
        n.add("over_elements", words)


def _part(x: Operand, axis: int, start: int, stop: int) -> Operand:
    """What x has of a part of a dimension, counted from the end: all of it where it is repeated."""
    if x.ndim < -axis or x.shape[axis] == 1:
        return x
    shape = [*x.shape]
    shape[axis] = stop - start
    return replace(x, offset=x.offset + start * x.strides[axis], shape=tuple(shape))


__all__ = ["SHARED", "bounds", "in_parts", "over_elements", "shared"]
