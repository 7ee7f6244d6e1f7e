"""`paddle.utils.cpp_extension`: absent, for there is no C++ interface to extend; each name says so when called."""

from __future__ import annotations

from typing import Any, NoReturn

from ..core.errors import UnsupportedError


def _absent(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"cpp_extension.{name}: vitrify has no C++ interface to extend",
        hint="write the operator with paddle functions, or as a PyLayer with its gradient",
    )


def load(*args: Any, **kwargs: Any) -> NoReturn:
    """Refused: raises UnsupportedError."""
    raise _absent("load")


def setup(*args: Any, **kwargs: Any) -> NoReturn:
    """Refused: raises UnsupportedError."""
    raise _absent("setup")


def CppExtension(*args: Any, **kwargs: Any) -> NoReturn:
    """Refused: raises UnsupportedError."""
    raise _absent("CppExtension")


def CUDAExtension(*args: Any, **kwargs: Any) -> NoReturn:
    """Refused: raises UnsupportedError."""
    raise _absent("CUDAExtension")


__all__ = ["CUDAExtension", "CppExtension", "load", "setup"]
