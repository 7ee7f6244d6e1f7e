"""What makes a quanter for each Layer, with arguments given before."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from ..eager.layer import Layer

C = TypeVar("C", bound=type)


class QuanterFactory:
    """Makes quanters of one class. Subclasses say which: `_get_class`. Source: paddle.quantization.factory."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args
        self.kwargs = kwargs

    def _get_class(self) -> Any:
        raise NotImplementedError("a QuanterFactory needs _get_class()")

    def _instance(self, layer: Layer) -> Any:
        """A new quanter for the Layer."""
        return self._get_class()(layer, *self.args, **self.kwargs)

    def __repr__(self) -> str:
        given = [*map(str, self.args), *(f"{name}={value}" for name, value in self.kwargs.items())]
        return f"{type(self).__name__}({','.join(given)})"


ObserverFactory = QuanterFactory


def quanter(class_name: str) -> Callable[[C], C]:
    """Declares a factory of quanters: the class behind it gets one, named so, in its own module.

    The class's `__init__` takes the Layer first, then what the factory was given. Source: paddle.quantization.quanter.

    Example:
        >>> import vitrify as paddle
        >>> @paddle.quantization.quanter("Halves")
        ... class HalvesLayer(paddle.quantization.BaseQuanter):
        ...     def __init__(self, layer, part=0.5):
        ...         super().__init__()
        ...         self.part = part
        ...     def forward(self, x):
        ...         return x * self.part
        >>> HalvesLayer.factory(part=0.25)
        Halves(part=0.25)
    """

    def declare(made: C) -> C:
        namespace = {"_get_class": lambda self: made, "__module__": made.__module__, "__doc__": made.__doc__}
        factory = type(class_name, (QuanterFactory,), namespace)
        made.factory = factory  # type: ignore[attr-defined]
        vars(sys.modules[made.__module__])[class_name] = factory
        return made

    return declare
