"""Calls of library functions, which run while a program is built and know nothing of values that are not there yet."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core.errors import UnknownValueError, VitrifyError
from ..ir.builder import current_builder
from .deferred import holds_deferred


def of_library(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`; where it cannot take what is known only when the program runs, the error says so."""
    if current_builder() is None or (function.__module__ or "").partition(".")[0] == "vitrify":
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, AttributeError) as err:
            if isinstance(err, VitrifyError) or not holds_deferred((args, kwargs)):
                raise
            raise _needs_now(function) from err

    return call


def _needs_now(function: Callable[..., Any]) -> UnknownValueError:
    name = f"{function.__module__}.{function.__qualname__}"
    return UnknownValueError(
        f"{name}() needs a value or text made of tensors, which is known only when the program runs",
        hint="call it on what the function returns, or convert with full_graph=False, which runs this as Python",
    )
