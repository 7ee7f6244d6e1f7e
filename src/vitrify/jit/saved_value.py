"""Methods of Layers that give plain data, which `jit.save` keeps: `to_static(property=True)`."""

from __future__ import annotations

from types import MethodType
from typing import Any


class SavedValue:
    """A method, or a property, of which `jit.save` keeps what it gives. It runs as the Python that it is.

    Example:
        >>> import vitrify as paddle
        >>> class Classifier(paddle.nn.Linear):
        ...     @paddle.jit.to_static(property=True)
        ...     def labels(self):
        ...         return ["cat", "dog"]
        >>> paddle.jit.save(Classifier(4, 2), "/tmp/vitrify_cats", input_spec=[paddle.static.InputSpec([None, 4])])
        >>> paddle.jit.load("/tmp/vitrify_cats").labels()
        ['cat', 'dog']
    """

    def __init__(self, function: Any) -> None:
        self.function = function
        self.__name__ = getattr(function, "__name__", "") or getattr(getattr(function, "fget", None), "__name__", "")
        self.__doc__ = function.__doc__

    @property
    def is_called(self) -> bool:
        """Whether users call it: a property is read."""
        return not isinstance(self.function, property)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return MethodType(self.function, instance) if self.is_called else self.function.__get__(instance, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def value(self, layer: Any) -> Any:
        """What it gives of this Layer."""
        found = self.__get__(layer, type(layer))
        return found() if self.is_called else found
