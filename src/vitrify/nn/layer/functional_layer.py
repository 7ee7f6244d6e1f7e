"""Layers that are one function with its settings: `layer_of` makes the class from a line of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import BoundArguments, Parameter, Signature
from types import MappingProxyType
from typing import Any

from ...core.modes import recorder
from ...core.pytree import all_leaves
from ...eager.layer import Layer
from ...ops.arguments import is_unknown
from .examples import example_of

REQUIRED: Any = Parameter.empty
_POSITIONAL = Parameter.POSITIONAL_OR_KEYWORD
_NONE: Mapping[str, Any] = MappingProxyType({})


class FunctionalLayer(Layer):
    """A Layer that hands its inputs and settings to one function."""

    _function: Callable[..., Any]
    _signature: Signature
    _shown: Sequence[str] = ()
    _told_apart: Sequence[str] = ()
    _form: str = ""
    _shows_name: bool = True
    _kinds: Mapping[str, Callable[[Any], Any]] = {}
    _otherwise: Mapping[str, str] = {}
    _trains: bool = False
    _fields: dict[str, str]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        bound = _bound(self, "__init__", self._signature, args, kwargs)
        bound.apply_defaults()
        for name, field in self._fields.items():
            value = bound.arguments[name]
            if value is None and name in self._otherwise:
                value = bound.arguments[self._otherwise[name]]
            setattr(self, field, self._kinds[name](value) if name in self._kinds else value)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """The function's value."""
        settings = {name: getattr(self, field) for name, field in self._fields.items() if name != "name"}
        if self._trains:
            settings["training"] = self.training
        function = type(self)._function
        building = recorder.get()
        if building is not None and any(map(is_unknown, all_leaves(settings))):  # as a user's call of the function
            function = building.with_numbers(building.convert(function))
        return function(*inputs, **{**settings, **named})

    def extra_repr(self) -> str:
        """The settings, and the name if one was given and Paddle shows it."""
        parts = [f"{shown}={getattr(self, self._fields[shown]):{self._form}}" for shown in self._shown]
        for told in self._told_apart:
            value = getattr(self, self._fields[told])
            if value != self._signature.parameters[told].default:
                parts.append(f"{told}={value}")
        name = getattr(self, self._fields["name"]) if self._shows_name and "name" in self._fields else None
        return ", ".join(parts if name is None else [*parts, f"name={name}"])


def layer_of(
    name: str,
    function: Callable[..., Any],
    *,
    module: str,
    inputs: Sequence[str] = ("x",),
    options: Mapping[str, Any] = _NONE,
    shown: Sequence[str] | None = (),
    told_apart: Sequence[str] = (),
    form: str = "",
    kinds: Mapping[str, Callable[[Any], Any]] | None = None,
    otherwise: Mapping[str, str] = _NONE,
    private: bool = True,
    named: bool = True,
    shows_name: bool = True,
    trains: bool = False,
    kept_as: Mapping[str, str] = _NONE,
    read_as: Mapping[str, str] = _NONE,
    **settings: Any,
) -> type[FunctionalLayer]:
    """The Layer class `name`, whose forward is `function(*inputs, **settings)`.

    options: what forward takes besides, with defaults: settings of the function for this call, passed on where given.
    settings: constructor parameters with their defaults (REQUIRED: none), passed on under the same names and kept as
    attributes, with a leading underscore if `private`. named: whether the constructor also takes Paddle's `name`.
    shows_name: whether `repr` shows it.
    shown: the settings that `repr` shows; None for all. told_apart: those that it shows where they are not the
    default. form: how it writes those that are shown. kinds: what settings are brought to. otherwise: the
    setting that is kept in the place of one that is None. trains: whether the function
    is told the Layer's mode. kept_as: attributes that are called otherwise than their settings.
    read_as: settings by further names that the attributes have.
    """
    defaults = {**settings, "name": None} if named else settings
    prefix = "_" if private else ""
    fields = {n: kept_as.get(n, prefix + n) for n in defaults}
    members: dict[str, Any] = {
        "__module__": module,
        "__doc__": _doc(name, function, inputs, settings, _room(module)),
        "_function": staticmethod(function),
        "_signature": Signature([Parameter(n, _POSITIONAL, default=d) for n, d in defaults.items()]),
        "_fields": fields,
        "_shown": tuple(settings) if shown is None else tuple(shown),
        "_told_apart": tuple(told_apart),
        "_form": form,
        "_kinds": kinds or {},
        "_otherwise": otherwise,
        "_shows_name": shows_name,
        "_trains": trains,
        "forward": _forward_with(inputs, options),
    }
    members |= {alias: _also(fields[setting]) for alias, setting in read_as.items()}
    cls = type(name, (FunctionalLayer,), members)
    cls.__signature__ = members["_signature"]  # type: ignore[attr-defined]  # what help() and inspect show
    return cls


def _also(field: str) -> property:
    """The attribute `field` by another name."""
    return property(lambda self: getattr(self, field), lambda self, value: setattr(self, field, value))


def _bound(
    layer: Layer, method: str, signature: Signature, args: Sequence[Any], named: Mapping[str, Any]
) -> BoundArguments:
    """The arguments by name; raises TypeError with the method, as a call of a function that Python wrote does."""
    try:
        return signature.bind(*args, **named)
    except TypeError as err:
        raise TypeError(f"{type(layer).__name__}.{method}() {err}") from None


def _forward_with(inputs: Sequence[str], options: Mapping[str, Any]) -> Callable[..., Any]:
    """`FunctionalLayer.forward` with the names of inputs and options in its signature."""
    parameters = [Parameter(n, _POSITIONAL) for n in ("self", *inputs)]
    signature = Signature([*parameters, *(Parameter(n, _POSITIONAL, default=d) for n, d in options.items())])

    def forward(self: Any, *tensors: Any, **named: Any) -> Any:
        if named or len(tensors) != len(inputs):  # the function may know its inputs by other names
            given = _bound(self, "forward", signature, (self, *tensors), named).arguments
            tensors = tuple(given[n] for n in inputs)
            named = {n: given[n] for n, default in options.items() if n in given and given[n] is not default}
        return FunctionalLayer.forward(self, *tensors, **named)

    forward.__signature__ = signature  # type: ignore[attr-defined]
    forward.__doc__ = "The function's value on the inputs."
    return forward


def _room(module: str) -> str:
    """Where users find the Layers of a module: `vitrify.nn.layer.loss` is `paddle.nn`."""
    return module.partition(".layer")[0].replace("vitrify", "paddle")


def _doc(name: str, function: Callable[..., Any], inputs: Sequence[str], settings: dict[str, Any], room: str) -> str:
    first = (function.__doc__ or f"{function.__name__} as a Layer.").strip().splitlines()[0]
    call = f"F.{function.__name__}({', '.join([*inputs, *settings])})"
    return f"{first}\n\nThe Layer of `{call}`. Source: {room}.{name}.{example_of(name, room)}"


__all__ = ["REQUIRED", "FunctionalLayer", "layer_of"]
