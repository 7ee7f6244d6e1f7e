"""The tape node of what a program gives out after its own backward freed the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from ..core.errors import StaleBackwardError
from ..eager.tape import Edge, Hook


class SpentNode:
    """Refuses another backward, as the freed nodes of the eager tape do."""

    name = "run_program"
    edges: Sequence[Edge | None] = ()
    outputs: Sequence[tuple[tuple[int, ...], Any]] = [((), None)]
    hooks: dict[int, list[Hook]] | None = None
    retained: dict[int, Any] | None = None

    def vjp(self, cotangents: list[Any], last: bool = False) -> NoReturn:
        """Raises StaleBackwardError."""
        raise StaleBackwardError(
            "run_program: backward ran through this part of the graph inside of the function and freed it",
            hint="call backward(retain_graph=True) inside",
        )

    def release(self) -> None:
        """Nothing is kept."""



