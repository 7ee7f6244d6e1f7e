"""Functions around functions, made by libraries: caches, dispatchers and decorators, with what they wrap converted."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ContextDecorator
from functools import partial
from types import CellType, FunctionType
from typing import Any

from ...core.modes import recorder, scoped
from ...core.pytree import all_leaves
from ..guards.observe import current_observer
from ..state.attributes import class_of
from ..values.base import is_graph
from .managers import Decorating

Convert = Callable[[Any], Any]
CachedFunction = type(functools.lru_cache(lambda: None))
_DECORATED = ContextDecorator()(lambda: None).__code__
_DISPATCHER = functools.singledispatch(lambda value: None).__code__  # type: ignore[attr-defined]


def cached(function: Any, convert: Convert) -> Callable[..., Any]:
    """What to call in place of an `lru_cache` or `cache` function.

    With arguments that are known now it keeps its cache and runs eagerly, as a constant of the program, as long as it
    gives the same: somebody may clear the cache. A cache of tensors of one program would be wrong for the next: with
    those the function itself is called.
    """
    inner = convert(function.__wrapped__)
    if inner is function.__wrapped__:
        eager: Callable[..., Any] = function
        return eager

    def call(*args: Any, **kwargs: Any) -> Any:
        if any(is_graph(leaf) for leaf in all_leaves((args, kwargs))):
            return inner(*args, **kwargs)
        found = asked(*args, **kwargs)
        observer = current_observer()
        if observer is not None:
            observer.cached_call(function, partial(asked, *args, **kwargs), found)
        return found

    def asked(*args: Any, **kwargs: Any) -> Any:
        with scoped(recorder, None):
            return function(*args, **kwargs)

    return call


def is_dispatcher(fn: FunctionType) -> bool:
    """Whether `functools.singledispatch` made the function."""
    return fn.__code__ is _DISPATCHER


def dispatched(fn: Any, convert: Convert) -> Callable[..., Any]:
    """What to call in place of a `singledispatch` function: the converted one for the class of the first argument."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return convert(fn.dispatch(class_of(args[0])) if args else fn)(*args, **kwargs)

    return call if hasattr(fn, "dispatch") else fn


def around(fn: FunctionType, convert: Convert) -> FunctionType:
    """A library's wrapper with the function that it closes over converted; `fn` itself when that changes nothing."""
    inner = getattr(fn, "__wrapped__", None)
    if inner is None or not fn.__closure__:
        return fn
    decorates = fn.__code__ is _DECORATED
    cells = tuple(_with_converted(cell, inner, convert, decorates) for cell in fn.__closure__)
    if all(a is b for a, b in zip(cells, fn.__closure__)):
        return fn
    made = FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, cells)
    made.__kwdefaults__ = fn.__kwdefaults__
    made.__dict__.update(fn.__dict__)
    return made


def _with_converted(cell: CellType, inner: Any, convert: Convert, decorates: bool) -> CellType:
    try:
        held = cell.cell_contents
    except ValueError:  # not set yet
        return cell
    if decorates and isinstance(held, ContextDecorator):
        return CellType(Decorating(held))
    if held is not inner:
        return cell
    found = convert(inner)
    return cell if found is inner else CellType(found)
