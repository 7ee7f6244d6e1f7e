"""Texts that only a run knows as tensors: their characters, by number, so that loops can carry them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ...core.dtype import int32
from ...core.meta import UNKNOWN, Meta
from ...eager.host_ops import host_value_op
from ...ir.program import Variable
from .deferred import Call, Input, captured, parts, record
from .one_of import options_of, settled
from .text import GraphText, as_text
from .text_choice import TextSlot, is_text

CHARACTERS = Meta((UNKNOWN,), int32)
"""What is known of the characters of a text."""
MAX_TEXT = 60
"""So many parts has what two paths show of a text, at most; else branches give its characters."""


def are_texts(value: Any) -> bool:
    """Whether the value is a text on every path."""
    return all(map(is_text, options_of(settled(value)).values()))


def characters(text: Any) -> Variable:
    """The characters of a text, or of one of several, in the block being built."""
    (out,) = record(host_value_op, attrs={"meta": CHARACTERS}, call=Call("characters", (captured(as_text(text)),)))
    found: Variable = out
    return found


def text_of(held: Variable) -> GraphText:
    """The text of these characters."""
    return GraphText(Call("of_characters", (Input(held, False, True),)))


def text_size(text: Any) -> int:
    """How many parts the expression of a text has, as far as that matters."""
    return sum(1 for _ in islice(parts(text.node), MAX_TEXT + 1)) if isinstance(text, GraphText) else 1


@dataclass(frozen=True)
class CharactersSlot(TextSlot):
    """Stands for a text of which output `flag` of an `if` operator gives the characters."""

    texts: tuple[Any, Any] = field(default=("", ""))

    def filled(self, results: list[Variable]) -> GraphText:
        """The text of the output."""
        return text_of(results[self.flag])
