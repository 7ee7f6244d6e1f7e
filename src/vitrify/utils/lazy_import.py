"""`paddle.utils.try_import`, and checks of versions."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from ..core.errors import UnsupportedError


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
    """None: code that asks for a version of Paddle gets the functions of 3.3. Source: paddle.utils.require_version."""


__all__ = ["deprecated", "require_version", "try_import"]
