"""A counter that tells cached decisions when something they were based on has changed."""

from __future__ import annotations

import itertools
from typing import Any
from weakref import WeakValueDictionary

_NUMBERS = itertools.count(1)


class Epoch:
    """A number that changes with every change; compare it with the one seen last.

    Numbers are drawn from one counter, which is atomic: two threads that bump at once cannot leave a value that one of
    them has seen before.
    """

    __slots__ = ("value",)

    def __init__(self, value: int = 0) -> None:
        self.value = value

    def bump(self) -> None:
        """Note a change."""
        self.value = next(_NUMBERS)


class WatchingEpoch(Epoch):
    """An epoch of changes of certain objects, which need not know that they are watched."""

    __slots__ = ("_watched",)

    def __init__(self) -> None:
        super().__init__()
        self._watched: WeakValueDictionary[int, Any] = WeakValueDictionary()

    def watch(self, value: Any) -> None:
        """Count changes of this object, too."""
        self._watched[id(value)] = value

    def note(self, value: Any) -> None:
        """Note a change of an object, if it is watched."""
        if self._watched.get(id(value)) is value:
            self.bump()


# Bumped whenever a Layer's training flag, parameters, buffers or sublayers change.
LAYER_MODES = Epoch()

# Bumped whenever a tensor that a program captured gets another shape or dtype, in place.
CAPTURED_KINDS = WatchingEpoch()

# Bumped whenever a plain attribute of a Layer is set or deleted.
LAYER_ATTRIBUTES = Epoch()
