"""Python numbers among the arguments of a part of a function: those that change become inputs of its programs.

A loop's index, a counter or a logged loss is another number in each call. The second value seen makes it an input, as
for numbers of the Python state (`variation.py`). Where Python needs the value itself, it stays part of the key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..convert.guards.kinds import can_be_input
from ..core.pytree import LEAF, TreeDef
from ..eager.tensor import Tensor, wrap

DTYPES = {int: np.dtype("int64"), float: np.dtype("float64")}


class NumberTensor(Tensor):
    """What an argument that is a number is given to a program as."""

    __slots__ = ()


def _fed(value: Any) -> Tensor:
    tensor = wrap(np.asarray(value, DTYPES[value.__class__]))
    tensor.__class__ = NumberTensor
    return tensor


class NumberInputs:
    """Which arguments, by structure and position, are inputs although they are numbers."""

    def __init__(self) -> None:
        self._inputs: dict[TreeDef, dict[int, type]] = {}
        self._seen: dict[TreeDef, dict[tuple[int, type], Any]] = {}
        self._pinned: set[tuple[TreeDef, int, type]] = set()

    def __bool__(self) -> bool:
        return bool(self._inputs)

    def feed(self, tree: TreeDef, leaves: list[Any]) -> tuple[int, ...]:
        """Put tensors in the place of numbers that are inputs; returns where."""
        fed = []
        for index, kind in self._inputs.get(tree, {}).items():
            value = leaves[index]
            if value.__class__ is kind and can_be_input(value):
                leaves[index] = _fed(value)
                fed.append(index)
        return tuple(fed)

    def learn(self, tree: TreeDef, leaves: Sequence[Any]) -> bool:
        """Take note of the numbers of a call; says whether one more became an input."""
        if any(part is not LEAF for part in tree):
            return False
        seen = self._seen.setdefault(tree, {})
        found = False
        for index, value in enumerate(leaves):
            kind = value.__class__
            if kind not in DTYPES or (tree, index, kind) in self._pinned:
                continue
            before = seen.setdefault((index, kind), value)
            if before is not value and before != value:
                self._inputs.setdefault(tree, {})[index] = kind
                found = True
        return found

    def pin(self, tree: TreeDef) -> bool:
        """Let some numbers, ints first, be part of the key again; says whether there were any."""
        return self._pin(tree, int) or self._pin(tree, float)

    def _pin(self, tree: TreeDef, kind: type) -> bool:
        inputs = self._inputs.get(tree, {})
        pinned = [index for index, found in inputs.items() if found is kind]
        for index in pinned:
            del inputs[index]
            self._pinned.add((tree, index, kind))
        if not inputs:
            self._inputs.pop(tree, None)
        return bool(pinned)
