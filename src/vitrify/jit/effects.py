"""What a function does to Python objects: found by one trace, done again each time its program runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..convert.state.gradient_place import GradientPlace, in_own_memory
from ..convert.state.places import ContentPlace
from ..core.pytree import LEAF
from ..eager.gradients import Handle, settle_computed
from ..eager.tensor import Tensor
from .arguments import Arguments, Holder
from .handed import by_array
from .marks import OutputLeaf
from .path_leaves import built, moved
from .template import Template

Shared = dict[int, Any]


@dataclass(frozen=True)
class Store:
    """A place takes a value. `flag`, where there is one, says whether the path taken set it at all.

    `is_kept`: it stays as it is if not. `holder` finds the container whose place it is in each call; `tensor` marks the
    tensor whose attribute it is. `handle`: what becomes of the tensor that was a gradient before.
    """

    place: Any
    value: Template | None
    flag: OutputLeaf | None = None
    is_kept: bool = False
    holder: Holder | None = None
    tensor: Any = None
    handle: Handle = Handle.LEFT

    def __str__(self) -> str:
        return f"{self.place.label} is set"

    @property
    def needs_arguments(self) -> bool:
        """Whether it takes the arguments of the call to do it."""
        return _is_given(self.holder) or (self.value is not None and self.value.needs_arguments)

    def moved(self, start: int) -> Store:
        """The effect with captured inputs counted after `start` arguments."""
        value = None if self.value is None else self.value.moved(start)
        return replace(self, value=value, tensor=moved(self.tensor, start))

    def ready(
        self, values: Sequence[Any], inputs: Sequence[Any], arguments: Arguments, shared: Shared
    ) -> Callable[[], None]:
        """What does it for one call, whatever other effects change meanwhile."""
        place = self.place if self.holder is None else self.place.at(self.holder.find(arguments))
        if self.tensor is not None:
            place = place.at(built(self.tensor, values, inputs, shared))
        if self.value is None or (self.flag is not None and not values[self.flag.index]._data):
            return _nothing if self.is_kept else place.unset
        value = self.value.build(values, inputs, arguments, shared)
        if isinstance(place, ContentPlace) and type(value) in (list, dict):
            value = _handed_through(value, [*_parts(place.get()), *inputs])
        is_given = any(value is tensor for tensor in inputs)
        return partial(_put, place, value, self.handle, is_given)


Gradients = Sequence[tuple[Tensor, int, Handle]]
"""Leaves, the outputs of a program that are their gradients (-1 for None), and what becomes of those they had."""


def gradients_alone(effects: Sequence[Effect]) -> Gradients | None:
    """What effects put into `.grad` of eager leaves; None where they do anything else."""
    found: list[tuple[Tensor, int, Handle]] = []
    for effect in effects:
        if not isinstance(effect, Store) or effect.flag is not None or effect.holder is not None:
            return None
        place, value = effect.place, effect.value
        if type(place) is not GradientPlace or not isinstance(place.owner, Tensor) or value is None:
            return None
        if value.tree is not LEAF or (value.leaves[0] is not None and not _is_tensor(value.leaves[0])):
            return None
        found.append((place.owner, -1 if value.leaves[0] is None else value.leaves[0].index, effect.handle))
    return found


def _is_tensor(leaf: Any) -> bool:
    return type(leaf) is OutputLeaf and leaf.form == "tensor"


def set_gradients(gradients: Gradients, results: Sequence[Any]) -> None:
    """Do what `gradients_alone` found, as the effects would."""
    for leaf, index, handle in gradients:
        settle_computed(leaf, None if index < 0 else in_own_memory(results[index]), handle)


def _nothing() -> None:
    """Leave a place as it is."""


def _put(place: Any, value: Any, handle: Handle, is_given: bool) -> None:
    """Let a place take a value; is_given: which is a tensor of the call, known as such."""
    if isinstance(place, GradientPlace):
        place.settle(value, handle)
    elif is_given or isinstance(place, ContentPlace) or not _is_content_of(place.get(), value):
        place.set(value)


def _parts(held: Any) -> Iterable[Any]:
    return held.values() if isinstance(held, dict) else held


def changes_content(effect: Effect) -> bool:
    """Whether it changes what a list or dict holds, in which tensors that were handed through are known by arrays."""
    return isinstance(effect, Store) and isinstance(effect.place, ContentPlace)


def _handed_through(value: Any, known: Iterable[Any]) -> Any:
    """A list or dict with those of the tensors `known` that the program only handed through as the objects they are."""
    held = {id(item): item for item in known if isinstance(item, Tensor)}
    tensors = by_array(held.values())
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    found = {key: tensors.get(id(item._data), item) if isinstance(item, Tensor) else item for key, item in entries}
    return found if isinstance(value, dict) else [*found.values()]


def _is_content_of(held: Any, value: Any) -> bool:
    """Whether a program handed a tensor through: on the path taken nobody set the place, so its object stays."""
    return isinstance(held, Tensor) and isinstance(value, Tensor) and held._data is value._data


def _is_given(holder: Holder | None) -> bool:
    return holder is not None and holder.is_given


@dataclass(frozen=True)
class Call:
    """A method changes a container that the program does not read."""

    owner: Any
    method: str
    args: Template
    holder: Holder | None = None

    def __str__(self) -> str:
        return f"{type(self.owner).__name__}.{self.method}() is called"

    @property
    def needs_arguments(self) -> bool:
        """Whether it takes the arguments of the call to do it."""
        return _is_given(self.holder) or self.args.needs_arguments

    def moved(self, start: int) -> Call:
        """The effect with captured inputs counted after `start` arguments."""
        return replace(self, args=self.args.moved(start))

    def ready(
        self, values: Sequence[Any], inputs: Sequence[Any], arguments: Arguments, shared: Shared
    ) -> Callable[[], None]:
        """What does it for one call, whatever other effects change meanwhile."""
        args, kwargs = self.args.build(values, inputs, arguments, shared)
        owner = self.owner if self.holder is None else self.holder.find(arguments)
        return partial(getattr(owner, self.method), *args, **kwargs)


@dataclass(frozen=True)
class FlagWrite:
    """The `stop_gradient` of a captured tensor is what it is at the end, whatever it was in between."""

    input: int
    stop: bool

    needs_arguments = False

    def __str__(self) -> str:
        return "stop_gradient is set"

    def moved(self, start: int) -> FlagWrite:
        """The effect with captured inputs counted after `start` arguments."""
        return replace(self, input=self.input + start)

    def ready(
        self, values: Sequence[Any], inputs: Sequence[Any], arguments: Arguments, shared: Shared
    ) -> Callable[[], None]:
        """What does it for one call, whatever other effects change meanwhile."""
        return partial(setattr, inputs[self.input], "stop_gradient", self.stop)


@dataclass(frozen=True)
class ArrayWrite:
    """An array of NumPy's among the arguments takes what an output of the program holds.

    others: where the other arrays are of which the program holds a copy.
    """

    holder: Holder
    value: OutputLeaf
    others: Sequence[Holder] = ()

    needs_arguments = True

    def __str__(self) -> str:
        return "an array of the caller is changed"

    def moved(self, start: int) -> ArrayWrite:
        """The effect as it is: it is about no captured input."""
        return self

    def fits(self, arguments: Arguments) -> bool:
        """Whether the call's array can be written to, and no other array of the call changes with it."""
        array = self.holder.find(arguments)
        others = [other.find(arguments) for other in self.others]
        return array.flags.writeable and not any(np.may_share_memory(array, other) for other in others)

    def ready(
        self, values: Sequence[Any], inputs: Sequence[Any], arguments: Arguments, shared: Shared
    ) -> Callable[[], None]:
        """What does it for one call, whatever other effects change meanwhile."""
        return partial(np.copyto, self.holder.find(arguments), values[self.value.index].numpy())


Effect = Store | Call | ArrayWrite | FlagWrite


def array_writes(effects: Iterable[Effect]) -> list[ArrayWrite]:
    """Those of the effects that write to NumPy's arrays."""
    return [effect for effect in effects if isinstance(effect, ArrayWrite)]
