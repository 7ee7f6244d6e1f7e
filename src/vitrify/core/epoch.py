"""A counter that tells cached decisions when something they were based on has changed."""

from __future__ import annotations

import itertools

_NUMBERS = itertools.count(1)


class Epoch:
    """A number that changes with every change; compare it with the one seen last.

    Numbers are drawn from one counter, which is atomic: two threads that bump at once cannot leave a value that one of
    them has seen before.
    """

    __slots__ = ("value",)

    def __init__(self, value: int = 0) -> None:
        self.value = value

    def bump(self) -> None:
        """Note a change."""
        self.value = next(_NUMBERS)


# Bumped whenever a Layer's training flag, parameters, buffers or sublayers change.
LAYER_MODES = Epoch()

# Bumped whenever a tensor that a program captured gets another shape or dtype, in place.
CAPTURED_KINDS = Epoch()
IS_CAPTURED = "_is_captured"
"""The attribute of tensors that a program captured."""

# Bumped whenever a plain attribute of a Layer is set or deleted.
LAYER_ATTRIBUTES = Epoch()
