"""A loop that hands a loss from one iteration to the next, in which backward goes on: its slopes are carried beside it.

The graph of a loss that an iteration computed is gone when the next one runs. So the gradients of what a backward may
come to are computed where the loss is, and are variables of the loop. What flows into the loss is one number, by which
they are multiplied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.errors import UnsupportedError
from ...ir.program import Variable, position
from ..values.base import builder, is_tensor
from .carried import CarriedState

Function = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Target:
    """What a backward may come to: a leaf, or what a variable of the loop is, by its number."""

    tensor: Any
    index: int = -1

    def among(self, values: Sequence[Any]) -> Any:
        """It, where the variables of the loop are `values`."""
        return self.tensor if self.index < 0 else values[self.index]


class SlopesNeeded(Exception):
    """A backward came to `head`, which the loop of whose body it is carries.

    `wanted`: the variables whose gradients are asked for; None where all leaves take what comes to them.
    """

    def __init__(
        self, reason: UnsupportedError, head: Variable, wanted: Sequence[Variable] | None, create_graph: bool
    ) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.head = head
        self.wanted = wanted
        self.create_graph = create_graph


@dataclass(frozen=True)
class Sloped:
    """A loop as it is traced once more: its test, body, variables and their names."""

    test: Function
    body: Function
    values: tuple[Any, ...]
    names: Sequence[str]


def with_slopes(
    need: SlopesNeeded, state: CarriedState, test: Function, body: Function, values: tuple[Any, ...],
    names: Sequence[str],
) -> Sloped:  # fmt: skip
    """The loop that carries what a backward in it needs. Raises UnsupportedError where it cannot."""
    training, n = builder().training, len(values)
    index = _variable_of(state, need.head)
    if index is None or not is_tensor(values[index]):
        raise need.reason
    targets = _targets(state, need)
    first = training.slopes(values[index], [(t, t.among(values)) for t in targets], need)
    known = list(first)

    def turn(*given: Any) -> tuple[Any, ...]:
        heads = given[:n]
        training.note_slopes(heads[index], [(t.among(heads), slope) for t, slope in zip(known, given[n:])])
        results = body(*heads)
        found = training.slopes(results[index], [(t, t.among(results)) for t in targets], need)
        if found.keys() != first.keys():
            raise need.reason  # an iteration that gives None where another gives a gradient
        return (*results, *[found[t] for t in known])

    more = [f"slope_{number}_of_{names[index]}" for number in range(len(known))]
    return Sloped(lambda *given: test(*given[:n]), turn, (*values, *first.values()), (*names, *more))


def _variable_of(state: CarriedState, head: Variable) -> int | None:
    """The number of the loop variable that is one tensor, which a formal input of the body carries; None for others."""
    at = position(head.block.inputs, head)
    for index, carried in enumerate(state.variables):
        if at == 0 and carried.width:
            leaves = getattr(carried, "leaves", ())
            is_one = [leaf.is_tensor for leaf in leaves] == [True]
            return index if is_one else None
        at -= carried.width
        if at < 0:
            return None
    return None


def _targets(state: CarriedState, need: SlopesNeeded) -> list[Target]:
    """What the backward may come to, as far as other iterations know it."""
    training = builder().training
    if need.wanted is None:
        return [Target(leaf) for leaf in training.leaves()]
    found: list[Target] = []
    for var in need.wanted:
        index = _variable_of(state, var) if var.block is need.head.block else -1
        if index is not None:
            found.append(Target(training.owner(var), index))
    return found
