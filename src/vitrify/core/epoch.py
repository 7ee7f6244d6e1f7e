"""A counter that tells cached decisions when something they were based on has changed."""

from __future__ import annotations


class Epoch:
    """A number that grows with every change; compare it with the one seen last."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0

    def bump(self) -> None:
        """Note a change."""
        self.value += 1


# Bumped whenever a Layer's training flag, parameters, buffers or sublayers change.
LAYER_MODES = Epoch()

# Bumped whenever a plain attribute of a Layer is set or deleted.
LAYER_ATTRIBUTES = Epoch()
