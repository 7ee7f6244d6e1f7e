"""Calls of functions, what these keep for gradients, lists, and what may be missing: an assembler with such methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.program import Block
from .assembler import Assembler
from .calls import call
from .kept import packed_frame, unpacked_frame
from .lists import appended, item_of, kind_of, length_of, new_list, shortened
from .missing import Build, added, chosen, filled, if_run, is_given, zeros_like
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

    def if_run(self, x: Any, steps: Operand) -> Any:
        """x, missing where a loop made no step."""
        return if_run(self, x, steps)

    def list_of(self, items: Sequence[Any]) -> Operand:
        """A list of these."""
        return new_list(self, tuple(items))

    def list_length(self, x: Any) -> Operand:
        """How many items a list has."""
        return length_of(x)

    def list_appended(self, x: Any, item: Any) -> Operand:
        """A list with one more item."""
        return appended(self, x, item)

    def list_item(self, x: Any, index: Any, like: Operand | None = None) -> Operand:
        """An item of a list; if it is like an array that is given, it may be None."""
        if like is not None:
            return item_of(self, x, index, (like.shape, like.dtype), may_miss=True)
        return item_of(self, x, index, kind_of(x, self.operator.outputs[0].meta))

    def list_shortened(self, x: Any) -> Operand:
        """A list without its last item."""
        return shortened(self, x)

    def pack(self, values: Sequence[Any]) -> Operand:
        """A frame that holds these values."""
        return packed_frame(self, values)

    def unpack(self, frame: Any, metas: Sequence[Any]) -> tuple[Any, ...]:
        """What a frame holds."""
        return unpacked_frame(self, frame, metas)

    def call(self, function: Block, values: Sequence[Any]) -> tuple[Any, ...]:
        """What a function of the program gives, which may call itself."""
        return call(self, function, values)
