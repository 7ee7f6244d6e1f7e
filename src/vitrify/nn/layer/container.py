"""Containers: Layers and Parameters held in sequence or by name."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...core.converted_too import converted_too
from ...core.epoch import LAYER_MODES
from ...core.errors import ArgumentError, DTypeError, IndexRangeError
from ...eager.layer import Layer
from ...eager.parameter import Parameter


def _position(owner: Any, index: Any, size: int, extra: int = 0) -> int:
    """`index` counted from the front; raises IndexRangeError outside."""
    at: int = operator.index(index)
    if not -size <= at < size + extra:
        raise IndexRangeError(f"{type(owner).__name__}: index {at} is out of range for {size} entries")
    return at + size if at < 0 else at


class _Listed(Layer):
    """Sublayers in order, named by their position unless they were given a name."""

    def _entries(self) -> list[tuple[str, Any]]:
        return list(self._sub_layers.items())

    def _rebuild(self, entries: Iterable[tuple[str, Any]]) -> None:
        """Hold `entries` instead; names that are numbers become the new positions."""
        self._sub_layers.clear()
        LAYER_MODES.bump()
        for position, (name, layer) in enumerate(entries):
            self.add_sublayer(str(position) if name.isdigit() else name, layer)

    def _fresh(self, layers: Iterable[Any]) -> Any:
        """A new container of the same class."""
        raise NotImplementedError

    def __getitem__(self, index: Any) -> Any:
        layers = list(self._sub_layers.values())
        if isinstance(index, slice):
            return self._fresh(layers[index])
        if isinstance(index, str):
            return self._sub_layers[index]
        return layers[_position(self, index, len(layers))]

    def __setitem__(self, index: Any, layer: Layer) -> None:
        if isinstance(index, str):
            self.add_sublayer(index, layer)
            return
        entries = self._entries()
        name, _ = entries[_position(self, index, len(entries))]
        self.add_sublayer(name, layer)

    def __delitem__(self, index: Any) -> None:
        entries = self._entries()
        if isinstance(index, slice):
            del entries[index]
        elif isinstance(index, str):
            entries = [(name, layer) for name, layer in entries if name != index]
        else:
            del entries[_position(self, index, len(entries))]
        self._rebuild(entries)

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._sub_layers.values())

    def append(self, sublayer: Layer) -> Any:
        """Add at the end; returns the container."""
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def extend(self, sublayers: Iterable[Layer]) -> Any:
        """Add all at the end; returns the container."""
        for layer in list(sublayers):
            self.append(layer)
        return self

    def insert(self, index: int, sublayer: Layer) -> Any:
        """Add before position `index`; returns nothing, unlike that of a Sequential. Raises IndexRangeError outside."""
        entries = self._entries()
        entries.insert(_position(self, index, len(entries), extra=1), ("0", sublayer))
        self._rebuild(entries)

    def pop(self, key: int | slice) -> Any:
        """Take out and return the Layer at `key`."""
        taken = self[key]
        del self[key]
        return taken


class Sequential(_Listed):
    """Layers called one after the other: given as Layers, as (name, Layer) pairs or as one list of either.

    Raises DTypeError for what is no Layer, IndexRangeError where one that is not there is asked for.
    Source: paddle.nn.Sequential.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 2))
        >>> net(paddle.ones([3, 4])).shape
        paddle.Size([3, 2])
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        given = layers
        if len(layers) == 1 and isinstance(layers[0], (list, Mapping)):
            given = tuple(layers[0].items() if isinstance(layers[0], Mapping) else layers[0])
        for position, entry in enumerate(given):
            name, layer = entry if isinstance(entry, (tuple, list)) else (str(position), entry)
            self.add_sublayer(str(name), layer)

    def append(self, module: Layer) -> Any:
        """Add at the end; returns the container."""
        return super().append(module)

    def insert(self, index: int, module: Layer) -> Any:
        """Add before position `index`; returns the container. Raises IndexRangeError outside."""
        super().insert(index, module)
        return self

    def extend(self, sequential: Iterable[Layer]) -> Any:
        """Add all at the end; returns the container."""
        return super().extend(sequential)

    def _fresh(self, layers: Iterable[Any]) -> Sequential:
        return Sequential(*layers)

    @converted_too
    def forward(self, input: Any) -> Any:
        """What the last Layer makes of what the one before makes of ... the input."""
        for layer in self._sub_layers.values():
            input = layer(input)  # type: ignore[misc]
        return input


class LayerList(_Listed):
    """Sublayers in a list, for a forward that indexes or iterates. Source: paddle.nn.LayerList.

    Raises DTypeError for what is no Layer, IndexRangeError where one that is not there is asked for.

    Example:
        >>> import vitrify as paddle
        >>> layers = paddle.nn.LayerList([paddle.nn.Linear(2, 2) for _ in range(3)])
        >>> len(layers), layers[-1].weight.shape
        (3, paddle.Size([2, 2]))
    """

    def __init__(self, sublayers: Iterable[Layer] | None = None) -> None:
        super().__init__()
        self.extend(sublayers or ())

    def _fresh(self, layers: Iterable[Any]) -> LayerList:
        return LayerList(layers)

    def __iadd__(self, sublayers: Iterable[Layer]) -> LayerList:
        self.extend(sublayers)
        return self

    def __add__(self, other: Iterable[Layer]) -> LayerList:
        return LayerList([*self, *other])


class LayerDict(Layer):
    """Sublayers by name, in the order they were added. Source: paddle.nn.LayerDict.

    Example:
        >>> import vitrify as paddle
        >>> layers = paddle.nn.LayerDict({"linear": paddle.nn.Linear(2, 3), "act": paddle.nn.ReLU()})
        >>> layers["linear"](paddle.ones([1, 2])).shape
        paddle.Size([1, 3])
        >>> list(layers.keys()), "act" in layers
        (['linear', 'act'], True)
    """

    def __init__(self, sublayers: Any = None) -> None:
        super().__init__()
        if sublayers is not None:
            self.update(sublayers)

    def __getitem__(self, key: str) -> Any:
        return self._sub_layers[key]

    def __setitem__(self, key: str, sublayer: Layer) -> None:
        self.add_sublayer(key, sublayer)

    def __delitem__(self, key: str) -> None:
        del self._sub_layers[key]
        LAYER_MODES.bump()

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sub_layers)

    def __contains__(self, key: object) -> bool:
        return key in self._sub_layers

    def clear(self) -> None:
        """Remove all."""
        self._sub_layers.clear()
        LAYER_MODES.bump()

    def pop(self, key: str) -> Any:
        """Take out and return the Layer called `key`."""
        taken = self[key]
        del self[key]
        return taken

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._sub_layers.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and Layers."""
        return self._sub_layers.items()

    def values(self) -> Iterable[Any]:
        """The Layers."""
        return self._sub_layers.values()

    def update(self, sublayers: Any) -> None:
        """Add or replace Layers from a mapping or from (name, Layer) pairs; raises DTypeError for anything else."""
        for name, layer in _pairs(self, sublayers):
            self.add_sublayer(name, layer)


class ParameterList(Layer):
    """Parameters in a list. Source: paddle.nn.ParameterList.

    Example:
        >>> import vitrify as paddle
        >>> parameters = paddle.nn.ParameterList([paddle.create_parameter([2], "float32")])
        >>> len(parameters), parameters[0].shape
        (1, paddle.Size([2]))
    """

    def __init__(self, parameters: Iterable[Parameter] | None = None) -> None:
        super().__init__()
        for param in parameters or ():
            self.append(param)

    def __getitem__(self, index: Any) -> Any:
        params = list(self._parameters.values())
        if isinstance(index, slice):
            return ParameterList(param for param in params[index] if param is not None)
        return params[_position(self, index, len(params))]

    def __setitem__(self, index: Any, param: Parameter) -> None:
        self.add_parameter(str(_position(self, index, len(self))), param)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def append(self, parameter: Parameter) -> ParameterList:
        """Add at the end; returns the list."""
        self.add_parameter(str(len(self)), parameter)
        return self


class ParameterDict(Layer):
    """Parameters by name. Source: paddle.nn.ParameterDict.

    Example:
        >>> import vitrify as paddle
        >>> parameters = paddle.nn.ParameterDict({"scale": paddle.create_parameter([2], "float32")})
        >>> parameters["scale"].shape
        paddle.Size([2])
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return self._parameters[key]

    def __setitem__(self, key: str, param: Parameter) -> None:
        self.add_parameter(key, param)

    def __delitem__(self, key: str) -> None:
        del self._parameters[key]

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __contains__(self, key: object) -> bool:
        return key in self._parameters

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._parameters.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and Parameters."""
        return self._parameters.items()

    def values(self) -> Iterable[Any]:
        """The Parameters."""
        return self._parameters.values()

    def update(self, parameters: Any) -> None:
        """Add or replace Parameters from a mapping or from (name, Parameter) pairs; raises DTypeError otherwise."""
        for name, param in _pairs(self, parameters):
            self.add_parameter(name, param)


def _pairs(owner: Any, given: Any) -> list[tuple[str, Any]]:
    """(name, entry) pairs of a mapping, of another container, or of a list of pairs."""
    if isinstance(given, (Mapping, LayerDict, ParameterDict)):
        return list(given.items())
    if not isinstance(given, Iterable):
        raise DTypeError(f"{type(owner).__name__}.update: expects a mapping or pairs, got {type(given).__name__}")
    pairs = [tuple(entry) for entry in given]
    if any(len(pair) != 2 for pair in pairs):
        raise ArgumentError(f"{type(owner).__name__}.update: expects pairs of a name and an entry")
    return pairs


__all__ = ["LayerDict", "LayerList", "ParameterDict", "ParameterList", "Sequential"]
