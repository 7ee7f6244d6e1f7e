"""to_static and its switches."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from types import BuiltinFunctionType
from typing import Any

from ..convert import ignore_module, not_to_static
from ..core.bound import bound_to, unbound
from ..core.config import CODE_LEVEL, VERBOSITY
from ..core.errors import ArgumentError, DTypeError
from ..eager.layer import Layer
from ..runtime.options import DEFAULT
from ..runtime.strategy import BuildStrategy
from .function_spec import as_sequence
from .saved_value import SavedValue
from .static_function import ENABLED, StaticFunction

ALL_TRANSFORMERS = 100


def to_static(
    function: Any = None,
    input_spec: Any = None,
    build_strategy: Any = None,
    backend: str | None = None,
    *,
    full_graph: bool = False,
    **kwargs: Any,
) -> Any:
    """A function or Layer that runs as static programs, built from its own Python source on first use.

    function: a function, method, or Layer (whose `forward` is converted in place); without it, a decorator.
    input_spec: InputSpecs (nested like the arguments) that fix dtypes and which dimensions may vary. Without it a
        dimension becomes variable when a second size is seen in it.
    build_strategy: a `paddle.static.BuildStrategy`, which says how the programs run; raises DTypeError for anything
        else. Functions that a split function calls run as they do by default.
    backend: None or "CINN", for Paddle's sake: execution is chosen by the runtime. Raises ArgumentError for others.
    property: the function takes nothing but its Layer and gives plain data; `jit.save` keeps what it gives, so that a
        loaded Layer gives the same. Of Paddle's API; it runs as Python.
    full_graph: True: convert the whole function, or raise UnsupportedError naming what cannot be. False: a statement
        that cannot be converted runs as Python between compiled segments; `paddle.jit.explain` tells which and why.

    Gradients flow through the result as through eager code. Source: paddle.jit.to_static.

    Example:
        >>> import vitrify as paddle
        >>> @paddle.jit.to_static
        ... def relu_or_double(x):
        ...     if x.sum() > 0:
        ...         return x * 2
        ...     return paddle.nn.functional.relu(x)
        >>> relu_or_double(paddle.to_tensor([1.0, 2.0])).tolist()
        [2.0, 4.0]
    """
    if build_strategy is not None and not isinstance(build_strategy, BuildStrategy):
        raise DTypeError(
            f"to_static: build_strategy takes a paddle.static.BuildStrategy, got {type(build_strategy).__name__}"
        )
    if backend is not None and str(backend).upper() != "CINN":
        raise ArgumentError(f"to_static: backend must be None or 'CINN', got {backend!r}")
    if input_spec is not None:
        as_sequence(input_spec)
    if kwargs.get("property") and function is not None:
        return SavedValue(function)
    if function is None:
        return lambda fn: to_static(fn, input_spec, build_strategy, backend, full_graph=full_graph, **kwargs)
    options = DEFAULT if build_strategy is None else build_strategy.options()
    make = partial(StaticFunction, input_spec=input_spec, full_graph=full_graph, options=options)
    if isinstance(function, Layer):
        return _convert_layer(function, make)
    if isinstance(function, StaticFunction):
        return function
    if isinstance(function, (staticmethod, classmethod, property, cached_property)):
        again = partial(
            to_static, input_spec=input_spec, build_strategy=build_strategy, backend=backend, full_graph=full_graph
        )
        return _convert_descriptor(function, again)
    if not callable(function):
        raise DTypeError(f"to_static: expects a function or a Layer, got {type(function).__name__}")
    if isinstance(function, BuiltinFunctionType):
        return function  # a C function: there is no Python in it to convert
    instance = bound_to(function)
    plain = unbound(function) if instance is not None else function
    return make(plain, instance=instance)


def _convert_descriptor(found: Any, convert: Callable[[Any], Any]) -> Any:
    """A method or property whose function is converted."""
    if isinstance(found, (staticmethod, classmethod)):
        return type(found)(convert(found.__func__))
    if isinstance(found, cached_property):
        return cached_property(convert(found.func))
    getter = None if found.fget is None else convert(found.fget)
    return property(getter, found.fset, found.fdel, found.__doc__)


def _convert_layer(layer: Layer, make: Callable[..., StaticFunction]) -> Layer:
    forward = layer.forward
    if isinstance(forward, StaticFunction):
        forward = forward.dygraph_function
    plain = unbound(forward)
    layer.__dict__["forward"] = make(plain, instance=layer if hasattr(forward, "__func__") else None)
    return layer


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Turn conversion on or off; off, static functions run eagerly. Source: paddle.jit.enable_to_static.

    Example:
        >>> import vitrify as paddle
        >>> paddle.jit.enable_to_static(False)  # every static function runs as it was written
        >>> paddle.jit.enable_to_static(True)
    """
    if not isinstance(enable_to_static_bool, bool):
        raise DTypeError(f"enable_to_static: expects a bool, got {type(enable_to_static_bool).__name__}")
    ENABLED.set(enable_to_static_bool)


def set_code_level(level: int = ALL_TRANSFORMERS, also_to_stdout: bool = False) -> None:
    """Print converted code after transformer number `level` (100: after all). Source: paddle.jit.set_code_level.

    Example:
        >>> import vitrify as paddle
        >>> paddle.jit.set_code_level(0)
    """
    CODE_LEVEL.set(level)


def set_verbosity(level: int = 0, also_to_stdout: bool = False) -> None:
    """How much conversion logs, 0 to 10. Source: paddle.jit.set_verbosity.

    Example:
        >>> import vitrify as paddle
        >>> paddle.jit.set_verbosity(0)
    """
    VERBOSITY.set(level)


__all__ = [
    "enable_to_static",
    "ignore_module",
    "not_to_static",
    "set_code_level",
    "set_verbosity",
    "to_static",
]
