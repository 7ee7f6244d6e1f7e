"""Places: where a value is kept that a traced region may write, so that it can be put back and merged."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from types import CellType
from typing import Any, Protocol

from ...core.epoch import LAYER_MODES
from ...core.pytree import OneOf, OpenDict, OpenList, eager_class, is_open, is_partial, node_of, rebuild
from ...core.source import user_frames
from ...eager.layer import Layer
from ...eager.layer_tree import is_parameter
from ...eager.tensor import Tensor
from ...ir.builder import current_builder
from ...ir.program import Variable
from ...ops.methods import TensorMethods
from ..values.base import Absent, MaybeUnset, Undefined, Unmergeable, builder
from ..values.foreign import ForeignError
from ..values.user_code import class_attribute, library_method

_MISSING = object()


class Place(Protocol):
    """Somewhere a value is kept."""

    key: Any

    def get(self) -> Any:
        """The value, or an Undefined."""

    def set(self, value: Any) -> None:
        """Store `value`."""

    def unset(self) -> None:
        """Remove what is stored."""


class OwnPlace:
    """Whether an object holds an attribute itself that its class has, too; where a tensor decides, a Variable."""

    def __init__(self, owner: Any, attribute: str) -> None:
        self.owner = owner
        self.attribute = attribute
        self.key = (id(owner), "own", attribute)
        self.label = f"{type(owner).__name__}.{attribute}"

    def at(self, owner: Any) -> OwnPlace:
        """The same of another object."""
        return OwnPlace(owner, self.attribute)

    def get(self) -> Any:
        held = getattr(self.owner, "__dict__", {})
        return builder().owned.get(self.key, self.attribute in held)

    def set(self, value: Any) -> None:
        builder().owned[self.key] = value

    def unset(self) -> None:
        builder().owned.pop(self.key, None)

    def matters(self, set_then: bool) -> bool:
        """Whether the class has the attribute, and the object has none of its own now or, not `set_then`, soon."""
        if current_builder() is None or not hasattr(self.owner, "__dict__"):
            return False
        found = class_attribute(type(self.owner), self.attribute, _MISSING)
        return found is not _MISSING and not hasattr(type(found), "__set__") and not (set_then and self.get() is True)


def undecided(owner: Any) -> list[OwnPlace]:
    """The attributes of which a tensor decides whether an object has them itself."""
    build = current_builder()
    owned = {} if build is None else build.owned
    found = [key[2] for key, held in owned.items() if key[0] == id(owner) and isinstance(held, Variable)]
    return [OwnPlace(owner, attribute) for attribute in found]


def _in_order(held: dict[str, Any], names: Sequence[str]) -> None:
    """Let `names` stand first in a dict, in their order, as far as it has them."""
    entries = dict(held)
    held.clear()
    held.update((name, entries[name]) for name in (*names, *entries) if name in entries)


class AttrPlace:
    """An attribute of an object. `inherited`: it has none of its own until it is written now."""

    def __init__(self, owner: Any, attribute: str, inherited: bool = False) -> None:
        self.owner = owner
        self.attribute = attribute
        self.inherited = inherited
        self.key = (id(owner), attribute)
        # A Layer that is given a parameter takes nothing else under that name any more.
        self._is_plain = isinstance(owner, Layer) and attribute in owner.__dict__
        buffers = owner.__dict__.get("_buffers", {}) if isinstance(owner, Layer) else {}
        self._buffers = tuple(buffers) if attribute in buffers else ()
        held = getattr(owner, "__dict__", {})
        self._names = tuple(held) if attribute in held else ()
        self._is_entry = False  # a parameter of a Layer, which stays one while it is None

    def at(self, owner: Any) -> AttrPlace:
        """The same attribute of another object."""
        place = AttrPlace(owner, self.attribute)
        place._is_entry = self._is_entry
        return place

    @property
    def became_entry(self) -> bool:
        """Whether an attribute of a Layer is one of its parameters since it was given one, even if it is None again."""
        return self._is_plain and self.attribute in self.owner.__dict__["_parameters"]

    def entered(self) -> AttrPlace:
        """The same attribute as one of the Layer's parameters."""
        place = self.at(self.owner)
        place._is_entry = True
        return place

    @property
    def label(self) -> str:
        """How messages call it."""
        cls = Tensor if isinstance(self.owner, Variable) else type(self.owner)
        return f"{cls.__name__}.{self.attribute}"

    # No code of the user's runs here: `__getattr__` and `__setattr__` of their classes are passed over.

    def get(self) -> Any:
        for special in ("__getattribute__", "__getattr__"):
            read = library_method(type(self.owner), special)
            try:
                if read is not None:
                    return read(self.owner, self.attribute)
            except AttributeError:
                continue
        return Undefined(self.label, 0)

    def set(self, value: Any) -> None:
        parameters = getattr(self.owner, "__dict__", {}).get("_parameters", {})
        if self._is_entry and value is None:
            self.owner.__dict__.pop(self.attribute, None)
            parameters[self.attribute] = None
            LAYER_MODES.bump()
            return
        if self._is_plain:
            parameters.pop(self.attribute, None)
        elif self.attribute in parameters and isinstance(value, Variable):  # a parameter or None, as the path says
            parameters[self.attribute] = value
            return
        elif self.attribute in parameters and self._buffers and not is_parameter(value):  # given a parameter since
            del parameters[self.attribute]
            self._put_back(value)
            return
        held = getattr(self.owner, "__dict__", {})
        is_gone = self.attribute in self._names and self.attribute not in held
        store_attribute(self.owner, self.attribute, value)
        if is_gone:
            _in_order(held, self._names)

    def _put_back(self, value: Any) -> None:
        """Let the Layer have the buffer where it stood among the others."""
        buffers = self.owner.__dict__["_buffers"]
        buffers[self.attribute] = value
        _in_order(buffers, self._buffers)
        LAYER_MODES.bump()

    def unset(self) -> None:
        with suppress(AttributeError):
            library_method(type(self.owner), "__delattr__")(self.owner, self.attribute)


def store_attribute(owner: Any, attribute: str, value: Any) -> None:
    """`owner.attribute = value`; the buffer of a Layer is exchanged, not overwritten, also by a graph tensor.

    Programs that read a buffer look where it stands now, so no other cached decision depends on it.
    """
    # A Layer whose `__init__` calls no super().__init__() has none: what is missing is told where eager code tells it.
    buffers = owner.__dict__.get("_buffers", {}) if isinstance(owner, Layer) else {}
    if attribute in buffers and isinstance(value, TensorMethods) and not is_parameter(value):
        buffers[attribute] = value
    else:
        library_method(type(owner), "__setattr__")(owner, attribute, value)


def kind_of(owner: Any) -> str:
    """The name of a container's class in eager code."""
    return "list" if isinstance(owner, list) else eager_class(owner).__name__


class ItemPlace:
    """An item of a list, dict or other container.

    `order`: the keys of a dict of which one is about to be deleted, which is put back between them.
    """

    def __init__(self, owner: Any, index: Any, order: tuple[Any, ...] = ()) -> None:
        self.owner = owner
        self.index = index
        self.order = order
        self.key = (id(owner), "item", _item_key(owner, index))

    @classmethod
    def deleted(cls, owner: Any, index: Any) -> ItemPlace:
        """An item of a dict that is about to be deleted."""
        return cls(owner, index, tuple(owner) if index in owner else ())

    def at(self, owner: Any) -> ItemPlace:
        """The same item of another container."""
        return ItemPlace(owner, self.index, self.order)

    @property
    def label(self) -> str:
        """How messages call it."""
        return f"{kind_of(self.owner)}[{self.index!r}]"

    # No code of the user's runs here, nor does a defaultdict make items.

    def get(self) -> Any:
        try:
            if isinstance(self.owner, OpenDict):
                return self.owner[self.index]
            if isinstance(self.owner, dict):
                return dict.__getitem__(self.owner, self.index) if self.index in self.owner else self._unset()
            return _method(self.owner, "__getitem__")(self.owner, self.index)
        except (KeyError, IndexError):
            return self._unset()

    def _unset(self) -> Undefined:
        return Undefined(self.label, 0)

    def set(self, value: Any) -> None:
        is_back = self.order and self.index not in self.owner
        _method(self.owner, "__setitem__")(self.owner, self.index, value)
        if is_back:
            _move_to_end(self.owner, self.order[self.order.index(self.index) + 1 :])

    def unset(self) -> None:
        try:
            _method(self.owner, "__delitem__")(self.owner, self.index)
        except (KeyError, IndexError):
            pass


def _item_key(owner: Any, index: Any) -> Any:
    """What tells an item of `owner` from the others: `xs[-1]` is the last item, `d[1]` and `d[1.0]` are one."""
    if isinstance(owner, (list, deque)) and hasattr(index, "__index__"):
        position = operator.index(index)
        return position + len(owner) if position < 0 else position
    return index if isinstance(owner, dict) else repr(index)


def _method(owner: Any, name: str) -> Any:
    """How items are reached past code of the user's, and past what our own lists tell the journal."""
    if isinstance(owner, (OpenList, OpenDict)):
        return getattr(list if isinstance(owner, OpenList) else dict, name)
    cls = type(owner)
    return getattr(cls, name) if cls in _BUILTIN else library_method(cls, name)


_BUILTIN = frozenset({list, dict, set})


def _move_to_end(owner: dict[Any, Any], keys: Iterable[Any]) -> None:
    for key in keys:
        if key in owner:
            value = dict.__getitem__(owner, key)
            _method(owner, "__delitem__")(owner, key)
            _method(owner, "__setitem__")(owner, key, value)


class ContentPlace:
    """All that a list, dict or set holds: what its methods (`append`, `update`, ...) change.

    `by_item`: items of it were written, too.
    """

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.key = (id(owner), "content")
        self.by_item = False
        self.label = f"a {kind_of(owner)}"
        frames = user_frames(2, limit=1)
        self.loc = frames[0] if frames else None

    def at(self, owner: Any) -> ContentPlace:
        """The content of another container."""
        place = object.__new__(ContentPlace)
        place.__dict__.update(self.__dict__)
        place.owner, place.key = owner, (id(owner), "content")
        return place

    def get(self) -> Any:
        owner = self.owner
        if isinstance(owner, (OpenList, OpenDict)):
            return owner.copy() if isinstance(owner, OpenDict) else owner.snapshot()  # type: ignore[attr-defined]
        node = node_of(owner)
        return _method(owner, "copy")(owner) if node is None else rebuild(*node)

    def set(self, value: Any) -> None:
        if isinstance(self.owner, (OpenList, OpenDict)):
            self.owner.take(value)
            return
        if is_open(value) or is_partial(value) or isinstance(value, OneOf):
            raise self.grows()
        _method(self.owner, "clear")(self.owner)
        if isinstance(self.owner, dict):
            store = _method(self.owner, "__setitem__")
            for key in dict.keys(value):
                store(self.owner, key, dict.__getitem__(value, key))
        else:
            _method(self.owner, "extend" if hasattr(self.owner, "extend") else "update")(self.owner, value)

    def unset(self) -> None:
        self.set({} if isinstance(self.owner, dict) else ())

    def grows(self) -> ForeignError:
        """The error of a container that cannot take a length which is known only when the program runs."""
        return ForeignError(
            f"{self.label} changes its length inside a loop or branch that a tensor decides, and it was not "
            "made by converted code",
            loc=self.loc,
            hint="change a copy of it (xs = list(xs)), or keep the values in one tensor",
        ).of(self.owner)


class CellPlace:
    """A variable that closures share."""

    def __init__(self, name: str, cell: CellType) -> None:
        self.label = name
        self.cell = cell
        self.key = (id(cell), "cell")

    def get(self) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:
            return Absent(self.label, 0)

    def set(self, value: Any) -> None:
        self.cell.cell_contents = value

    def unset(self) -> None:
        del self.cell.cell_contents


class GlobalPlace:
    """A global variable of the user's module."""

    def __init__(self, name: str, namespace: dict[str, Any]) -> None:
        self.label = name
        self.namespace = namespace
        self.key = (id(namespace), name)

    def get(self) -> Any:
        return self.namespace.get(self.label, Undefined(self.label, 0))

    def set(self, value: Any) -> None:
        self.namespace[self.label] = value

    def unset(self) -> None:
        self.namespace.pop(self.label, None)


def restore(place: Any, value: Any) -> None:
    """Make `place` hold `value`; unset it for an Undefined, which only a variable can hold, but not what some path set.

    What could not be merged is held anywhere: whoever reads it, or looks at it after the trace, gets the error.
    """
    is_kept = isinstance(place, CellPlace) or isinstance(value, (Unmergeable, MaybeUnset))
    if isinstance(value, Absent) or (isinstance(value, Undefined) and not is_kept):
        place.unset()
    else:
        place.set(value)


# --- one place per container -----------------------------------------------------------------------------------------

Before = dict[Any, tuple[Any, Any]]
"""What the places written in a region held, by their keys."""


def within_content(item: ItemPlace, before: Before) -> bool:
    """Whether the container of `item` has a place as a whole already, which then covers the item."""
    place, _ = before.get((id(item.owner), "content"), (None, None))
    if place is not None:
        place.by_item = True
    return place is not None


def comes_back(item: ItemPlace, before: Before) -> bool:
    """Whether a key of a dict was deleted in the region and is about to be set again, behind others than before."""
    place, _ = before.get(item.key, (item, None))
    if not place.order or item.index in item.owner:
        return False
    return bool(tuple(item.owner) != place.order[: place.order.index(item.index)])


def absorbed_items(place: ContentPlace, before: Before) -> Any:
    """What the container of `place` held when the region began; the places of its items in `before` are dropped."""
    items = items_of(place, before.values())
    for item, _ in items:
        del before[item.key]
    place.by_item = place.by_item or bool(items)
    return with_items(place.get(), reversed(items))


def wholes(places: dict[Any, Any]) -> dict[Any, Any]:
    """`places`, by their keys, without those of items whose container is among them as a whole."""
    return {
        key: place
        for key, place in places.items()
        if not (isinstance(place, ItemPlace) and (id(place.owner), "content") in places)
    }


def items_of(place: ContentPlace, entries: Iterable[tuple[Any, Any]]) -> list[tuple[ItemPlace, Any]]:
    """The entries (item place, value) of what is in the container of `place`."""
    return [(item, value) for item, value in entries if isinstance(item, ItemPlace) and item.owner is place.owner]


def with_items(content: Any, items: Iterable[tuple[ItemPlace, Any]]) -> Any:
    """`content`, a copy of what a container held, once these items are put in; those that are Undefined go."""
    for item, value in items:
        restore(item.at(content), value)
    return content


def content_before(owner: Any, before: Before) -> Any:
    """What a container held when the region began; itself where nothing of it was written."""
    if (id(owner), "content") in before:
        return before[id(owner), "content"][1]
    items = [(item, value) for item, value in before.values() if isinstance(item, ItemPlace) and item.owner is owner]
    return with_items(_method(owner, "copy")(owner), reversed(items)) if items else owner


def held_variables(container: Any, before: Before) -> bool:
    """Whether a container held variables of the program when the region began, as none from outside does."""
    seen: set[int] = set()
    waiting = [container]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Variable):
            return True
        is_open_one = isinstance(value, (OpenList, OpenDict))  # which may stand for one from outside
        base = None if is_open_one else next((kind for kind in _HOLDING if isinstance(value, kind)), None)
        if base is not None and id(value) not in seen:
            seen.add(id(value))
            held = content_before(value, before)
            waiting += dict.values(held) if base is dict else base.__iter__(held)  # no code of a class derived from it
    return False


_HOLDING: tuple[Any, ...] = (tuple, list, dict, set, frozenset, deque)
