"""The place of a tensor's `.grad`, which traced code writes as it writes attributes of objects."""

from __future__ import annotations

from typing import Any

from ...eager.gradients import Handle, held_grad, settle_computed
from ...eager.tensor import Tensor, wrap


class GradientPlace:
    """What `.grad` of a leaf holds: of an eager Tensor, or of a variable that a program makes a leaf of its own."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.key = (id(owner), "grad")

    def at(self, owner: Any) -> GradientPlace:
        """The gradient of another tensor."""
        return GradientPlace(owner)

    @property
    def label(self) -> str:
        """How messages call it."""
        return f"{self.owner.name}.grad"

    def get(self) -> Any:
        """The gradient, or None."""
        return held_grad(self.owner) if isinstance(self.owner, Tensor) else self.owner.__dict__.get("_grad")

    def set(self, value: Any) -> None:
        """Hold `value`, in memory that is no part of another array."""
        if not isinstance(self.owner, Tensor):
            self.owner.__dict__["_grad"] = value
            return
        self.owner._grad = in_own_memory(value)

    def settle(self, value: Any, handle: Handle) -> None:
        """Hold what a run has left; `handle` says what becomes of the tensor that was read as `.grad` before."""
        settle_computed(self.owner, in_own_memory(value), handle)

    def unset(self) -> None:
        """Hold None."""
        self.set(None)


def in_own_memory(value: Any) -> Any:
    """A gradient that is no part of another array; None as it is."""
    if isinstance(value, Tensor) and getattr(value._data, "base", None) is not None:
        return wrap(value._data.copy())
    return value


def gradient_of(owner: Any) -> Any:
    """What `.grad` of a tensor holds now, in a trace or outside."""
    return GradientPlace(owner).get()
