"""The class of everything that stands for an array. Its methods are installed by `ops.methods`.

Reading and running a program needs the class of its variables, but none of their methods: so this file does not import
the op families, and a process that only runs a model imports those of the model's own ops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.lazy import lazy_module
from .dense_layout import DenseLayout

_like = lazy_module("vitrify.ops.like")


class TensorMethods(DenseLayout):
    """Base of everything that stands for an array: its methods run or record ops through `core.dispatch.bind`."""

    __slots__ = ()

    if TYPE_CHECKING:  # installed from the families; spelled out for type checkers

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __add__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __matmul__(self, other: Any) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __neg__(self) -> Any: ...

    def _become(self, value: Any) -> Any:
        """Take `value` as the new content, in place; returns self."""
        raise TypeError(f"{type(self).__name__} cannot be changed in place")

    def _take(self, other: Any) -> Any:
        """Take a copy of the tensor `other` as the new content; returns self."""
        return self._become(_like.assign_op(other))
