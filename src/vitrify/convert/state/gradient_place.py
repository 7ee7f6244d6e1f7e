"""The place of a tensor's `.grad`, which traced code writes as it writes attributes of objects."""

from __future__ import annotations

from typing import Any

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
        return self.owner._grad if isinstance(self.owner, Tensor) else self.owner.__dict__.get("_grad")

    def set(self, value: Any) -> None:
        """Hold `value`, in memory that is no part of another array."""
        if not isinstance(self.owner, Tensor):
            self.owner.__dict__["_grad"] = value
            return
        if isinstance(value, Tensor) and getattr(value._data, "base", None) is not None:
            value = wrap(value._data.copy())
        self.owner._grad = value

    def unset(self) -> None:
        """Hold None."""
        self.set(None)


def gradient_of(owner: Any) -> Any:
    """What `.grad` of a tensor holds now, in a trace or outside."""
    return GradientPlace(owner).get()
