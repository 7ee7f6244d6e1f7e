"""`paddle.utils.cpp_extension`: absent, for there is no C++ interface to extend; each name says so when called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ...core.errors import UnsupportedError


def _absent(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise UnsupportedError(
            f"cpp_extension.{name}: vitrify has no C++ interface to extend",
            hint="write the operator with paddle functions, or as a PyLayer with its gradient",
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Refused: raises UnsupportedError."
    return refuse


load = _absent("load")
setup = _absent("setup")
CppExtension = _absent("CppExtension")
CUDAExtension = _absent("CUDAExtension")
load_op_meta_info_and_register_op = _absent("load_op_meta_info_and_register_op")
_import_module_from_library = _absent("_import_module_from_library")
_jit_compile = _absent("_jit_compile")


class BuildExtension:
    """A command of setuptools that would build an extension: refused, raises UnsupportedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _absent("BuildExtension")()

    with_options = classmethod(_absent("BuildExtension"))


CUDA_HOME: str | None = None
"""Where the CUDA toolkit is: not asked, since nothing is built."""

__all__ = ["BuildExtension", "CUDAExtension", "CppExtension", "load", "load_op_meta_info_and_register_op", "setup"]
