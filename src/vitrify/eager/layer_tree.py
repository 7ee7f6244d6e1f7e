"""The tree of Layers: parameters, buffers and sublayers as attributes, and the walks over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..core.epoch import LAYER_ATTRIBUTES, LAYER_MODES
from ..core.errors import ArgumentError, DTypeError
from ..ops.methods import TensorMethods
from .parameter import Parameter
from .tensor import Tensor

if TYPE_CHECKING:
    from .layer import Layer

_TABLES = ("_parameters", "_sub_layers", "_buffers")
_OF_PROGRAMS = ("training", "forward")
"""Plain attributes that every program with the Layer depends on (`jit/reach.py`)."""


class DuplicateNameError(ArgumentError, KeyError):
    """A parameter, buffer or sublayer of that name cannot be added."""

    __str__ = ArgumentError.__str__


def is_parameter(value: Any) -> bool:
    """Whether the value is a Parameter, or a parameter of a program written by hand."""
    return isinstance(value, Parameter) or bool(getattr(value, "is_parameter", False))


class LayerTree:
    """Attributes that are Parameters, Tensors and Layers, kept in one table each.

    Fields: `_parameters`, `_sub_layers` and `_buffers`, by attribute name in the order of assignment; an entry may be
    None. `_non_persistable_buffer_names_set`: the buffers that state_dict leaves out.
    """

    _parameters: dict[str, Parameter | None]
    _sub_layers: dict[str, Layer | None]
    _buffers: dict[str, Tensor | None]
    _non_persistable_buffer_names_set: set[str]

    def _make_tables(self) -> None:
        for table in _TABLES:
            object.__setattr__(self, table, {})
        object.__setattr__(self, "_non_persistable_buffer_names_set", set())

    # -- attributes -------------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:  # reached only for what is no ordinary attribute
        fields = self.__dict__
        for table in _TABLES:
            held = fields.get(table)
            if held is not None and name in held:
                return held[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, (TensorMethods, LayerTree)):
            _check_initialized(self)
        elif not self._is_in_table(name):
            object.__setattr__(self, name, value)
            LAYER_ATTRIBUTES.bump()
            if name in _OF_PROGRAMS:
                LAYER_MODES.bump()
            return
        if isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        elif is_parameter(value):
            self._put("_parameters", name, value)
        elif isinstance(value, LayerTree):
            self._put("_sub_layers", name, value)
        else:
            self._set_entry(name, value)

    def _is_in_table(self, name: str) -> bool:
        fields = self.__dict__
        return any(name in fields.get(table, ()) for table in _TABLES)

    def _put(self, table: str, name: str, value: Any) -> None:
        """Enter `value` in one table, and take the name out of everything else."""
        if self.__dict__.pop(name, None) is not None:
            LAYER_ATTRIBUTES.bump()
        for other in _TABLES:
            if other != table:
                self.__dict__[other].pop(name, None)
        self.__dict__[table][name] = value
        LAYER_MODES.bump()

    def _set_entry(self, name: str, value: Any) -> None:
        """Assign what is neither Parameter nor Layer to a name, which may be one of them."""
        if name in self._buffers:
            self._set_buffer(name, value)
        elif name in self._parameters or name in self._sub_layers:
            table, kind = (self._parameters, "Parameter") if name in self._parameters else (self._sub_layers, "Layer")
            if value is not None:
                given = "Tensor" if isinstance(value, TensorMethods) else type(value).__name__
                raise DTypeError(f"assignment to {name!r} should be a {kind} or None, but got {given}")
            table[name] = None
            LAYER_MODES.bump()
        elif isinstance(value, Tensor):
            self._put("_buffers", name, value)
            self._non_persistable_buffer_names_set.add(name)
        else:
            object.__setattr__(self, name, value)
            LAYER_ATTRIBUTES.bump()

    def _set_buffer(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, TensorMethods):
            raise DTypeError(f"assignment to buffer {name!r} should be a Tensor or None, not {type(value).__name__}")
        held = self._buffers[name]
        if held is not None and isinstance(value, TensorMethods) and not isinstance(value, Tensor):
            held._assign_variable(value)  # a program is being built: the buffer means the variable from here on
        else:
            self._buffers[name] = value  # type: ignore[assignment]
            LAYER_MODES.bump()

    def __delattr__(self, name: str) -> None:
        for table in _TABLES:
            if name in self.__dict__.get(table, ()):
                del self.__dict__[table][name]
                LAYER_MODES.bump()
                self._non_persistable_buffer_names_set.discard(name)
                return
        object.__delattr__(self, name)
        LAYER_ATTRIBUTES.bump()
        if name in _OF_PROGRAMS:
            LAYER_MODES.bump()

    def __dir__(self) -> list[str]:
        tables = [name for table in _TABLES for name in self.__dict__.get(table, ())]
        return sorted({*super().__dir__(), *tables})

    # -- adding -----------------------------------------------------------------------------------------------------

    def add_sublayer(self, name: str, sublayer: Layer | None) -> Layer | None:
        """Make `sublayer` an attribute called `name` and return it; None leaves the place open.

        Raises DTypeError for anything else. Source: paddle.nn.Layer.add_sublayer.
        """
        if sublayer is not None and not isinstance(sublayer, LayerTree):
            raise DTypeError(f"add_sublayer: {name!r} should be a Layer, but got {type(sublayer).__name__}")
        self._put("_sub_layers", str(name), sublayer)
        return sublayer

    def add_parameter(self, name: str, parameter: Parameter | None) -> Parameter | None:
        """Make `parameter` an attribute called `name` and return it; None leaves the place open.

        Raises DTypeError for anything else, DuplicateNameError for a name that is taken or contains a dot.
        """
        self._check_new_name("parameter", name, "_parameters")
        if parameter is not None and not is_parameter(parameter):
            raise DTypeError(f"add_parameter: {name!r} should be a Parameter, but got {type(parameter).__name__}")
        self._put("_parameters", name, parameter)
        return parameter

    def register_buffer(self, name: str, tensor: Tensor | None, persistable: bool = True) -> None:
        """Make `tensor` an attribute called `name` that optimizers leave alone; in state_dict if `persistable`.

        Raises DTypeError for anything but a Tensor or None, DuplicateNameError for a name that is taken or has a dot.
        """
        self._check_new_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, TensorMethods):
            raise DTypeError(f"register_buffer: {name!r} should be a Tensor, but got {type(tensor).__name__}")
        self._put("_buffers", name, tensor)
        keep_out = self._non_persistable_buffer_names_set
        keep_out.discard(name) if persistable else keep_out.add(name)

    def _check_new_name(self, what: str, name: str, table: str) -> None:
        _check_initialized(self)
        if not isinstance(name, str):
            raise DTypeError(f"the name of a {what} should be a string, but got {type(name).__name__}")
        if not name or "." in name:
            raise DuplicateNameError(f"{name!r} cannot name a {what}: it must be an attribute name without dots")
        if name not in self.__dict__[table] and hasattr(self, name):
            raise DuplicateNameError(f"attribute {name!r} already exists, no {what} can be added under that name")

    # -- walks ------------------------------------------------------------------------------------------------------

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        """Names and sublayers directly below, each sublayer once."""
        seen: set[int] = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and id(layer) not in seen:
                seen.add(id(layer))
                yield name, layer

    def children(self) -> Iterator[Layer]:
        """The sublayers directly below, each once."""
        return (layer for _, layer in self.named_children())

    def named_sublayers(
        self,
        prefix: str = "",
        include_self: bool = False,
        layers_set: set[Any] | None = None,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Layer]]:
        """Dotted names and all sublayers below, depth first, each sublayer once unless `remove_duplicate` is False."""
        seen = set() if layers_set is None else layers_set
        if include_self and not (remove_duplicate and self in seen):
            if remove_duplicate:
                seen.add(self)
            yield prefix, self  # type: ignore[misc]  # only Layer derives from this part
        for name, layer in self._sub_layers.items():
            if layer is not None:
                yield from layer.named_sublayers(_joined(prefix, name), True, seen, remove_duplicate)

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        """All sublayers below, each once."""
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def _named(self, table: str, prefix: str, include_sublayers: bool, once: bool) -> Iterator[tuple[str, Any]]:
        if include_sublayers:
            layers: Any = self.named_sublayers(prefix, include_self=True, remove_duplicate=once)
        else:
            layers = [(prefix, self)]
        seen: set[int] = set()
        for at, layer in layers:
            for name, held in layer.__dict__[table].items():
                if held is None or (once and id(held) in seen):
                    continue
                seen.add(id(held))
                yield _joined(at, name), held

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Dotted names and parameters, each parameter once unless `remove_duplicate` is False."""
        return self._named("_parameters", prefix, include_sublayers, remove_duplicate)

    def parameters(self, include_sublayers: bool = True) -> list[Parameter]:
        """All parameters, each once."""
        return [param for _, param in self.named_parameters(include_sublayers=include_sublayers)]

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Dotted names and buffers, each buffer once unless `remove_duplicate` is False."""
        return self._named("_buffers", prefix, include_sublayers, remove_duplicate)

    def buffers(self, include_sublayers: bool = True) -> list[Tensor]:
        """All buffers, each once."""
        return [buffer for _, buffer in self.named_buffers(include_sublayers=include_sublayers)]


def _check_initialized(layer: LayerTree) -> None:
    if "_parameters" not in layer.__dict__:
        raise ArgumentError(
            f"{type(layer).__name__}: super().__init__() should be called first",
            hint="call it at the start of __init__, before parameters and sublayers are assigned",
        )


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


__all__ = ["DuplicateNameError", "LayerTree"]
