"""Arguments of library functions that are None on one path of a tensor's decision: each path has a call of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ...eager.layer import Layer
from ...ir.builder import current_builder
from ..values.base import builder
from ..values.cases import by_cases
from ..values.optional import is_none, optional_kind
from ..values.user_errors import for_user
from .open_axes import for_axes, over_axes

Function = Callable[..., Any]


def for_either(function: Function) -> Function:
    """`function`; in a program, what calls it with and without an argument that may be None."""
    return function if current_builder() is None else partial(_call, function)


@for_user
def _call(function: Function, *args: Any, **kwargs: Any) -> Any:
    if not builder().has_optional:
        return over_axes(function, args, kwargs)
    given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
    key = next((k for k, v in given.items() if optional_kind(v) is not None and _may_leave_out(function, k)), None)
    if key is None:
        return by_cases(for_axes(function), args, kwargs)
    without = {**given, key: None}
    return builder().choose(
        is_none(given[key]),
        lambda: _again(function, len(args), without),
        lambda: _call(function, *args, **kwargs),  # on that path it is known not to be None
        f"{getattr(function, '__name__', type(function).__name__)}()",
    )


def _again(function: Function, count: int, given: Mapping[Any, Any]) -> Any:
    named = {key: value for key, value in given.items() if isinstance(key, str)}
    return _call(function, *[given[i] for i in range(count)], **named)


def _may_leave_out(function: Function, key: int | str) -> bool:
    """Whether None says that the argument, by its position or name, is not given."""
    called: Any = function.forward if isinstance(function, Layer) else function
    try:
        parameters = inspect.signature(called).parameters
    except (TypeError, ValueError):
        return False
    if isinstance(key, int):
        found = list(parameters.values())[key : key + 1]
        return bool(found) and found[0].kind is not found[0].VAR_POSITIONAL and found[0].default is None
    return key in parameters and parameters[key].default is None
