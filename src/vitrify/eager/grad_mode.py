"""Switching gradient recording: `no_grad`, `enable_grad`, `set_grad_enabled`, for this thread or task alone."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from ..core.errors import DTypeError
from ..core.modes import Scoped, grad_enabled, is_grad_enabled

F = TypeVar("F", bound=Callable[..., Any])


class GradMode(Scoped[bool]):
    """Sets gradient recording inside `with`, or around a decorated function, coroutine or generator."""

    def __init__(self, mode: bool) -> None:
        super().__init__(grad_enabled, mode)

    def _recreate_cm(self) -> GradMode:
        return GradMode(self._value)

    def __call__(self, func: F) -> F:
        if inspect.isgeneratorfunction(func):
            return _around_generator(self._recreate_cm, func)
        if inspect.iscoroutinefunction(func):
            return _around_coroutine(self._recreate_cm, func)
        return super().__call__(func)


def _around_generator(mode: Callable[[], GradMode], func: F) -> F:
    """`func` whose body runs in the mode; between its items the caller's own mode holds."""

    @functools.wraps(func)
    def generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        with mode():
            inner = func(*args, **kwargs)
        resume, given = inner.send, None
        try:
            while True:
                with mode():
                    item = resume(given)
                try:
                    resume, given = inner.send, (yield item)
                except GeneratorExit:
                    with mode():
                        inner.close()
                    raise
                except BaseException as err:  # noqa: BLE001  (whatever the caller throws goes to the inner generator)
                    resume, given = inner.throw, err
        except StopIteration as stop:
            return stop.value

    return generator  # type: ignore[return-value]


def _around_coroutine(mode: Callable[[], GradMode], func: F) -> F:
    """`func` awaited in the mode; other tasks have contexts of their own."""

    @functools.wraps(func)
    async def coroutine(*args: Any, **kwargs: Any) -> Any:
        with mode():
            return await func(*args, **kwargs)

    return coroutine  # type: ignore[return-value]


def _mode_or_decorated(cls: type[GradMode], func: Any) -> Any:
    """A new mode object; `func` wrapped in it where the class itself is used as the decorator."""
    mode = object.__new__(cls)
    if func is None:
        return mode
    if not callable(func):
        raise DTypeError(f"{cls.__name__}: decorates a function, got {type(func).__name__}")
    mode.__init__()  # type: ignore[misc]  # Python initialises only what __new__ returns
    return mode(func)


class no_grad(GradMode):
    """Stops gradient recording: a context, or a decorator with or without parentheses.

    Source: paddle.no_grad.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> with paddle.no_grad():
        ...     y = x * 2
        >>> y.stop_gradient
        True
    """

    def __new__(cls, func: Any = None) -> Any:
        return _mode_or_decorated(cls, func)

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(GradMode):
    """Records gradients again inside `no_grad`: a context, or a decorator with or without parentheses.

    Source: paddle.enable_grad.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> with paddle.no_grad(), paddle.enable_grad():
        ...     y = x * 2
        >>> y.stop_gradient
        False
    """

    def __new__(cls, func: Any = None) -> Any:
        return _mode_or_decorated(cls, func)

    def __init__(self) -> None:
        super().__init__(True)


class set_grad_enabled(GradMode):
    """Sets gradient recording to `mode` at once, until the end of the `with` block if used as a context.

    Source: paddle.set_grad_enabled.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.set_grad_enabled(False):
        ...     paddle.is_grad_enabled()
        False
        >>> paddle.is_grad_enabled()
        True
    """

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        self._tokens.append(grad_enabled.set(self._value))
        self._entered = False

    def __enter__(self) -> None:
        if self._entered:
            super().__enter__()
        self._entered = True

    def __call__(self, func: F) -> F:
        grad_enabled.reset(self._tokens.pop())
        return super().__call__(func)


__all__ = ["enable_grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]
