"""Marks of a template: where a call puts its own tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class InputLeaf:
    """Marks a leaf that is an input itself: argument tensor or captured tensor number `index`."""

    index: int

    def moved(self, start: int) -> InputLeaf:
        """With captured inputs, counted from -1 downwards, counted after `start` arguments."""
        return self if self.index >= 0 else InputLeaf(start - 1 - self.index)


@dataclass(frozen=True)
class OutputLeaf:
    """Marks a leaf that is program output number `index`, and what it is in eager code."""

    index: int
    form: str = "tensor"


FORMS: dict[str, Callable[[Any], Any]] = {
    "tensor": lambda tensor: tensor,
    "number": lambda tensor: tensor.item(),
    "array": lambda tensor: tensor.numpy(),
    "scalar": lambda tensor: tensor.numpy()[()],
    "list": lambda tensor: tensor.tolist(),
}
