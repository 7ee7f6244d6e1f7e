"""Calls of functions, what these keep for gradients, and values that may be missing: an assembler with such methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.program import Block
from .assembler import Assembler
from .calls import call
from .kept import packed_frame, unpacked_frame
from .missing import Build, added, chosen, filled, is_given, zeros_like
from .operands import Operand


class CallingAssembler(Assembler):
    """An assembler with these steps. Raises NoNativeForm."""

    def choose(self, pred: Operand, then: Build, orelse: Build) -> tuple[Any, ...]:
        """What one of two gives that add steps."""
        return chosen(self, pred, then, orelse)

    def is_given(self, values: Sequence[Any]) -> Operand:
        """Whether one of these values is there."""
        return is_given(self, values)

    def added(self, x: Any, y: Any) -> Any:
        """x + y, where what is missing adds nothing."""
        return added(self, x, y)

    def filled(self, x: Any, like: Operand) -> Operand:
        """x, or zeros like another array where it is missing."""
        return filled(self, x, like)

    def zeros_like(self, x: Any) -> Any:
        """Zeros like x, missing where it is missing."""
        return zeros_like(self, x)

    def pack(self, values: Sequence[Any]) -> Operand:
        """A frame that holds these values."""
        return packed_frame(self, values)

    def unpack(self, frame: Any, metas: Sequence[Any]) -> tuple[Any, ...]:
        """What a frame holds."""
        return unpacked_frame(self, frame, metas)

    def call(self, function: Block, values: Sequence[Any]) -> tuple[Any, ...]:
        """What a function of the program gives, which may call itself."""
        return call(self, function, values)
