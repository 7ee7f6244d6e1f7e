"""A Program's content as a cache key that is recomputed only after a change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.errors import DTypeError
from .changes import OPERATORS
from .content_hash import content_hash
from .program import Program


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A key that equal programs share, lines of the user's source included, and when it was computed.

    `lists` are the mutable lists among the attributes, which note no changes, with what they held.
    """

    key: str
    epoch: int
    operators: int
    lists: tuple[tuple[list[Any], list[Any]], ...]

    def describes(self, program: Program) -> bool:
        """Whether the program, of which it was taken, is unchanged since."""
        if self.epoch != program.epoch.value or self.operators != OPERATORS.value:
            return False
        return not self.lists or all(items == held for items, held in self.lists)


def fingerprint(program: Program) -> Fingerprint:
    """The fingerprint of `program` as it is now; a few nanoseconds while it does not change.

    A program that holds objects which no file can hold (functions of the host, for instance) equals itself only.
    """
    found: Fingerprint | None = program.fingerprint
    if found is None or not found.describes(program):
        found = program.fingerprint = _taken(program)
    return found


def _taken(program: Program) -> Fingerprint:
    epoch, operators = program.epoch.value, OPERATORS.value  # before reading: a change meanwhile makes it stale
    try:
        key = content_hash(program, locs=True)
    except DTypeError:
        key = f"program {program.uid} at {epoch}, {operators}"
    return Fingerprint(key, epoch, operators, tuple(_lists(program)))


def _lists(program: Program) -> list[tuple[list[Any], list[Any]]]:
    found = [
        value for block in program.blocks for op in block.ops for attr in op.attrs.values() for value in _lists_in(attr)
    ]
    return [(value, list(value)) for value in found]


def _lists_in(value: Any) -> list[list[Any]]:
    if isinstance(value, list):
        return [value, *[inner for item in value for inner in _lists_in(item)]]
    return [inner for item in value for inner in _lists_in(item)] if isinstance(value, tuple) else []
