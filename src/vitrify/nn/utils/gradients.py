"""Parameters as one vector, and clipping of gradients in place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.errors import ArgumentError, UserCodeError
from ...eager.grad_mode import no_grad
from ...eager.tensor import Tensor, to_tensor
from ...ops.join import concat, stack


class NonFiniteGradientError(UserCodeError, RuntimeError):
    """The norm of the gradients is infinite or NaN, so they cannot be clipped."""


def parameters_to_vector(parameters: Iterable[Any], name: str | None = None) -> Any:
    """All parameters flattened and joined: [total]. Source: paddle.nn.utils.parameters_to_vector.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.utils.parameters_to_vector(paddle.nn.Linear(2, 3).parameters()).shape
        paddle.Size([9])
    """
    return concat([param.reshape([-1]) for param in parameters], axis=0)


@no_grad()
def vector_to_parameters(vec: Any, parameters: Iterable[Any], name: str | None = None) -> None:
    """Copy consecutive pieces of `vec` into the parameters; raises ArgumentError when it is too short.

    Source: paddle.nn.utils.vector_to_parameters.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.nn.Linear(2, 1)
        >>> paddle.nn.utils.vector_to_parameters(paddle.to_tensor([1.0, 2.0, 3.0]), net.parameters())
        >>> net.bias.tolist()
        [3.0]
    """
    params = list(parameters)
    total = sum(param.size for param in params)
    if vec.size < total:
        raise ArgumentError(f"vector_to_parameters: vec has {vec.size} elements, the parameters have {total}")
    start = 0
    for param in params:
        piece = vec[start : start + param.size].reshape(param.shape)
        param.set_value(piece.astype(param.dtype))
        start += param.size


def _gradients(parameters: Any) -> list[Any]:
    params = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [param.grad for param in params if param.grad is not None]


@no_grad()
def clip_grad_norm_(parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Any:
    """The norm of all gradients as one vector, which are scaled down in place if it is above `max_norm`.

    norm_type: p, or infinity. error_if_nonfinite: raise NonFiniteGradientError (a RuntimeError) for an infinite or NaN
    norm. Source: paddle.nn.utils.clip_grad_norm_.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0]))
        >>> (w * 4).sum().backward()
        >>> paddle.nn.utils.clip_grad_norm_([w], 2.0).item()
        4.0
        >>> round(w.grad.item(), 3)
        2.0
    """
    grads = _gradients(parameters)
    if not grads:
        return to_tensor(0.0)
    p = float(norm_type)
    # A finite p would lose the largest elements' precision if powers were summed across tensors in half types.
    norms = stack([_norm(grad.astype("float32") if grad.dtype.itemsize < 4 else grad, p) for grad in grads])
    total = _norm(norms, p)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise NonFiniteGradientError(f"clip_grad_norm_: the {norm_type}-norm of the gradients is {total.item()}")
    scale = (max_norm / (total + 1e-6)).clip(max=1.0)
    for grad in grads:
        grad.multiply_(scale.astype(grad.dtype))
    return total


def _norm(x: Any, p: float) -> Any:
    """The p-norm of all elements: [] of x's dtype."""
    magnitude = x.abs()
    if p == float("inf"):
        return magnitude.max()
    if p == 0.0:
        return (magnitude != 0).astype(x.dtype).sum()
    if p == 1.0:
        return magnitude.sum()
    return (magnitude**p).sum() ** (1.0 / p)


@no_grad()
def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Clip every element of the gradients to [-clip_value, clip_value], in place; raises ArgumentError below zero.

    Source: paddle.nn.utils.clip_grad_value_.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0]))
        >>> (w * 4).sum().backward()
        >>> paddle.nn.utils.clip_grad_value_([w], 2.0)
        >>> w.grad.tolist()
        [2.0]
    """
    if clip_value < 0:
        raise ArgumentError(f"clip_grad_value_: clip_value must not be negative, got {clip_value}")
    for grad in _gradients(parameters):
        grad.clip_(min=-clip_value, max=clip_value)


__all__ = ["clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "vector_to_parameters"]
