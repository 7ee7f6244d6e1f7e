"""Which Layers a static function can see, and what of them its programs depend on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

from ..core.bound import bound_to, unbound
from ..core.epoch import LAYER_MODES
from ..eager.layer import Layer
from ..eager.tensor import Tensor

Moved = dict[int, Tensor]
UNMOVED: Moved = {}
"""Where nothing has moved: always this one, so that a look tells."""


class LayerState:
    """What a program assumes of Layers: their training flags, which parameters, buffers, sublayers and hooks they hold,
    and a `forward` of their own.
    """

    __slots__ = ("_held", "_layers", "epoch", "flags", "now_moved")

    def __init__(self, layers: Iterable[Layer]) -> None:
        self._layers = list(layers)
        self.epoch = LAYER_MODES.value  # when it was last looked
        self.now_moved: Moved | None = UNMOVED  # what was found then
        self.flags, self._held = self._read()

    def _read(self) -> tuple[tuple[bool, ...], list[Any]]:
        flags = tuple(layer.training for layer in self._layers)
        tables = (table for layer in self._layers for table in _tables(layer))
        forwards = [layer.__dict__.get("forward") for layer in self._layers]
        return flags, [*[item for table in tables for item in table.values()], *forwards]

    def holds(self, tensor: Tensor, besides: Container[Any]) -> bool:
        """Whether one of them holds this very tensor, by a name that is not in `besides`, (id of the Layer, name)."""
        return any(
            held is tensor and (id(layer), name) not in besides
            for layer in self._layers
            for table in _tables(layer)
            for name, held in table.items()
        )

    def moved(self) -> Moved | None:
        """Tensors that stand where others stood when the program was built, by the id of those; None: it is outdated.

        Looked at again only after some Layer has changed.
        """
        epoch = LAYER_MODES.value
        if epoch != self.epoch:
            self.now_moved = self._compared()
            self.epoch = epoch
        return self.now_moved

    def _compared(self) -> Moved | None:
        flags, held = self._read()
        if flags != self.flags or len(held) != len(self._held):
            return None
        moved: Moved = {}
        for old, new in zip(self._held, held):
            if old is new:
                continue
            if not (isinstance(old, Tensor) and isinstance(new, Tensor)):
                return None
            if moved.setdefault(id(old), new) is not new:
                return None
        stayed = {id(old) for old, new in zip(self._held, held) if old is new}
        if stayed & moved.keys():  # one tensor in two places, now two
            return None
        return moved or UNMOVED


def _tables(layer: Layer) -> tuple[dict[Any, Any], ...]:
    """What a Layer holds that programs build on, its hooks included."""
    hooks: tuple[Any, ...] = (layer._forward_pre_hooks, layer._forward_post_hooks)
    return (layer._parameters, layer._buffers, layer._sub_layers, *hooks)


def with_parts(layers: Iterable[Layer]) -> list[Layer]:
    """Layers and all Layers in them, each once."""
    found: dict[int, Layer] = {}
    for layer in layers:
        if id(layer) not in found:
            found.update((id(part), part) for part in layer.sublayers(include_self=True))
    return list(found.values())


def layer_state(function: Callable[..., Any], called: Iterable[Layer]) -> LayerState:
    """The state of the Layers behind a function: those of its instance, closure and globals, and those `called`."""
    return LayerState(with_parts([*_roots(function), *called]))


def _roots(function: Callable[..., Any]) -> Iterator[Layer]:
    for value in _values_in_reach(function):
        items = value if isinstance(value, (list, tuple)) else value.values() if isinstance(value, dict) else (value,)
        yield from (item for item in items if isinstance(item, Layer))


def _values_in_reach(function: Callable[..., Any]) -> Iterator[Any]:
    owner = bound_to(function)
    yield owner
    if not isinstance(owner, Layer):
        yield from list(getattr(owner, "__dict__", {}).values())
    plain = inspect.unwrap(unbound(function))
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
