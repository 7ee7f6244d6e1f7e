"""Other names for parameters: PaddlePaddle 3.3 takes `input`, `dim` and `other`, as PyTorch code says, as its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from .errors import ArgumentError

F = TypeVar("F", bound=Callable[..., Any])
_OTHER_NAMES = "other_names"


def aliased(**names: str) -> Callable[[F], F]:
    """A decorator: the function takes its parameters by these other names, too, separated by spaces.

    Raises ArgumentError for a parameter that is given by two names.

    Example:
        >>> @aliased(axis="dim")
        ... def total(x, axis=0):
        ...     return axis
        >>> total([], dim=1)
        1
    """
    own = {alias: name for name, aliases in names.items() for alias in aliases.split()}

    def decorate(fn: F) -> F:
        @wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            return fn(*args, **_by_own_names(kwargs, own)) if kwargs else fn(*args)

        call.__dict__[_OTHER_NAMES] = own
        return call  # type: ignore[return-value]

    return decorate


def first_names(fn: Callable[..., Any]) -> tuple[str, ...]:
    """The names that the first parameter of `fn` is given by, its own first.

    Example:
        >>> @aliased(x="input")
        ... def total(x, axis=0):
        ...     return axis
        >>> first_names(total)
        ('x', 'input')
    """
    first = next(iter(inspect.signature(fn).parameters), "x")
    others: dict[str, str] = getattr(fn, _OTHER_NAMES, {})
    return (first, *(alias for alias, name in others.items() if name == first))


def dim_first(other: Callable[..., Any]) -> Callable[[F], F]:
    """A decorator: a call `fn(input, dim, index, ...)`, PyTorch's form, whose `dim` is an int, is one of `other`."""

    def decorate(fn: F) -> F:
        @wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            if "dim" in kwargs or (len(args) > 1 and isinstance(args[1], int)):
                return other(*args, **kwargs)
            return fn(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate


def _by_own_names(kwargs: dict[str, Any], own: dict[str, str]) -> dict[str, Any]:
    if own.keys().isdisjoint(kwargs):
        return kwargs
    for alias, name in own.items():
        if alias in kwargs:
            if name in kwargs:
                raise ArgumentError(f"{name!r} is given a second time, by its other name {alias!r}")
            kwargs[name] = kwargs.pop(alias)
    return kwargs
