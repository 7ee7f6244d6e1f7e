"""Filling a tensor in place by a rule of `nn.initializer`: `paddle.nn.init`, named as in PyTorch's `torch.nn.init`.

Each function changes `tensor` (any shape and floating dtype unless it says otherwise), asks for no gradient and gives
the tensor back. Numbers come from the current generator. Source: paddle.nn.init.

Example:
    >>> import vitrify as paddle
    >>> layer = paddle.nn.Linear(2, 2)
    >>> paddle.nn.init.eye_(layer.weight).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
"""

from __future__ import annotations

import numpy as np

from ..core.errors import ShapeError
from ..eager.initializer import fans
from ..eager.tensor import Tensor
from .initializer import (
    Assign,
    Constant,
    Dirac,
    Initializer,
    KaimingNormal,
    KaimingUniform,
    Normal,
    Orthogonal,
    TruncatedNormal,
    Uniform,
    XavierNormal,
    XavierUniform,
    calculate_gain,
)


def _filled(tensor: Tensor, rule: Initializer) -> Tensor:
    rule(tensor)
    return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with `val`."""
    return _filled(tensor, Constant(val))


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0."""
    return _filled(tensor, Constant(0.0))


def ones_(tensor: Tensor) -> Tensor:
    """Fill with 1."""
    return _filled(tensor, Constant(1.0))


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fill with numbers drawn uniformly from [a, b)."""
    return _filled(tensor, Uniform(a, b))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fill with normally distributed numbers."""
    return _filled(tensor, Normal(mean, std))


def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0) -> Tensor:
    """Fill with normally distributed numbers, of which only those within [a, b] are taken."""
    return _filled(tensor, TruncatedNormal(mean, std, a, b))


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, fan_in: float | None = None, fan_out: float | None = None
) -> Tensor:
    """Fill uniformly within ±gain * sqrt(6 / (fan_in + fan_out)); the fans are the shape's unless given."""
    return _filled(tensor, XavierUniform(fan_in, fan_out, gain))


def xavier_normal_(
    tensor: Tensor, gain: float = 1.0, fan_in: float | None = None, fan_out: float | None = None
) -> Tensor:
    """Fill normally with std gain * sqrt(2 / (fan_in + fan_out)); the fans are the shape's unless given."""
    return _filled(tensor, XavierNormal(fan_in, fan_out, gain))


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    """Fill uniformly within ±gain * sqrt(3 / fan); `a` is leaky_relu's slope, `mode` "fan_in" or "fan_out"."""
    return _filled(tensor, KaimingUniform(negative_slope=a, nonlinearity=nonlinearity, mode=mode))


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    """Fill normally with std gain / sqrt(fan); `a` is leaky_relu's slope, `mode` "fan_in" or "fan_out"."""
    return _filled(tensor, KaimingNormal(negative_slope=a, nonlinearity=nonlinearity, mode=mode))


def orthogonal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill with `gain` times a (semi-)orthogonal matrix; of more than two sizes, all but the first count as one."""
    return _filled(tensor, Orthogonal(gain))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill a kernel of 3 to 5 sizes so that its convolution gives the input."""
    return _filled(tensor, Dirac(groups))


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with 1 on its diagonal and 0 elsewhere; raises ShapeError unless it has two sizes."""
    if len(tensor.shape) != 2:
        raise ShapeError(f"eye_: needs a matrix, got shape {list(tensor.shape)}")
    return _filled(tensor, Assign(np.eye(tensor.shape[0], tensor.shape[1])))


def _calculate_fan_in_and_fan_out(var: Tensor) -> tuple[int, int]:
    return fans(var.shape)


__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]
