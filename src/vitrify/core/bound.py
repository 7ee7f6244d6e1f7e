"""What values hold, found without running code of the user's: a `__getattr__` may raise, or do, what it likes."""

from __future__ import annotations

from typing import Any


def plain_attribute(value: Any, name: str, default: Any = None) -> Any:
    """`getattr` that does not ask the `__getattr__` of the value's class.

    >>> class Settings(dict):
    ...     def __getattr__(self, name):
    ...         return self[name]
    >>> plain_attribute(Settings(), "__name__"), plain_attribute(len, "__name__")
    (None, 'len')
    """
    if not hasattr(type(value), "__getattr__"):
        return getattr(value, name, default)
    try:
        return object.__getattribute__(value, name)
    except AttributeError:
        return default


def bound_to(value: Any, default: Any = None) -> Any:
    """The object that a method or builtin function belongs to, `default` for anything else.

    >>> bound_to([1].append), bound_to(list)
    ([1], None)
    """
    return plain_attribute(value, "__self__", default)


def unbound(value: Any) -> Any:
    """The function of a method; anything else as it is.

    >>> unbound(bound_to) is bound_to
    True
    """
    return plain_attribute(value, "__func__", value)


__all__ = ["bound_to", "plain_attribute", "unbound"]
