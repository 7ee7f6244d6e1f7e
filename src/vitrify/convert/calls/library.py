"""Calls of library functions, which run while a program is built and know nothing of values that are not there yet."""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType, ModuleType, TracebackType
from typing import Any

from ...core.bound import bound_to, plain_attribute, unbound
from ...core.errors import UnknownValueError, VitrifyError
from ...ir.builder import current_builder
from ..guards.whole import LookedInto
from ..state.journal import refuse_given
from ..values.deferred import holds_deferred
from ..values.user_code import is_user_code
from ..values.user_errors import for_user

_IN_C = (BuiltinFunctionType, MethodDescriptorType, type)
_LOOKS_AROUND = frozenset({"builtins", "sys"})  # with functions that ask who calls them
_DO_NOT = frozenset({ord, chr, bin, oct, hex, ascii})
_LEGITIMATE = (LookupError, ArithmeticError, StopIteration, VitrifyError)


def of_library(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`; where it cannot take what is known only when the program runs, the error says so."""
    if current_builder() is None or not _is_of_library(function):
        return function

    @for_user
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        refuse_given((*args, *kwargs.values()))
        with _Told(function, args, kwargs), LookedInto(function, bound_to(function, function), *args, *kwargs.values()):
            return function(*args, **kwargs)

    return call


def looks_around(function: Any) -> bool:
    """Whether the function, or a hash that it asks for, goes by who calls it: nothing may stand between."""
    owner = bound_to(function)
    if isinstance(owner, (set, frozenset, dict)):
        return True
    if isinstance(function, BuiltinFunctionType) and owner is builtins and function in _DO_NOT:
        return False
    return plain_attribute(owner, "__name__", "") in _LOOKS_AROUND


def _is_of_library(function: Callable[..., Any]) -> bool:
    module = (plain_attribute(function, "__module__") or "").partition(".")[0]
    if isinstance(function, (FunctionType, MethodType)):
        plain = unbound(function)
        return module != "vitrify" and not (isinstance(plain, FunctionType) and is_user_code(plain))
    if isinstance(function, type):  # made by C code mostly, which asks for values at once
        return module in sys.stdlib_module_names and not issubclass(function, BaseException)
    owner = bound_to(function, function)
    if isinstance(owner, ModuleType):
        return not looks_around(function)
    return type(owner).__module__ not in ("builtins", "collections")


class _Told(AbstractContextManager[None]):
    """Raises UnknownValueError in place of what a function says that was given values without a value yet."""

    def __init__(self, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self.function = function
        self.given = args, kwargs

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, tb: TracebackType | None) -> None:
        is_wrong = isinstance(err, Exception) and not isinstance(err, _LEGITIMATE)
        if is_wrong and self._is_own(err, tb) and holds_deferred(self.given):
            raise _needs_now(self.function) from err

    def _is_own(self, err: BaseException | None, tb: TracebackType | None) -> bool:
        """Whether it may be about the kind of what was given: C code itself raised it, or it is of such a class."""
        in_c = isinstance(self.function, _IN_C)
        is_raised_there = in_c and tb is not None and tb.tb_next is None
        has_callbacks = in_c and not isinstance(self.function, type)
        return is_raised_there or (isinstance(err, (TypeError, AttributeError)) and not has_callbacks)


def _needs_now(function: Callable[..., Any]) -> UnknownValueError:
    module = plain_attribute(function, "__module__") or type(bound_to(function)).__name__
    name = f"{module}.{function.__qualname__}"
    return UnknownValueError(
        f"{name}() needs a value or text made of tensors, which is known only when the program runs",
        hint="call it on what the function returns, or convert with full_graph=False, which runs this as Python",
    )
