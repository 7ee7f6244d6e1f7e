"""Objects of the user's classes that a trace made: plain data to it, as dataclasses are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from weakref import ref

_CONTAINERS = (list, tuple, set, frozenset)


class Made:
    """The objects that one trace made and that it may take apart and make again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Callable[[], Any], Any]] = {}
        self.kept: set[int] = set()
        """The ids of those that this refers to, once each, since their class allows no weak reference."""
        self._opaque: dict[int, tuple[Any, Any, Any]] = {}

    def note(self, value: Any, block: Any) -> None:
        """Take notice of an object made in a block, if such a one can be made without running its class's code."""
        try:
            object.__new__(type(value))
        except TypeError:
            return  # built on a class written in C, or abstract
        try:
            held: Callable[[], Any] = ref(value)
        except TypeError:  # its class has slots, and none for this
            self.kept.add(id(value))

            def held() -> Any:
                return value

        self._known[id(value)] = held, block

    def note_opaque(self, value: Any, block: Any, site: Any = None) -> None:
        """Take notice of an object of a library's class, made in a block at a line, that is never taken apart."""
        self._opaque[id(value)] = value, block, site

    def opaque_block_of(self, value: Any) -> Any:
        """The block in which the trace made such an object; None for all others."""
        return self._opaque.get(id(value), (None, None, None))[1]

    def site_of(self, value: Any) -> Any:
        """The line that made such an object; None for all others."""
        return self._opaque.get(id(value), (None, None, None))[2]

    def block_of(self, value: Any) -> Any:
        """The block in which the trace made an object; None for all others."""
        found, block = self._known.get(id(value), (None, None))
        return block if found is not None and found() is value else None

    def had(self, key: int) -> bool:
        """Whether an object with this id was made, if it is gone by now, too: none from before the trace had it."""
        return key in self._known

    def __bool__(self) -> bool:
        return bool(self._known)

    def __contains__(self, value: Any) -> bool:
        return self.block_of(value) is not None

    def node(self, value: Any) -> Any:
        """(class, attributes, names) of an object that the trace made, unless it holds itself; else None."""
        if value not in self or self._is_cyclic(value):
            return None
        names = tuple(own_names(value))
        return type(value), [object.__getattribute__(value, name) for name in names], ("object", names)

    def _is_cyclic(self, value: Any) -> bool:
        seen: set[int] = set()
        waiting = list(self._held(value))
        while waiting:
            part = waiting.pop()
            if part is value:
                return True
            if id(part) not in seen:
                seen.add(id(part))
                waiting += self._held(part)
        return False

    def _held(self, value: Any) -> list[Any]:
        if isinstance(value, dict):
            return list(dict.values(value))
        base = next((base for base in _CONTAINERS if isinstance(value, base)), None)
        if base is not None:
            return list(base.__iter__(value))  # no code of a class derived from it
        return [object.__getattribute__(value, name) for name in own_names(value)] if value in self else []


def held_by(value: Any) -> list[Any]:
    """What an object's own attributes hold, those in slots of the user's classes too."""
    held = getattr(value, "__dict__", None)
    return [*(held.values() if isinstance(held, dict) else ()), *held_in_slots(value)]


def held_in_slots(value: Any) -> list[Any]:
    """What an object of the user's class has in slots."""
    if not hasattr(type(value), "__slots__") or type(value).__module__.partition(".")[0] == "vitrify":
        return []
    return [object.__getattribute__(value, name) for name in _slots(value)]


def own_names(value: Any) -> Iterator[str]:
    """The names of the attributes that the object itself holds."""
    yield from getattr(value, "__dict__", ())
    yield from _slots(value)


def _slots(value: Any) -> Iterator[str]:
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and _is_set(value, cls, name):
                yield _mangled(cls, name)


def _mangled(cls: type, name: str) -> str:
    is_private = name.startswith("__") and not name.endswith("__")
    return f"_{cls.__name__.lstrip('_')}{name}" if is_private else name


def _is_set(value: Any, cls: type, name: str) -> bool:
    try:
        object.__getattribute__(value, _mangled(cls, name))
    except AttributeError:
        return False
    return True
