"""Marks of a template whose place the path decides that a call takes: flags among the program's outputs tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..eager.host_expr import of_kind
from .handed import Handed


@dataclass(frozen=True)
class KindLeaf:
    """Marks a leaf that is a tensor or a Python number: program output `index`; output `code` says of which class.

    handed: the tensors that it may be.
    """

    index: int
    code: int
    handed: Handed

    def build(self, values: Sequence[Any], inputs: Sequence[Any]) -> Any:
        """The tensor, or the number that it stands for."""
        return of_kind(values[self.code].item(), self.handed.same(values[self.index], values, inputs))


@dataclass(frozen=True)
class StoppedLeaf:
    """Marks a leaf that has no gradient on some paths: program output `index`; `flag`, from -1 downwards, tells."""

    index: int
    flag: int

    def build(self, values: Sequence[Any]) -> Any:
        """The output, off the tape where the path taken left it there; a leaf where no gradient flows on from it."""
        tensor = values[self.index]
        stops = bool(values[self.flag]._data)  # one number
        if stops and not tensor.stop_gradient:
            tensor._node = None
        tensor.stop_gradient = stops
        return tensor


@dataclass(frozen=True)
class HandedLeaf:
    """Marks a leaf that was read from a list: program output `index`, as `stopped` says if that is given, or the tensor
    that was put into the list.
    """

    index: int
    handed: Handed
    stopped: StoppedLeaf | None = None

    def build(self, values: Sequence[Any], inputs: Sequence[Any]) -> Any:
        """The output, or that tensor."""
        tensor = values[self.index]
        found = self.handed.same(tensor, values, inputs)
        return self.stopped.build(values) if found is tensor and self.stopped is not None else found


@dataclass(frozen=True)
class ForkLeaf:
    """Marks a leaf that is an input itself on some paths: `places` are pairs of the flag that tells, counted from -1
    downwards, and the number of the input. On others it is program output `index`, as `stopped` says if that is given.
    """

    index: int
    places: tuple[tuple[int, int], ...]
    stopped: StoppedLeaf | None = None

    def build(self, values: Sequence[Any], inputs: Sequence[Any]) -> Any:
        """The input, or the output."""
        for flag, place in self.places:
            if values[flag]._data:  # one number
                return inputs[place]
        return values[self.index] if self.stopped is None else self.stopped.build(values)

    def moved(self, start: int) -> ForkLeaf:
        """With captured inputs counted after `start` arguments."""
        return replace(self, places=tuple((flag, p if p >= 0 else start - 1 - p) for flag, p in self.places))
