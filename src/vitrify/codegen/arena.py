"""Where the arrays of a run lie in its arena: offsets by how long each lives."""

from __future__ import annotations

from collections.abc import Sequence

ALIGNMENT = 64
Life = tuple[int, int, int]


def padded(size: int) -> int:
    """The size with what it takes to begin the next array aligned."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def placed(lives: Sequence[Life]) -> tuple[list[int], int]:
    """An offset for each (first step, last step, bytes), and the bytes of all together.

    Arrays that live at the same time do not overlap. The largest are placed first, each into the smallest gap that
    holds it between those placed already.
    """
    offsets = [0] * len(lives)
    order = sorted(range(len(lives)), key=lambda i: (-lives[i][2], lives[i][0]))
    done: list[tuple[int, int, int, int]] = []  # offset, end, first, last; sorted
    total = 0
    for i in order:
        first, last, size = lives[i]
        size = max(padded(size), ALIGNMENT)
        offset = _best_gap([(o, e) for o, e, f, t in done if f <= last and first <= t], size)
        offsets[i] = offset
        done.append((offset, offset + size, first, last))
        done.sort()
        total = max(total, offset + size)
    return offsets, total


def _best_gap(taken: Sequence[tuple[int, int]], size: int) -> int:
    """The beginning of the smallest gap of at least this size between ranges sorted by their beginning."""
    best, best_size, end = -1, 0, 0
    for first, last in taken:
        gap = first - end
        if gap >= size and (best < 0 or gap < best_size):
            best, best_size = end, gap
        end = max(end, last)
    return end if best < 0 else best
