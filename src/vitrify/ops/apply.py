"""A Python function applied to a tensor as a whole, and tensors brought to another size in place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..core.errors import ArgumentError
from .arguments import static_ints
from .creation import zeros
from .define import in_place
from .join import concat
from .like import assign_op
from .shape import flatten, reshape


def apply(x: Any, func: Callable[[Any], Any]) -> Any:
    """func(x), for x without a gradient. Raises ArgumentError where x wants one. Source: paddle.Tensor.apply.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> x.apply(lambda v: v * 2).tolist()
        [2.0, 4.0]
    """
    if not x.stop_gradient:
        raise ArgumentError("apply: x wants a gradient, which a function of any kind may lose", hint="call func(x)")
    return func(x)


def resize(x: Any, shape: Any, fill_zero: bool = False, name: str | None = None) -> Any:
    """The first elements of x, row by row, in another shape; zeros where there are more of them than x has.

    Source: paddle.Tensor.resize.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[1, 2], [3, 4]])
        >>> x.resize_([5]).tolist()
        [1, 2, 3, 4, 0]
    """
    sizes = static_ints("resize_", shape, "shape")
    flat, count = flatten(x), math.prod(sizes)
    if count > flat.shape[0]:
        flat = concat([flat, zeros([count - flat.shape[0]], x.dtype)])
    return assign_op(reshape(flat[:count], list(sizes))) if count else zeros(sizes, x.dtype)


METHODS: dict[str, Any] = {"apply": apply, "apply_": in_place(apply), "resize_": in_place(resize)}
INPLACE = ()
__all__ = ()
