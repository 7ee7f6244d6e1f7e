"""What a function does to Python objects: found by one trace, done again each time its program runs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..convert.emit import unset_flag
from ..convert.journal import Journal
from ..convert.observe import MethodCall, Observer
from ..convert.places import AttrPlace, ContentPlace
from ..convert.values import Undefined, Unmergeable
from ..core.pytree import LEAF, is_open
from ..eager.tensor import Tensor
from ..ir.program import Variable
from .arguments import Argument, Arguments
from .template import OutputLeaf, Outputs, Template

Shared = dict[int, Any]

if TYPE_CHECKING:
    from .concrete_program import ConcreteProgram

@dataclass(frozen=True)
class Store:
    """A place takes a value. `flag`, where there is one, says whether the path taken set it at all."""

    place: Any
    value: Template | None
    flag: OutputLeaf | None = None
    argument: Argument | None = None

    def __str__(self) -> str:
        return f"{self.place.label} is set"

    def moved(self, start: int) -> Store:
        """The effect with captured inputs counted after `start` arguments."""
        return replace(self, value=None if self.value is None else self.value.moved(start))

    def apply(self, values: Sequence[Any], inputs: Sequence[Any], arguments: Arguments, shared: Shared) -> None:
        """Do it for one call."""
        place = self.place if self.argument is None else self.place.at(self.argument.find(arguments))
        if self.value is None or (self.flag is not None and not values[self.flag.index]._data):
            place.unset()
        else:
            value = self.value.build(values, inputs, arguments, shared)
            if not _is_content_of(place.get(), value):
                place.set(value)


def _is_content_of(held: Any, value: Any) -> bool:
    """Whether a program handed a tensor through: on the path taken nobody set the place, so its object stays."""
    return isinstance(held, Tensor) and isinstance(value, Tensor) and held._data is value._data


@dataclass(frozen=True)
class Call:
    """A method changes a container that the program does not read."""

    owner: Any
    method: str
    args: Template

    argument = None

    def __str__(self) -> str:
        return f"{type(self.owner).__name__}.{self.method}() is called"

    def moved(self, start: int) -> Call:
        """The effect with captured inputs counted after `start` arguments."""
        return replace(self, args=self.args.moved(start))

    def apply(self, values: Sequence[Any], inputs: Sequence[Any], arguments: Arguments, shared: Shared) -> None:
        """Do it for one call."""
        args, kwargs = self.args.build(values, inputs, arguments, shared)
        getattr(self.owner, self.method)(*args, **kwargs)


Effect = Store | Call


def find_effects(
    journal: Journal, observer: Observer, outputs: Outputs, arguments: Mapping[int, Argument]
) -> list[Effect]:
    """What is to be done after each run. `arguments`: containers that the trace was given, by id."""
    effects: list[Effect] = []
    peeked = {key for key in observer.peeked if (key, "content") in journal.before}
    replayed = {key for key in peeked if not journal.before[key, "content"][0].by_item}
    for place, value in changes(journal, observer.read_numbers):
        owner = getattr(place, "owner", None)
        if isinstance(place, ContentPlace) and id(owner) in replayed:
            continue
        if isinstance(place, ContentPlace):
            observer.content_matters(owner)
        effects.append(_store(place, value, outputs, arguments.get(id(owner))))
    effects += [_call(call, outputs) for call in observer.calls if id(call.owner) in replayed]
    return effects


def changes(journal: Journal, numbers: Mapping[Any, Variable]) -> Iterator[tuple[Any, Any]]:
    """(place, value now) of all that holds something else than before the trace. `numbers`: what was read as inputs."""
    for key, (place, before) in journal.before.items():
        now = place.get()
        if now is before or (key in numbers and now is numbers[key]) or (isinstance(now, Undefined) and isinstance(before, Undefined)):
            continue
        if isinstance(place, ContentPlace) and _same_items(before, now):
            continue
        yield place, now


def _same_items(a: Any, b: Any) -> bool:
    if is_open(a) or is_open(b):
        return is_open(a) and is_open(b) and a.items is b.items
    if len(a) != len(b):
        return False
    if isinstance(a, dict):
        return all(k == m and v is w for (k, v), (m, w) in zip(a.items(), b.items()))
    return all(v is w for v, w in zip(a, b))


def _store(place: Any, value: Any, outputs: Outputs, argument: Argument | None) -> Store:
    if isinstance(value, Unmergeable):
        raise value.fail()
    if isinstance(value, Undefined):
        return Store(place, None, None, argument)
    held = unset_flag(value)
    if held is None:
        return Store(place, outputs.template(value), None, argument)
    return Store(place, outputs.passed_on(value), outputs.template(held[0]).leaves[0], argument)


def _call(call: MethodCall, outputs: Outputs) -> Call:
    return Call(call.owner, call.method, outputs.template((call.args, dict(call.kwargs))))


def exchanged_buffers(concrete: ConcreteProgram) -> list[tuple[int, Variable]]:
    """(input, variable) for Layers' buffers that a program exchanges for new tensors: saved, they are overwritten.

    Warns of what a saved program does not do: other changes of Python objects.
    """
    found: list[tuple[int, Variable]] = []
    for effect in concrete.effects:
        slot = _buffer_slot(effect, concrete)
        if slot is None:
            warnings.warn(f"jit.save leaves out what the function does to Python objects: {effect}", stacklevel=4)
        else:
            assert isinstance(effect, Store) and effect.value is not None
            found.append((concrete.n_arguments + slot, concrete.outputs[effect.value.leaves[0].index]))
    return found


def _buffer_slot(effect: Effect, concrete: ConcreteProgram) -> int | None:
    if not isinstance(effect, Store) or effect.value is None or not isinstance(effect.place, AttrPlace):
        return None
    if effect.value.tree is not LEAF or not isinstance(effect.value.leaves[0], OutputLeaf):
        return None
    held = getattr(effect.place.owner, "_buffers", {}).get(effect.place.attribute)
    return next((i for i, tensor in enumerate(concrete.captured) if tensor is held), None)
