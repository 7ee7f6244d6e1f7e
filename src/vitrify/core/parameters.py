"""The names of a function's parameters, read off its code."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

Names = tuple[tuple[str, ...], str | None, tuple[str, ...]]


def parameter_names(fn: Callable[..., Any]) -> Names:
    """The positional parameters, that of `*args` or None, and the keyword-only ones.

    `inspect.signature` says the same, twenty times as slowly: hundreds of ops are defined in a process's first moments.

    >>> parameter_names(lambda x, *rest, axis=0: x)
    (('x',), 'rest', ('axis',))
    """
    if type(fn) is not FunctionType or fn.__dict__:  # another class, or it says that it stands for something else
        return _by_signature(fn)
    code = fn.__code__
    names, count = code.co_varnames, code.co_argcount
    end = count + code.co_kwonlyargcount
    return names[:count], names[end] if code.co_flags & inspect.CO_VARARGS else None, names[count:end]


def _by_signature(fn: Callable[..., Any]) -> Names:
    found = inspect.signature(fn).parameters.values()
    return (
        tuple(p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)),
        next((p.name for p in found if p.kind is p.VAR_POSITIONAL), None),
        tuple(p.name for p in found if p.kind is p.KEYWORD_ONLY),
    )
