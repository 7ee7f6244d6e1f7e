"""What was done to a set, as numbers and keys: done again, Python itself says what is in it, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

ADD, DISCARD, POP, COPY, PUSH = range(5)
"""What concerns one set: PUSH begins another, which is an operand of what comes when it is done."""
UPDATE, AND_UPDATE, SUB_UPDATE, XOR_UPDATE, OR, AND, SUB, XOR = range(5, 13)
"""What takes the set begun last as the operand of the one before."""
_METHODS: dict[int, Any] = {
    UPDATE: set.update,
    AND_UPDATE: set.intersection_update,
    SUB_UPDATE: set.difference_update,
    XOR_UPDATE: set.symmetric_difference_update,
    OR: set.union,
    AND: set.intersection,
    SUB: set.difference,
    XOR: set.symmetric_difference,
}


def replayed(codes: Iterable[int], keys: Sequence[Any]) -> set[Any]:
    """The set to which this was done; ADD and DISCARD use up one key each."""
    return _replay(codes, keys)[-1]


def first_popped(codes: Iterable[int], keys: Sequence[Any]) -> Any:
    """What `pop()` gives behind all this."""
    return _replay(codes, keys)[-1].pop()


def _replay(codes: Iterable[int], keys: Sequence[Any]) -> list[set[Any]]:
    made: list[set[Any]] = [set()]
    rest = iter(keys)
    for code in codes:
        if code == ADD:
            made[-1].add(next(rest))
        elif code == DISCARD:
            made[-1].discard(next(rest))
        elif code == POP:
            made[-1].pop()
        elif code == COPY:
            made[-1] = made[-1].copy()
        elif code == PUSH:
            made.append(set())
        else:
            other = made.pop()
            found = _METHODS[code](made[-1], other)
            if found is not None:
                made[-1] = found
    return made
