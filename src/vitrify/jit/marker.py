"""Marks for functions and tensors that conversion heeds. Source: paddle.jit.marker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..convert.values.user_code import force_dynamic, not_to_static
from ..core.errors import ArgumentError, DTypeError
from ..core.meta import UNKNOWN, Shape
from ..eager.tensor import Tensor

__all__ = ["capture_control_flow", "dynamic_dims", "force_dynamic", "not_to_static", "unified"]

_MARKED = "_dynamic_dims"


def unified(fn: Callable[..., Any] | None = None, *, for_sot: bool = True, for_ast: bool = True) -> Any:
    """Mark a function, or a Layer's class, as code that means the same in both modes: it is not converted.

    for_ast: whether conversion leaves it alone, as `not_to_static` says. for_sot: accepted; there is one converter.
    Source: paddle.jit.marker.unified.

    Example:
        >>> import vitrify as paddle
        >>> @paddle.jit.marker.unified
        ... def twice(x):
        ...     return x * 2
        >>> paddle.jit.to_static(lambda x: twice(x) + 1)(paddle.ones([2])).tolist()
        [3.0, 3.0]
    """
    if fn is None:
        return lambda function: unified(function, for_sot=for_sot, for_ast=for_ast)
    return not_to_static(fn) if for_ast else fn


def capture_control_flow(fn: Callable[..., Any] | None = None) -> Any:
    """Ask that control flow of `fn` becomes part of the program. Here it always does; `fn` is returned as it is.

    Source: paddle.jit.marker.capture_control_flow.
    """
    return capture_control_flow if fn is None else fn


def dynamic_dims(tensor: Tensor, dims: int | Sequence[int]) -> None:
    """Say of a tensor, before it is given to a static function, that these dimensions will vary.

    The first program is made for any size of them, not the second one alone, as for sizes that are seen to vary. Where
    the function needs the size as a Python number, the program is for that size.

    dims: axes, negative ones counted from the end. Raises DTypeError unless `tensor` is a tensor and dims are ints,
    ArgumentError for an axis that it does not have. Source: paddle.jit.marker.dynamic_dims.

    Example:
        >>> import vitrify as paddle
        >>> double = paddle.jit.to_static(lambda x: x * 2)
        >>> x = paddle.ones([2, 3])
        >>> paddle.jit.marker.dynamic_dims(x, 0)
        >>> double(x).shape, double(paddle.ones([5, 3])).shape, len(double.program_cache)
        (paddle.Size([2, 3]), paddle.Size([5, 3]), 1)
    """
    axes = (dims,) if isinstance(dims, int) else dims
    if not isinstance(tensor, Tensor) or not isinstance(axes, Sequence) or not all(type(a) is int for a in axes):
        raise DTypeError(f"dynamic_dims: expects a tensor and an int or ints, got {type(tensor).__name__} and {dims!r}")
    rank = tensor.ndim
    for axis in axes:
        if not -rank <= axis < rank:
            raise ArgumentError(f"dynamic_dims: the tensor has {rank} dimensions, got axis {axis}")
    setattr(tensor, _MARKED, frozenset(axis % rank for axis in axes))


def with_marks(leaves: Sequence[Any], shapes: Sequence[Shape]) -> list[Shape]:
    """The shapes of the tensors and arrays among `leaves`, UNKNOWN where `dynamic_dims` said that they vary."""
    marks = [getattr(leaf, _MARKED, ()) for leaf in leaves if isinstance(leaf, (Tensor, np.ndarray))]
    return [tuple(UNKNOWN if i in m else n for i, n in enumerate(shape)) for m, shape in zip(marks, shapes)]
