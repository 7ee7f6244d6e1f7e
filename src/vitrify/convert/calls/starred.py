"""`f(*values)` where only the program knows how many values there are: the `*rest` of `f` is a tuple of any length."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

from ...core.errors import UnsupportedError
from ...core.pytree import is_open
from ..containers.displays import Spread
from ..containers.tuples import GraphTuple
from ..control.recursion import entered
from ..values.user_code import is_user_code
from ..values.user_errors import for_user
from .starred_builtins import STARRED_BUILTINS, together


class StarredCalls:
    """Calls with stars, written `vt.convert_starred(f)(a, vt.spread(values), ...)`.

    convert: gives what a call calls. convert_plain: the converted form of a function of the user's.
    """

    def __init__(self, convert: Callable[[Any], Any], convert_plain: Callable[[FunctionType], FunctionType]) -> None:
        self.convert = convert
        self.convert_plain = convert_plain

    def __call__(self, function: Any) -> Callable[..., Any]:
        """What takes the arguments of a call of `function`, those behind stars as they are."""
        return partial(self._call, function)

    def _call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        opened = next((i for i, arg in enumerate(args) if isinstance(arg, Spread) and is_open(arg.values)), None)
        if opened is None:
            called = self.convert(function)
            for arg in args:
                if isinstance(arg, Spread) and not _has_items(arg.values):
                    return called(*arg.values)  # Python says what is wrong
            return _called(called, function, _together(args), kwargs)
        known, rest = _together(args[:opened]), args[opened:]
        builtin = STARRED_BUILTINS.get(function) if isinstance(function, _IN_C) else None
        if builtin is not None:
            return builtin((*known, *rest), len(known) + sum(not isinstance(arg, Spread) for arg in rest), **kwargs)
        plain = function.__func__ if isinstance(function, MethodType) else function
        if not isinstance(plain, FunctionType) or not is_user_code(plain):
            raise _refused(function, "it is no function of yours")
        if isinstance(function, MethodType):
            known = (function.__self__, *known)
        taker = _with_rest_by_name(self.convert_plain(plain))
        if taker is None:
            raise _refused(function, "it has no parameter such as `*rest`, which takes any number of them")
        form, count, name = taker
        if len(known) < count:
            raise _refused(function, "its first parameters may be among them")
        values = GraphTuple(together((*known[count:], *rest)))
        return entered(form)(*known[:count], **{name: values}, **kwargs)


@for_user
def _called(called: Callable[..., Any], function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What a call of `function` gives, in whose place `called` is called; whether its arguments fit can be told."""
    return called(*args, **kwargs)


_IN_C = (BuiltinFunctionType, type)


def _has_items(value: Any) -> bool:
    return hasattr(type(value), "__iter__") or hasattr(type(value), "__getitem__")


def _together(args: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([item for arg in args for item in (arg.values if isinstance(arg, Spread) else (arg,))])


def _with_rest_by_name(function: FunctionType) -> tuple[FunctionType, int, str] | None:
    """The function taking its `*rest` as an argument of that name, how many it takes by position, and that name."""
    code = function.__code__
    if not code.co_flags & inspect.CO_VARARGS:
        return None
    named = _by_name(code)
    form = FunctionType(named, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    form.__kwdefaults__ = function.__kwdefaults__
    form.__qualname__, form.__module__ = function.__qualname__, function.__module__
    form.__dict__.update(function.__dict__)
    return form, code.co_argcount, code.co_varnames[code.co_argcount + code.co_kwonlyargcount]


@lru_cache(maxsize=256)
def _by_name(code: CodeType) -> CodeType:
    """The code with its `*rest` as one more argument that is given by name: `*rest` lies behind those in any case."""
    return code.replace(co_flags=code.co_flags & ~inspect.CO_VARARGS, co_kwonlyargcount=code.co_kwonlyargcount + 1)


def _refused(function: Any, why: str) -> UnsupportedError:
    name = getattr(function, "__qualname__", type(function).__name__).rpartition("<locals>.")[2]
    return UnsupportedError(
        f"`{name}` called with *values, whose number is known only when the program runs: {why}",
        hint="pass the list itself, or let the function have a parameter such as `*values`",
    )


__all__ = ["StarredCalls"]
