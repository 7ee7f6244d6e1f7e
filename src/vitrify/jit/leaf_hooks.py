"""Hooks of leaves that traced code registers: they are the trace's, and must be gone when it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..convert.state.journal import Journal, note_write
from ..convert.state.places import AttrPlace
from ..core.errors import NoGradientError, UnsupportedError

Hook = Callable[[Any], Any]


class TracedHandle:
    """Removes a hook that traced code has registered, from the point on where it is called."""

    def __init__(self, held: Registered, hook: Hook) -> None:
        self._held = held
        self._before = held.handles
        self.hook = hook

    def remove(self) -> bool:
        """Whether the hook was still registered; it is not any more."""
        left = tuple([handle for handle in self._held.handles if handle is not self])
        found = len(left) < len(self._held.handles)
        if found:
            self._held.set(self._before if left == self._before else left)
        return found


class Registered:
    """The hooks of one leaf, in order, by their handles."""

    def __init__(self, leaf: Any) -> None:
        self.leaf = leaf
        self.handles: tuple[TracedHandle, ...] = ()

    @property
    def place(self) -> AttrPlace:
        """Where branches and loops find that it was written."""
        return AttrPlace(self, "handles")

    def set(self, handles: tuple[TracedHandle, ...]) -> None:
        """Hold these."""
        note_write(self.place)
        self.handles = handles


class LeafHooks:
    """Those of all leaves of a trace."""

    def __init__(self) -> None:
        self._by_leaf: dict[int, Registered] = {}

    def register(self, leaf: Any, hook: Hook, stops_gradient: bool) -> TracedHandle:
        """Call `hook` with each gradient of the leaf from here on. Raises NoGradientError where it gets none."""
        if stops_gradient:
            raise NoGradientError("register_hook: tensor has stop_gradient=True, so it gets no gradient")
        held = self._by_leaf.setdefault(id(leaf), Registered(leaf))
        handle = TracedHandle(held, hook)
        held.set((*held.handles, handle))
        return handle

    def of(self, leaf: Any) -> list[Hook]:
        """The hooks of a leaf, the first that was registered first."""
        held = self._by_leaf.get(id(leaf))
        return [] if held is None else [handle.hook for handle in held.handles]

    def settle(self, journal: Journal, outlives: Callable[[Any], bool]) -> None:
        """Raise UnsupportedError where one stays at a leaf that outlives the run. No journal knows them from now on."""
        for held in self._by_leaf.values():
            journal.before.pop(held.place.key, None)
            if held.handles and outlives(held.leaf):
                raise UnsupportedError(
                    "a hook that the function registers on a parameter or argument stays there when it has ended",
                    hint="remove it inside (handle.remove()), or register it outside of the function",
                )
