"""Marks of a template whose place the path decides that a call takes: flags among the program's outputs tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..eager.host_expr import of_kind
from .handed import Handed, Met
from .marks import InputLeaf, OutputLeaf


@dataclass(frozen=True)
class StoppedLeaf:
    """Marks a leaf that has no gradient on some paths: program output `index`; `flag`, from -1 downwards, tells."""

    index: int
    flag: int

    def build(self, values: Sequence[Any]) -> Any:
        """The output, off the tape where the path taken left it there; a leaf where no gradient flows on from it."""
        return set_stopped(values[self.index], values[self.flag])


def set_stopped(tensor: Any, flag: Any) -> Any:
    """A result, off the tape where `flag`, one number, says so."""
    stops = bool(flag._data)
    if stops:
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

    def build(self, values: Sequence[Any], inputs: Sequence[Any], met: Met) -> Any:
        """The output, or that tensor."""
        found = self.handed.same(self.index, values, inputs, met)
        return self.stopped.build(values) if found is values[self.index] and self.stopped is not None else found


@dataclass(frozen=True)
class ForkLeaf:
    """Marks a leaf that is another tensor of the call on some paths: `places` are pairs of the flag that tells, counted
    from -1 downwards, and the mark of that one. On others it is program output `index`, as `other` says if that is
    given.
    """

    index: int
    places: tuple[tuple[int, Any], ...]
    other: StoppedLeaf | HandedLeaf | None = None

    def build(self, values: Sequence[Any], inputs: Sequence[Any], met: Met) -> Any:
        """That tensor, or the output."""
        mark = self.taken(values) or self.other
        return values[self.index] if mark is None else built(mark, values, inputs, met)

    def taken(self, values: Sequence[Any]) -> Any:
        """The mark of the tensor that it is on this path; None where it is none of them."""
        for flag, mark in self.places:
            if values[flag]._data:  # one number
                return mark
        return None

    def moved(self, start: int) -> ForkLeaf:
        """With captured inputs counted after `start` arguments."""
        return replace(self, places=tuple([(flag, moved(mark, start)) for flag, mark in self.places]))


def moved(mark: Any, start: int) -> Any:
    """A mark with captured inputs counted after `start` arguments."""
    return mark.moved(start) if isinstance(mark, (ForkLeaf, InputLeaf, KindLeaf)) else mark


def built(mark: Any, values: Sequence[Any], inputs: Sequence[Any], met: Met) -> Any:
    """The tensor that a mark stands for; `met` is what the call has made so far."""
    if mark.__class__ is InputLeaf:
        return inputs[mark.index]
    if mark.__class__ is OutputLeaf:
        return values[mark.index]
    return mark.build(values) if mark.__class__ is StoppedLeaf else mark.build(values, inputs, met)


@dataclass(frozen=True)
class KindLeaf:
    """Marks a leaf that is a tensor or a Python number: program output `index`; output `code` says of which class.

    handed: the tensors that it may be. fork: the inputs that it is on some paths, where it is one of those. stopped:
    says on which paths it has no gradient, where they differ.
    """

    index: int
    code: int
    handed: Handed
    fork: ForkLeaf | None = None
    stopped: StoppedLeaf | None = None

    def build(self, values: Sequence[Any], inputs: Sequence[Any], met: Met) -> Any:
        """The tensor, or the number that it stands for."""
        mark = None if self.fork is None else self.fork.taken(values)
        if mark is not None:
            return built(mark, values, inputs, met)
        found = self.handed.same(self.index, values, inputs, met)
        if found is values[self.index] and self.stopped is not None:
            self.stopped.build(values)
        return of_kind(values[self.code].item(), found)

    def moved(self, start: int) -> KindLeaf:
        """With captured inputs counted after `start` arguments."""
        return self if self.fork is None else replace(self, fork=self.fork.moved(start))
