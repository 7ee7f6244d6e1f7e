"""What of the Python state that a function reads keeps changing: such numbers and sizes become inputs of its programs.

A counter (`self.step += 1`) or a cache that grows would ask for a new program at every call. The second value seen
makes a number a scalar input, the second size of a tensor an unknown one (D10, for state). Where a trace fails because
Python needs the value itself, it stays part of the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import count
from typing import Any

from ..convert.guards.contents import Members, members
from ..convert.guards.kinds import SETTABLE, AnyTensor, Exactly, Expected, Guards, Items, can_be_input, item_key
from ..core.meta import UNKNOWN, Shape
from ..eager.tensor import Tensor

Key = Any


class Variation:
    """The places of one function whose number or size is an input."""

    def __init__(self) -> None:
        self.numbers: set[Key] = set()
        self.shapes: dict[Key, Shape] = {}
        self._pinned: set[Key] = set()

    def learn(self, guards: Iterable[Guards]) -> None:
        """Take note of numbers and sizes that are not what programs were built for."""
        for program in guards:
            for guard in program.failing():
                self._compare(guard.key, guard.expected, guard.source.read(), guard.may_be_input)

    def _compare(self, key: Key, expected: Expected, value: Any, may_be_input: bool) -> None:
        if key in self._pinned:
            return
        if isinstance(expected, Exactly):
            if may_be_input and can_be_input(value) and type(value) is type(expected.value):
                self.numbers.add(key)
        elif isinstance(expected, AnyTensor):
            if isinstance(value, Tensor) and value.dtype is expected.meta.dtype:
                self._widen(key, expected.meta.shape, tuple(value.shape))
        elif isinstance(expected, (Items, Members)) and type(value) is expected.kind and not isinstance(value, Set):
            keys, held = members(value)
            may_be_input = isinstance(value, SETTABLE)
            for index, item, inner in zip(list(keys) or count(), expected.parts(), held):
                self._compare(item_key(key, index), item, inner, may_be_input)

    def _widen(self, key: Key, old: Shape, new: Shape) -> None:
        if old != new and len(old) == len(new):
            self.shapes[key] = tuple(a if a == b else UNKNOWN for a, b in zip(old, new))

    def pin(self) -> None:
        """Nothing that varied so far may: Python needs the values."""
        self._pinned |= {*self.numbers, *self.shapes}
        self.numbers.clear()
        self.shapes.clear()

    def __bool__(self) -> bool:
        return bool(self.numbers or self.shapes)
