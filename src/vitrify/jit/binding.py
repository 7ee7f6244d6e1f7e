"""How static functions are methods: bound to instances and classes, each with programs of its own; copied, pickled."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from ..runtime.options import ExecutionOptions

F = TypeVar("F", bound="Binding")


class Binding:
    """A function that classes may have as a method; what it is made of are the arguments of its constructor."""

    def __init__(
        self, function: Callable[..., Any], input_spec: Any, instance: Any, full_graph: bool, options: ExecutionOptions
    ) -> None:
        self._function = function
        self._instance = instance
        self._input_spec = input_spec
        self._full_graph = full_graph
        self._options = options
        self._eager: Callable[..., Any] = function if instance is None else function.__get__(instance)
        self._of_classes: WeakKeyDictionary[type, Any] = WeakKeyDictionary()
        self._owner: type | None = None
        self._attribute: str | None = None

    @property
    def dygraph_function(self) -> Callable[..., Any]:
        """The eager function."""
        return self._eager

    def __set_name__(self, owner: type, name: str) -> None:
        if self._attribute is None:
            self._owner, self._attribute = owner, name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        if isinstance(instance, type):  # a classmethod asks on behalf of its class
            return self._of_class(instance)
        held = getattr(instance, "__dict__", None)
        if held is None:  # nowhere to keep programs: the instance becomes an argument like others
            return MethodType(cast(Callable[..., Any], self), instance)
        name = self._attribute or self._function.__name__
        if getattr(type(instance), name, None) is not self:  # by way of super()
            name = f"{self._function.__qualname__} of {id(self)}"
            if name in held:
                return held[name]
        # Kept where the next attribute lookup finds it without coming here.
        held[name] = bound = self._bound_to(instance)
        bound._owner, bound._attribute = self._owner, self._attribute
        return bound

    def _of_class(self: F, owner: type) -> F:
        """The function bound to a class, kept beside it."""
        bound = self._of_classes.get(owner)
        if bound is None:
            bound = self._of_classes[owner] = self._bound_to(owner)
        return bound

    def _bound_to(self: F, instance: Any) -> F:
        """The same function bound to an instance or class, with programs of its own."""
        bound: F = _bound_again(type(self), self._function, self._input_spec, instance, self._full_graph, self._options)
        return bound

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if self._instance is None:
            return self
        instance = memo.get(id(self._instance), self._instance)
        return self._bound_to(instance)

    def __reduce__(self) -> Any:
        """Pickles hold where the function is found and what it is bound to, never programs."""
        if self._owner is not None:
            return _found_again, (self._owner, self._attribute, self._instance)
        if self._instance is not None:
            rest = self._function, self._input_spec, self._instance, self._full_graph, self._options
            return _bound_again, (type(self), *rest)
        return self._function.__qualname__

    def rollback(self) -> Callable[..., Any]:
        """The eager function; on a Layer, `forward` becomes eager again."""
        instance = self._instance
        name = self._attribute or self._function.__name__
        if instance is not None and instance.__dict__.get(name) is self:
            del instance.__dict__[name]
            if isinstance(getattr(type(instance), name, None), Binding):
                instance.__dict__[name] = self._eager
        return self._eager


def _found_again(owner: type, attribute: str, instance: Any) -> Any:
    found = getattr(owner, attribute)
    return found if instance is None else found.__get__(instance)


def _bound_again(
    kind: Any, function: Any, input_spec: Any, instance: Any, full_graph: bool, options: ExecutionOptions
) -> Any:
    return kind(function, input_spec, instance=instance, full_graph=full_graph, options=options)
