"""Methods that fill a tensor with a constant, or make a new constant tensor of its dtype."""

from __future__ import annotations

from typing import Any

from ..core.modes import grad_enabled
from .arguments import packs_ints
from .creation import full
from .like import full_like
from .select import where_op


def refilled(x: Any, value: Any) -> Any:
    """x, which holds `value` from here on: it wants a gradient as before, and what made it gets zeros."""
    wants = grad_enabled.get() and not x.stop_gradient and x.dtype.is_floating
    return x._become(where_op(full_like(x, True, "bool"), value, x) if wants else value)


def fill_(x: Any, value: Any) -> Any:
    """x, every element set to `value`. Source: paddle.Tensor.fill_.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.ones([2, 2])
        >>> _ = x.fill_(7)
        >>> x.tolist()
        [[7.0, 7.0], [7.0, 7.0]]
    """
    return refilled(x, full_like(x, value))


def zero_(x: Any) -> Any:
    """x, every element set to 0. Source: paddle.Tensor.zero_.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.ones([3])
        >>> _ = x.zero_()
        >>> x.tolist()
        [0.0, 0.0, 0.0]
    """
    return refilled(x, full_like(x, 0))


def new_full(
    var: Any, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:  # fmt: skip
    """A tensor of shape `size` filled with one value, of var's dtype unless another is given.

    Source: paddle.Tensor.new_full.

    Example:
        >>> import vitrify as paddle
        >>> paddle.ones([1], "int32").new_full([2, 2], 7).tolist()
        [[7, 7], [7, 7]]
        >>> paddle.ones([1]).new_full([2], 1, dtype="bool").tolist()
        [True, True]
    """
    wanted = var.dtype if dtype is None else dtype
    return full(size, fill_value, wanted, device=device, requires_grad=requires_grad)


@packs_ints
def new_zeros(
    var: Any, size: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Zeros of shape `size` and var's dtype unless another is given. Source: paddle.Tensor.new_zeros.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.ones([1], "int64").new_zeros([2, 1])
        >>> x.tolist(), x.dtype
        ([[0], [0]], paddle.int64)
    """
    return new_full(var, size, 0, dtype=dtype, device=device, requires_grad=requires_grad)


@packs_ints
def new_ones(
    var: Any, size: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Ones of shape `size` and var's dtype unless another is given. Source: paddle.Tensor.new_ones.

    Example:
        >>> import vitrify as paddle
        >>> paddle.zeros([1], "float64").new_ones(2, 3).shape
        paddle.Size([2, 3])
    """
    return new_full(var, size, 1, dtype=dtype, device=device, requires_grad=requires_grad)


METHODS = {
    "fill_": fill_,
    "zero_": zero_,
    "new_full": new_full,
    "new_zeros": new_zeros,
    "new_ones": new_ones,
    "new_empty": new_zeros,
}
__all__: list[str] = []
