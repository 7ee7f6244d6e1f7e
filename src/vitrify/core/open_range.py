"""`OpenRange`: a range of which only a run of the program knows the bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar


class OpenRange(ABC):
    """A range with a bound or step that is known only when a program runs. Built for a call it is Python's own."""

    kind: ClassVar[type] = range
    start: Any
    stop: Any
    step: Any

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start, self.stop, self.step = start, stop, step

    def bounds(self) -> list[Any]:
        """What `range` is given."""
        return [self.start, self.stop, self.step]

    @abstractmethod
    def size(self) -> Any:
        """How many numbers there are, as a number of the program."""
