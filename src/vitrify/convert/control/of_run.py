"""Texts and arrays that only a run knows, of two paths: as one that goes by an output of the `if` operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...ir.program import Block, Variable
from ..values.base import builder
from ..values.carried_text import MAX_TEXT, CharactersSlot, characters, text_size
from ..values.deferred import Deferred, Joinable
from ..values.emit import placeholder_for
from ..values.text_choice import TextSlot, chosen

Add = Callable[[Any, Any], int]
"""Makes an output of the `if` operator from what is there at the end of each branch; its index."""


def text_of_paths(a: Any, b: Any, then: Block, orelse: Block, add: Add) -> TextSlot:
    """The text of the path taken; where the two show much, by its characters.

    A text to which many branches add would otherwise be shown twice by what each of them gives.
    """
    if text_size(a) + text_size(b) <= MAX_TEXT:
        return chosen(a, b, add, placeholder_for)
    with builder().resume(then):
        first = characters(a)
    with builder().resume(orelse):
        second = characters(b)
    return CharactersSlot(add((first, first.dtype), (second, second.dtype)))


@dataclass(frozen=True)
class DeferredSlot(TextSlot):
    """Stands for what a run computes on either path until the outputs of the `if` operator exist."""

    one: Joinable

    def filled(self, results: list[Variable]) -> Any:
        """The value over the operator's output."""
        return self.one.joined(self.texts, results[self.flag])


def value_of_paths(a: Any, b: Any, then: Block, orelse: Block, add: Add) -> DeferredSlot | None:
    """What a run computes on one path or both, as a tensor of the path taken; None where no tensor can stand for it."""
    deferred = [value for value in (a, b) if isinstance(value, Deferred)]
    joinable = [v for v in deferred if isinstance(v, Joinable) and v.can_join(b if v is a else a)]
    if not deferred or len(joinable) < len(deferred):
        return None
    one = joinable[0]
    with builder().resume(then):
        first = one.held_of(a)
    with builder().resume(orelse):
        second = one.held_of(b)
    return DeferredSlot(add((first, first.dtype), (second, second.dtype)), (a, b), one)
