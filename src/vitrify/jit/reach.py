"""Which Layers a static function can see, and what of them its programs depend on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..core.epoch import LAYER_MODES
from ..eager.layer import Layer


class LayersInReach:
    """The Layers behind one function: those of its instance, closure and globals, and those that its traces called.

    `number()` is equal exactly while their training flags, parameters and buffers are the same objects: a small
    stand-in for all of them in a cache key.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._called: dict[int, Layer] = {}
        self._numbers: dict[Any, int] = {}
        self._number = -1
        self._epoch = -1
        self.flags: tuple[bool, ...] = ()

    def number(self) -> int:
        """Which combination of training flags, parameters and buffers holds now."""
        if self._epoch != LAYER_MODES.value:
            self._refresh()
        return self._number

    def add(self, layers: Iterable[Layer]) -> None:
        """Take in Layers that a trace called."""
        self._called.update((id(layer), layer) for layer in layers)
        self._epoch = -1

    def _refresh(self) -> None:
        epoch = LAYER_MODES.value
        layers = list(self._layers())
        self.flags = tuple(layer.training for layer in layers)
        held = tuple(
            id(tensor) for layer in layers for table in (layer._parameters, layer._buffers) for tensor in table.values()
        )
        self._number = self._numbers.setdefault((self.flags, held), len(self._numbers))
        self._epoch = epoch  # last, so that a thread beside this one sees the number that belongs to it

    def _layers(self) -> Iterator[Layer]:
        seen: set[int] = set()
        for root in (*_roots(self._function), *self._called.values()):
            for layer in () if id(root) in seen else root.sublayers(include_self=True):
                if id(layer) not in seen:
                    seen.add(id(layer))
                    yield layer


def _roots(function: Callable[..., Any]) -> Iterator[Layer]:
    for value in _values_in_reach(function):
        items = value if isinstance(value, (list, tuple)) else value.values() if isinstance(value, dict) else (value,)
        yield from (item for item in items if isinstance(item, Layer))


def _values_in_reach(function: Callable[..., Any]) -> Iterator[Any]:
    owner = getattr(function, "__self__", None)
    yield owner
    if not isinstance(owner, Layer):
        yield from list(getattr(owner, "__dict__", {}).values())
    plain = inspect.unwrap(getattr(function, "__func__", function))
    code = getattr(plain, "__code__", None)
    if code is None:
        return
    for cell in plain.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a cell not filled yet
            continue
    for name in code.co_names:
        yield plain.__globals__.get(name)
