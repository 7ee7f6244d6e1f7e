"""Scaling by lengths and neighbours: normalize, cosine_similarity, local_response_norm."""

from __future__ import annotations

from typing import Any

from ..core.alias import aliased
from ..core.errors import ArgumentError, ShapeError
from ..core.meta import UNKNOWN
from .arguments import finish, rank_of
from .expand import broadcast_tensors
from .like import reshape_like
from .norms import vector_norm
from .pool import avg_pool_op
from .power import pow
from .reduce import sum
from .select import clip
from .shape import flatten, unsqueeze
from .unary import sqrt


@aliased(x="input", axis="dim", epsilon="eps")
def normalize(
    x: Any, p: float = 2, axis: int = 1, epsilon: float = 1e-12, out: Any = None, name: str | None = None
) -> Any:
    """x divided by its p-norm along `axis`, or by epsilon where that is larger. Source: paddle.nn.functional.normalize.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.normalize(paddle.to_tensor([[0.0, 2.0]])).tolist()
        [[0.0, 1.0]]
    """
    length = vector_norm(x, float(p), axis, keepdim=True)
    return finish("normalize", x / clip(length, min=float(epsilon)), out)


@aliased(axis="dim")
def cosine_similarity(x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between x1 and x2 along `axis`; they broadcast. Zero vectors give 0.

    x1, x2: [*a], [*b] floating -> their broadcast shape without `axis`. Source: paddle.nn.functional.cosine_similarity.

    Example:
        >>> import vitrify as paddle
        >>> a, b = paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[3.0, 4.0]])
        >>> round(paddle.nn.functional.cosine_similarity(a, b).item(), 4)
        0.6
    """
    rank_of("cosine_similarity", x1, "x1")
    rank_of("cosine_similarity", x2, "x2")
    if x1.shape != x2.shape or UNKNOWN in x1.shape:
        x1, x2 = broadcast_tensors([x1, x2])
    squares = sum(x1 * x1, axis) * sum(x2 * x2, axis)
    return sum(x1 * x2, axis) / sqrt(clip(squares, min=eps * eps))


def local_response_norm(
    x: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0, data_format: str = "NCHW",
    name: str | None = None,
) -> Any:  # fmt: skip
    """x / (k + alpha * mean of x ** 2 over `size` neighbouring channels) ** beta; channels outside count as 0.

    x: [n, c, *spatial] (or [n, *spatial, c]). The mean, not the sum, is what Paddle computes.
    Raises ShapeError below 3 dimensions. Source: Krizhevsky et al. (2012), section 3.3;
    paddle.nn.functional.local_response_norm.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.local_response_norm(paddle.ones([1, 1, 1]), 1, alpha=3.0, beta=0.5).tolist()
        [[[0.5]]]
    """
    if rank_of("local_response_norm", x) < 3:
        raise ShapeError(f"local_response_norm: x has shape {list(x.shape)}, expected at least 3 dimensions")
    if size < 1:
        raise ArgumentError(f"local_response_norm: size must be at least 1, got {size}")
    last = data_format.endswith("C")
    planes = unsqueeze(flatten(x * x, 1, -2) if last else flatten(x * x, 2), 1)
    around, none = (size // 2, (size - 1) // 2), (0, 0)
    means = avg_pool_op(
        planes,
        kernel=(1, size) if last else (size, 1),
        stride=(1, 1),
        padding=(none, around) if last else (around, none),
        ceil_mode=False,
        channel_last=False,
        exclusive=False,
        divisor=None,
    )
    return x / pow(reshape_like(means, x) * alpha + k, beta)


__all__ = ["cosine_similarity", "local_response_norm", "normalize"]
