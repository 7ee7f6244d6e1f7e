"""Context managers of the standard library that call back what they were given: that runs in converted form, too."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ContextDecorator, ExitStack, closing
from typing import Any

from ..values.base import builder
from ..values.handlers import decided_manager
from ..values.one_of import GraphOneOf, is_option, left_of, settled
from ..values.user_code import converted
from .caught import managed


def closed(manager: closing[Any]) -> Callable[..., Any]:
    """The `__exit__` of `closing(thing)`."""

    def leave(*error: Any) -> None:
        converted(manager.thing.close)()  # type: ignore[attr-defined]

    return leave


def enter_context(stack: ExitStack, manager: AbstractContextManager[Any]) -> Any:
    """`stack.enter_context(manager)`."""
    return ExitStack.enter_context(stack, with_converted(manager))


def push(stack: ExitStack, leaving: Any) -> Any:
    """`stack.push(leaving)`: a context manager, or a function like `__exit__`."""
    is_manager = hasattr(type(leaving), "__exit__")
    ExitStack.push(stack, with_converted(leaving) if is_manager else converted(leaving))
    return leaving


def callback(stack: ExitStack, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """`stack.callback(function, ...)`."""
    ExitStack.callback(stack, converted(function), *args, **kwargs)
    return function


def is_one(manager: Any) -> Any:
    """Whether a manager is the first of those that a tensor chooses from: a condition, or True of any other."""
    manager = settled(manager)
    if not isinstance(manager, GraphOneOf):
        return True
    first, *others = left_of(manager)
    return is_option(manager.code, [first], others)


def with_converted(manager: Any) -> Any:
    """`manager`, whose `__enter__` and `__exit__` run in converted form."""
    manager = settled(manager)
    if isinstance(manager, GraphOneOf):
        raise decided_manager(manager.fail())
    return managed(manager, closed(manager) if type(manager) is closing else None)


class Decorating(ContextDecorator):
    """Stands for a context manager that decorates a function."""

    def __init__(self, manager: ContextDecorator) -> None:
        self._manager = manager

    def _recreate_cm(self) -> Any:
        made: Any = self._manager
        if hasattr(made, "func") and hasattr(made, "gen"):  # of `contextmanager`: a new generator for each call
            made = type(made)(builder().convert(made.func), made.args, made.kwds)
        return with_converted(made)


STACKS: dict[Any, Callable[..., Any]] = {
    ExitStack.enter_context: enter_context,
    ExitStack.push: push,
    ExitStack.callback: callback,
}
