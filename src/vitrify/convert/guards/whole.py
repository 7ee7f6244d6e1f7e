"""Objects from outside that a library's code may look into: guarded whole, and refused where it changes them.

What converted code reads is noted attribute by attribute. A library's code is not converted, and runs once, while the
program is made: all that it can reach from what it is given counts as read, and no run would do again what it changes.
"""

from __future__ import annotations

import copy
import enum
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from types import FunctionType, ModuleType, TracebackType
from typing import Any

from ...core.bound import plain_attribute
from ...core.closures import CLOSURES
from ...core.errors import UnsupportedError
from ...core.library_settings import setting_asked_by
from ...core.made import own_names
from ...eager.layer import Layer
from ...eager.tensor import Tensor
from ...ir.builder import current_builder
from ...ir.program import Variable
from ..state.journal import is_nested
from ..values.base import Undefined, note_setting
from ..values.deferred import Deferred
from ..values.user_code import is_ours, is_user_code
from .kinds import IMMUTABLE, Exactly, Guard, Source
from .observe import CONTAINERS, MAX_DEPTH, MAX_ITEMS, Observer, current_observer

MAX_OBJECTS = 300
_WITHOUT_STATE = (*IMMUTABLE, *CLOSURES, Tensor, Variable, Deferred, Layer, ModuleType, type, BaseException, enum.Enum,
                  logging.Filterer, logging.Manager)  # fmt: skip

_SETTINGS = (*IMMUTABLE, tuple, list, FunctionType)


class _Reached:
    """The objects and containers from outside that are reached from some values, and what they hold."""

    def __init__(self, observer: Observer, values: Iterable[Any]) -> None:
        self.observer = observer
        self.known = observer.known_containers() | observer.journal.given
        self.objects: list[Any] = []
        self.held: list[tuple[Any, Any, type]] = []
        """Containers and dicts of objects, each with a copy, and whose it is."""
        self._met: set[int] = set()
        for value in values:
            self._reach(value, None, 0)

    def _reach(self, value: Any, whose: type | None, depth: int) -> None:
        """Note `value` and what it holds. whose: the class of the object from outside that holds it, if one does."""
        if depth > MAX_DEPTH or len(self._met) > MAX_OBJECTS or id(value) in self._met:
            return
        if whose is None and id(value) in self.known:
            whose = type(value)
        if type(value) in CONTAINERS:
            parts = list(value.values() if isinstance(value, dict) else value)
            if whose is not None and not isinstance(value, (tuple, frozenset)):
                self.held.append((value, copy.copy(value), whose))
        elif whose is not None and has_state(value):
            whose = type(value)
            parts = [held for _, held in _attributes(value)]
            self.objects.append(value)
            namespace = getattr(value, "__dict__", None)
            if isinstance(namespace, dict):
                self.held.append((namespace, dict(namespace), whose))
        else:
            if isinstance(value, FunctionType) and is_user_code(value) and self._is_from_outside(value):
                self.observer.stays(value)
            return
        self._met.add(id(value))
        for part in parts[:MAX_ITEMS]:
            self._reach(part, whose, depth + 1)

    def _is_from_outside(self, function: FunctionType) -> bool:
        """Whether a function was there before: one that a module has, or that a place which was read holds."""
        is_inner = "<locals>" in function.__qualname__
        return not is_inner or any(guard.value is function for guard in self.observer.guards.values())

    def guard(self) -> None:
        """Guard what the objects hold, under which names."""
        for owner in self.objects:
            self.observer.names(owner)
            for name, value in _attributes(owner):
                if not isinstance(value, Undefined):
                    self.observer.attribute(owner, name, value)

    def put_back(self) -> str | None:
        """Undo what was changed since; what that was, in words.

        What is added, or set where there was None, may stay: it is a cache most often, and fits no guard otherwise.
        """
        changed = [entry for entry in self.held if _is_changed(*entry[:2], strict=is_nested())]
        for holder, before, _ in changed:
            holder.clear()
            (holder.update if isinstance(holder, (dict, set)) else holder.extend)(before)
        return changed[0][2].__name__ if changed else None


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes that an object itself holds, asked past its class."""
    held = getattr(value, "__dict__", {})
    for name in own_names(value):
        yield name, held[name] if name in held else object.__getattribute__(value, name)


def has_state(value: Any) -> bool:
    """Whether it is an object whose attributes a library's code may look at."""
    if isinstance(value, (*_WITHOUT_STATE, *CONTAINERS)) or is_ours(value):
        return False
    return any(True for _ in own_names(value))


def _is_changed(now: Any, before: Any, *, strict: bool) -> bool:
    if strict and len(now) != len(before):
        return True
    if isinstance(before, dict):
        return any(name not in now or not _is_same(now[name], value, strict) for name, value in before.items())
    if isinstance(before, set):
        return bool(before - now)
    return len(now) != len(before) or not all(_is_same(a, b, strict) for a, b in zip(now, before))


def _is_same(now: Any, before: Any, strict: bool) -> bool:
    if now is before or (before is None and not strict):
        return True
    return type(now) is type(before) and isinstance(before, IMMUTABLE) and bool(now == before)


class LookedInto(AbstractContextManager[None]):
    """Guards what a library's function may look at that is called inside with these values.

    Raises UnsupportedError where it changed an object that was there before, which then is as it was.
    """

    def __init__(self, function: Callable[..., Any], *values: Any) -> None:
        self.function = function
        note_setting(setting_asked_by(function, *values))
        self.reached = _reached(values)
        if self.reached is not None:
            self.reached.guard()

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, tb: TracebackType | None) -> None:
        changed = None if self.reached is None else self.reached.put_back()
        if changed is not None:
            name = plain_attribute(self.function, "__qualname__") or type(self.function).__name__
            raise UnsupportedError(
                f"{name}() changes a {changed} that was there before: a library's code runs once, while the program is "
                "made, and no run would change it again",
                hint="call it outside of the function, or convert with full_graph=False, which runs this statement as "
                "Python at every call",
            )


def note_settings(observer: Observer, layer: Layer) -> None:
    """Guard the settings of a Layer of ours, such as the `p` of dropout, which its `forward` reads unseen."""
    if not is_ours(layer):
        return
    for name, value in layer.__dict__.items():
        if isinstance(value, _SETTINGS) and name != "training":
            source = replace(Source.entry(f"{type(layer).__name__}.{name}", layer.__dict__, name), of_layer=True)
            observer.guards.setdefault((id(layer), name), Guard(source, value, Exactly(value)))


def note_whole(value: Any) -> None:
    """Guard all that a library's special method of `value` (`len(value)`, `value[key]`) may look at."""
    reached = _reached([value])
    if reached is not None:
        reached.guard()


def _reached(values: Iterable[Any]) -> _Reached | None:
    """What is reached from some values, if that is anything with a state."""
    observer = current_observer()
    if observer is None or current_builder() is None or not any(map(_may_have_state, values)):
        return None
    found = _Reached(observer, values)
    return found if found.held else None


def _may_have_state(value: Any) -> bool:
    return type(value) in CONTAINERS or isinstance(value, FunctionType) or has_state(value)
