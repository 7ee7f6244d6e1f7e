"""The tape nodes of outputs from which no backward goes on: it may not pass, or ends there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from ..core.errors import StaleBackwardError
from ..eager.tape import Edge, Hook
from ..eager.tensor import Tensor


def freed() -> StaleBackwardError:
    """The error of a backward through what the program's own backward freed."""
    return StaleBackwardError(
        "run_program: backward ran through this part of the graph inside of the function and freed it",
        hint="call backward(retain_graph=True) inside",
    )


@dataclass(eq=False)
class SpentNode:
    """Refuses a backward, as nodes of the eager tape do that are freed, or whose tensors were changed in place."""

    error: StaleBackwardError

    edges: Sequence[Edge | None] = ()

    name = "run_program"
    outputs: Sequence[tuple[tuple[int, ...], Any]] = (((), None),)
    hooks: dict[int, list[Hook]] | None = None
    retained: dict[int, Any] | None = None

    def vjp(self, cotangents: list[Any], last: bool = False) -> NoReturn:
        """Raises StaleBackwardError."""
        raise StaleBackwardError(self.error.message, loc=self.error.loc, hint=self.error.hint)

    def release(self) -> None:
        """Nothing is kept."""


@dataclass(eq=False)
class PartlySpentNode:
    """Hands a gradient on to the node of a program, and to one that refuses it where something behind that wants it."""

    edges: Sequence[Edge | None]
    outputs: Sequence[tuple[tuple[int, ...], Any]]

    name = "run_program"
    hooks: dict[int, list[Hook]] | None = None
    retained: dict[int, Any] | None = None

    @classmethod
    def before(cls, tensor: Tensor, refusing: SpentNode) -> PartlySpentNode:
        """The node of a tensor that has that of a program."""
        edges = (refusing, 0, None), (tensor._node, tensor._index, None)
        return cls(edges, ((tensor._data.shape, tensor._data.dtype),))

    def vjp(self, cotangents: list[Any], last: bool = False) -> Sequence[Any]:
        """The gradient as it is, for both."""
        return cotangents[0], cotangents[0]

    def release(self) -> None:
        """Nothing is kept."""


@dataclass(eq=False)
class EndNode:
    """Ends a backward: what it came from is a leaf that the program made, and which stayed inside."""

    outputs: Sequence[tuple[tuple[int, ...], Any]]

    name = "run_program"
    edges: Sequence[Edge | None] = ()
    hooks: dict[int, list[Hook]] | None = None
    retained: dict[int, Any] | None = None

    @classmethod
    def behind(cls, tensor: Tensor) -> EndNode:
        """The node of a tensor."""
        return cls(((tensor._data.shape, tensor._data.dtype),))

    def vjp(self, cotangents: list[Any], last: bool = False) -> Sequence[Any]:
        """Nothing: there are no edges."""
        return ()

    def release(self) -> None:
        """Nothing is kept."""
