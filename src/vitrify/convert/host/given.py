"""Arrays of NumPy's that a call is given: in a program what they hold is an input, and they stay what they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.modes import grad_enabled, scoped
from ...ir.program import Variable
from ...ops.like import assign_op
from ..state.journal import Journal
from ..values.base import builder
from .changes import share_memory
from .value import HostValue, array_of


class GivenArray(HostValue):
    """An array among the arguments of a call."""

    first: Any
    """The expression for what it holds when the call begins."""
    given: Variable
    """The input of the program that holds a copy of it."""

    def __init__(self, given: Variable, array: HostValue) -> None:
        super().__init__(array.node, array.samples)
        object.__setattr__(self, "first", array.node)
        object.__setattr__(self, "given", given)

    def can_join(self, other: Any) -> bool:
        """No copy may stand for the caller's own array, which whoever gets it back gets."""
        return False

    def made_in(self, journal: Journal) -> None:
        """Take note of the journal of the whole trace, in which it can be changed."""
        object.__setattr__(self, "journal", journal)

    def become(self, node: Any, samples: tuple[Any, ...]) -> None:
        """Hold from now on what the expression gives: the call's array does once the program has run."""
        super().become(node, samples)
        builder().leaves_undone = True

    @property
    def is_changed(self) -> bool:
        """Whether the function has written to it."""
        return self.node is not self.first

    def tensor(self, in_full: bool = False) -> Variable:
        """What it holds, as a tensor of the program."""
        if self.is_changed:
            return super().tensor(in_full)
        with scoped(grad_enabled, False):
            made: Variable = assign_op(builder().value(self.given))
        return made


def given_array(var: Variable) -> GivenArray:
    """The array that an input of the program holds."""
    return GivenArray(var, array_of(var))


def refuse_view(value: HostValue, arrays: Iterable[GivenArray]) -> None:
    """Raise UnsupportedError for a value that may lie in the memory of one of these arrays.

    Not where the function is to be whole: that gives a copy.
    """
    if not builder().is_whole and any(share_memory(value.samples, array.samples) for array in arrays):
        raise value.refused("a view of an array that the call is given, which leaves the function")
