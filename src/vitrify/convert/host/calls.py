"""Library calls that must happen when the program runs: NumPy and SciPy on its values, logging and warnings."""

from __future__ import annotations

import io
import logging
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...core.bound import bound_to, plain_attribute
from ...core.dtype import is_dtype
from ...eager.host_expr import FUNCTIONS
from ...eager.host_ops import effect_op
from ...eager.tensor import Tensor
from ...ir.builder import current_builder
from ..guards.array_sites import is_array_site
from ..guards.unmerged import is_made, made, refuse_targets
from ..values.base import builder
from ..values.deferred import Call, captured, holds_deferred, record
from .value import array_of, host_call, list_of

HOST_LIBRARIES = frozenset({"numpy", "scipy", "math", "cmath", "statistics"})
_LOGGING = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log"})
FUNCTIONS["stdout"] = lambda method, *args: getattr(sys.stdout, method)(*args)
FUNCTIONS["stderr"] = lambda method, *args: getattr(sys.stderr, method)(*args)


def host_form(function: Any) -> Callable[..., Any] | None:
    """What stands for a library function in a call while a program is built; None where it is called as it is."""
    if current_builder() is None:
        return None
    if _is_effect(function):
        return partial(call_later, function)
    owner = bound_to(function)
    if isinstance(owner, Tensor):
        return _method_of_tensor(owner, function.__name__)
    module = plain_attribute(function, "__module__") or type(function).__module__
    is_host = isinstance(module, str) and module.partition(".")[0] in HOST_LIBRARIES
    return partial(_on_host, function) if is_host and callable(function) else None


def _on_host(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if not holds_deferred(args) and not holds_deferred(kwargs):
        refuse_targets(function, args, kwargs)
        return _made(function, args, kwargs)
    return host_call(function, *args, **kwargs)


def _made(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a library function gives for values of Python's; an array that the program writes to is one of its own."""
    if is_array_site():
        value = function(*args, **kwargs)
        return array_of(builder().value(value)) if _is_own(value) else value
    return made(function, *args, **kwargs)


def _is_own(value: Any) -> bool:
    """Whether it is an array in memory of its own, of a dtype that tensors have."""
    return type(value) is np.ndarray and value.base is None and is_dtype(value.dtype)


def _method_of_tensor(tensor: Tensor, name: str) -> Callable[..., Any] | None:
    """Methods by which a tensor from outside would show what it holds while the program is built."""
    if name == "item":
        method: Callable[..., Any] = builder().value(tensor).item
        return method
    return {"numpy": partial(array_of, tensor), "tolist": partial(list_of, tensor)}.get(name)


def _is_effect(function: Any) -> bool:
    owner = bound_to(function)
    name = plain_attribute(function, "__name__", "")
    is_logger = isinstance(owner, (logging.Logger, logging.LoggerAdapter))
    if is_logger or plain_attribute(function, "__module__") == "logging":
        return name in _LOGGING
    if name in ("write", "flush", "writelines"):
        return owner is sys.stdout or owner is sys.stderr or (isinstance(owner, io.StringIO) and not is_made(owner))
    return function is warnings.warn


def call_later(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Record the call; what it returns is not there."""
    owner = bound_to(function)
    node = Call(function, tuple(map(captured, args)), {name: captured(v) for name, v in kwargs.items()})
    if owner is sys.stdout or owner is sys.stderr:
        stream = "stdout" if owner is sys.stdout else "stderr"
        node = Call(stream, (function.__name__, *node.args), node.keywords)
    record(effect_op, call=node)
    return None
