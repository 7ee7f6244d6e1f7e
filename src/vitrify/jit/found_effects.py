"""Which effects a trace had: read from its journal, as templates that each run of its program fills."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..convert.guards.observe import MethodCall, Observer
from ..convert.host.given import GivenArray
from ..convert.state.gradient_place import GradientPlace
from ..convert.state.journal import Journal
from ..convert.state.places import AttrPlace, ContentPlace, OwnPlace
from ..convert.values.base import MaybeUnset, Undefined, Unmergeable, builder, is_unset
from ..convert.values.emit import unset_flag
from ..core.pytree import LEAF, OpenDict, OpenTable, is_open, node_of
from ..ir.program import Variable
from .arguments import Holder
from .concrete_program import ConcreteProgram
from .effects import ArrayWrite, Call, Effect, Store
from .marks import OutputLeaf
from .outputs import Outputs
from .path_leaves import ForkLeaf, StoppedLeaf


def replayable(observer: Observer, given: Container[int]) -> set[int]:
    """ids of the containers that only methods changed which tell nothing of what they hold: those are called again.

    What others held before decides what they hold afterwards: from here on the observer guards that. What the call was
    given (`given`, by id) is part of the signature with all that it holds.
    """
    contents = [place for place, _ in observer.journal.before.values() if isinstance(place, ContentPlace)]
    found = {id(place.owner) for place in contents if id(place.owner) in observer.peeked and not place.by_item}
    found = {key for key in found if key not in given}
    for place in contents:
        if id(place.owner) not in found and id(place.owner) not in given:
            observer.content_matters(place.owner)
    return found


def find_effects(
    observer: Observer,
    replayed: Container[int],
    outputs: Outputs,
    holders: Mapping[int, Holder],
    tables: Iterable[OpenTable] = (),
) -> list[Effect]:
    """What is to be done after each run. `holders`: containers that were there before the trace, by id.

    tables: those that stand for such containers.
    """
    effects: list[Effect] = []
    columns = {id(column): table for table in tables for column in table.columns}
    changed: dict[int, OpenTable] = {}
    for place, value in changes(observer.journal, observer.read_numbers):
        owner = getattr(place, "owner", None)
        if id(owner) in columns:
            changed[id(columns[id(owner)])] = columns[id(owner)]
            continue
        mark = outputs.mark_of(owner) if isinstance(owner, Variable) else None
        if isinstance(owner, Variable) and mark is None:
            continue  # a tensor that ends with the call
        if not (isinstance(place, ContentPlace) and id(owner) in replayed):
            store = _store(place, value, outputs, holders.get(id(owner)))
            if isinstance(place, GradientPlace):
                store = replace(store, handle=builder().training.handle_of(owner))
            effects.append(store if mark is None else replace(store, tensor=mark))
    for key, table in changed.items():
        place = ContentPlace(observer.stand_ins.original(table))
        effects.append(_store(place, table.snapshot(), outputs, holders.get(key)))
    effects += [called(call, outputs, holders) for call in observer.calls if id(call.owner) in replayed]
    return effects


def changes(journal: Journal, numbers: Mapping[Any, Variable]) -> Iterator[tuple[Any, Any]]:
    """(place, value now) of all that holds something else than before the trace. `numbers`: what was read as inputs."""
    for key, (place, before) in journal.before.items():
        if isinstance(place, GradientPlace) and not builder().training.gets_gradient(place.owner):
            continue  # a leaf of the program's own, which ends with it
        if isinstance(place, OwnPlace):
            continue
        now = place.get()
        is_new = isinstance(place, AttrPlace) and place.inherited and _owned(place) is not False
        is_gone = isinstance(place, AttrPlace) and not place.inherited and _owned(place) is not True
        is_entry = isinstance(place, AttrPlace) and place.became_entry
        if is_entry:
            place = place.entered()
        if not (is_new or is_gone or is_entry) and (now is before or (key in numbers and now is numbers[key])):
            continue
        if is_unset(now) and is_unset(before):
            continue
        if isinstance(place, ContentPlace) and _same_items(before, now):
            continue
        yield place, now


def _owned(place: AttrPlace) -> Any:
    """Whether the object has the attribute of its own now; True where its class has none."""
    own = OwnPlace(place.owner, place.attribute)
    return own.get() if place.inherited or own.key in builder().owned else True


def _same_items(a: Any, b: Any) -> bool:
    if is_open(a) or is_open(b):
        return is_open(a) and is_open(b) and a.items is b.items
    if isinstance(a, OpenDict) or isinstance(b, OpenDict):
        return _same_entries(a, b)
    if len(a) != len(b):
        return False
    if isinstance(a, dict):
        return all(k == m and v is w for (k, v), (m, w) in zip(a.items(), b.items()))
    return all(v is w for v, w in zip(a, b))


def _same_entries(a: Any, b: Any) -> bool:
    """Whether two dicts have the same keys in the same order, holding the same objects, on every path."""
    (first, values, extra), (second, others, more) = node_of(a), node_of(b)
    return first is second and extra == more and all(map(operator.is_, values, others))


def _store(place: Any, value: Any, outputs: Outputs, holder: Holder | None) -> Store:
    if isinstance(value, Unmergeable):
        raise value.fail()
    if isinstance(value, MaybeUnset):
        return Store(place, outputs.template(value.value), outputs.template(value.flag).leaves[0], holder=holder)
    if isinstance(value, Undefined):
        return Store(place, None, holder=holder)
    held = unset_flag(value)
    if held is not None:
        return Store(place, outputs.passed_on(value), outputs.template(held[0]).leaves[0], holder=holder)
    owned = _owned(place) if isinstance(place, AttrPlace) else True
    if owned is False:
        return Store(place, None, holder=holder)
    flag = None if owned is True else outputs.template(owned).leaves[0]
    is_kept = flag is not None and place.inherited  # one that had it of its own loses it on such a path
    return Store(place, outputs.template(value), flag, is_kept, holder)


def called(call: MethodCall, outputs: Outputs, holders: Mapping[int, Holder]) -> Call:
    """The effect of a method call."""
    template = outputs.template((call.args, dict(call.kwargs)))
    return Call(call.owner, call.method, template, holders.get(id(call.owner)))


def written_arrays(arrays: Sequence[GivenArray], outputs: Outputs, holders: Mapping[int, Holder]) -> list[Effect]:
    """The effects on arrays of NumPy's that the call is given."""
    found: list[Effect] = []
    for array in arrays:
        if array.is_changed:
            others = tuple([holders[id(other)] for other in arrays if other is not array])
            found.append(ArrayWrite(holders[id(array)], outputs.output(array.tensor(in_full=True)), others))
    return found


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
    if effect.value.tree is not LEAF or not isinstance(effect.value.leaves[0], (ForkLeaf, OutputLeaf, StoppedLeaf)):
        return None
    held = getattr(effect.place.owner, "_buffers", {}).get(effect.place.attribute)
    return next((i for i, tensor in enumerate(concrete.captured) if tensor is held), None)
