"""What an array of the program holds, as a place: branches merge it and loops carry it like a variable."""

from __future__ import annotations

from typing import Any

from ...ir.program import Variable


class ArrayPlace:
    """All that an array of the program (`HostValue`) holds, as the tensor that stands for it."""

    label = "an array"

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.key = (id(owner), "array")

    def get(self) -> Variable:
        """The tensor that it is now."""
        held: Variable = self.owner.held()
        return held

    def set(self, value: Variable) -> None:
        """Be what a tensor holds."""
        self.owner.hold(value)

    def unset(self) -> None:
        """An array holds something always."""
