"""`paddle.utils.try_import`, and checks of versions."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from ..core.errors import ArgumentError, DTypeError, UnsupportedError, UserCodeError
from ..core.paddle_version import FULL_VERSION


class VersionError(UserCodeError):
    """Code wants the names of another version of Paddle."""


def try_import(module_name: str, err_msg: str | None = None) -> ModuleType:
    """The module; raises ImportError with err_msg, or with how to install it. Source: paddle.utils.try_import.

    >>> try_import("json").__name__
    'json'
    """
    try:
        return import_module(module_name)
    except ImportError:
        package = {"cv2": "opencv-python"}.get(module_name, module_name)
        advice = f"Failed importing {module_name}. It may have to be installed: pip install {package}"
        raise ImportError(advice if err_msg is None else err_msg) from None


def deprecated(
    update_to: str = "", since: str = "", reason: str = "", level: int = 0
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator whose function warns that it is deprecated; with level 2 it raises UnsupportedError.

    Source: paddle.utils.deprecated.

    Example:
        >>> import vitrify as paddle
        >>> import warnings
        >>> @paddle.utils.deprecated(since="0.1", update_to="new")
        ... def old():
        ...     return 1
        >>> with warnings.catch_warnings(record=True) as found:
        ...     warnings.simplefilter("always")
        ...     result = old()
        >>> result, len(found)
        (1, 1)
    """

    def decorate(fn: Callable[..., Any]) -> Callable[..., Any]:
        text = f"{fn.__qualname__} is deprecated" + (f" since {since}" if since else "")
        text += (f", use {update_to}" if update_to else "") + (f": {reason}" if reason else "")

        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            if level == 2:
                raise UnsupportedError(text)
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            return fn(*args, **kwargs)

        return call

    return decorate


def require_version(min_version: str, max_version: str | None = None) -> None:
    """None if the version of Paddle that these names are of lies in these bounds. Source: paddle.utils.require_version.

    Versions have up to four numbers; missing ones are 0. Raises VersionError outside of the bounds, ArgumentError and
    DTypeError for what is no version.

    >>> require_version("3.0")
    """
    least, most = _numbers("min_version", min_version), _numbers("max_version", max_version or min_version)
    here = _numbers("the version", FULL_VERSION)
    if here < least or (max_version is not None and here > most):
        wanted = f"{min_version} or higher" if max_version is None else f"in [{min_version}, {max_version}]"
        raise VersionError(f"VersionError: a version {wanted} is required, these are the names of {FULL_VERSION}")


def _numbers(what: str, version: Any) -> list[int]:
    """The four numbers of a version."""
    if not isinstance(version, str):
        raise DTypeError(f"require_version: {what} must be a str, got {type(version).__name__}")
    parts = version.split(".")
    if len(parts) > 4 or not all(part.isdigit() for part in parts):
        raise ArgumentError(f"require_version: {what} must be like '1.5.2.0', got {version!r}")
    return [*map(int, parts), *[0] * (4 - len(parts))]


__all__ = ["deprecated", "require_version", "try_import"]
