"""What a new parameter holds: the rules of `paddle.nn.initializer`.

An initializer fills a Tensor when called with it. Numbers come from the current generator, on the host, so a seed gives
the same weights on every device.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.dtype import DType, float32
from ...core.errors import ArgumentError, ShapeError
from ...core.lazy import lazy_module
from ...core.meta import Shape
from ...eager.initializer import (
    Array,
    Constant,
    Initializer,
    Normal,
    XavierUniform,
    draw_normal,
    draw_uniform,
    fan_sum,
    fans,
    set_global_initializer,
)
from ...eager.tensor import Tensor, to_tensor

_special = lazy_module("scipy.special")

_FIXED_GAINS = {
    "sigmoid": 1.0,
    "linear": 1.0,
    "conv1d": 1.0,
    "conv2d": 1.0,
    "conv3d": 1.0,
    "conv1d_transpose": 1.0,
    "conv2d_transpose": 1.0,
    "conv3d_transpose": 1.0,
    "tanh": 5.0 / 3.0,
    "relu": math.sqrt(2.0),
    "selu": 0.75,
}


def calculate_gain(nonlinearity: str, param: bool | float | None = None) -> float:
    """The factor by which weights before this nonlinearity are widened; `param` is leaky_relu's slope, 0.01 by default.

    Raises ArgumentError for other names. Source: paddle.nn.initializer.calculate_gain.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.initializer.calculate_gain("leaky_relu", 1.0)
        1.0
    """
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1.0 + float(0.01 if param is None else param) ** 2))
    if nonlinearity not in _FIXED_GAINS:
        known = ", ".join([*_FIXED_GAINS, "leaky_relu"])
        raise ArgumentError(f"calculate_gain: nonlinearity must be one of {known}, got {nonlinearity!r}")
    return _FIXED_GAINS[nonlinearity]


def shape_size(shape: Shape) -> int:
    """Number of elements."""
    return math.prod(shape)


_BLOCK = 1 << 20


class TruncatedNormal(Initializer):
    """Normally distributed, but only numbers within [a, b]. Source: paddle.nn.initializer.TruncatedNormal.

    Example:
        >>> import vitrify as paddle
        >>> start = paddle.nn.initializer.TruncatedNormal(std=0.1)
        >>> paddle.create_parameter([2], "float32", default_initializer=start).shape
        paddle.Size([2])
    """

    def __init__(
        self, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, name: str | None = None
    ) -> None:
        self.mean = mean
        self.std = std
        self.a = a
        self.b = b

    is_fresh = True

    def values(self, shape: Shape, dtype: DType) -> Array:
        """Uniform numbers through the inverse of the truncated distribution, so that none is drawn twice."""
        low, high = (_special.ndtr((x - self.mean) / self.std) for x in (self.a, self.b))
        drawn = draw_uniform(shape, float32, 0.0, 1.0)
        out = drawn if dtype is float32 else np.empty(shape, dtype.np)
        source, target = drawn.reshape(-1), out.reshape(-1)
        for start in range(0, source.size, _BLOCK):  # what is computed on the way takes several times its memory
            at = low + (high - low) * source[start : start + _BLOCK].astype(np.float64)
            # Where the cuts lie so far out that no mass is left between them, it is all at the one nearer to the mean.
            found = _special.ndtri(at) * self.std if high > low else np.zeros(at.shape)
            target[start : start + _BLOCK] = np.clip(self.mean + found, self.a, self.b)
        return out


class Uniform(Initializer):
    """Uniform in [low, high). Source: paddle.nn.initializer.Uniform.

    Example:
        >>> import vitrify as paddle
        >>> start = paddle.nn.initializer.Uniform(0.5, 1.0)
        >>> paddle.create_parameter([2], "float32", default_initializer=start).min().item() >= 0.5
        True
    """

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        self.low = low
        self.high = high

    is_fresh = True

    def values(self, shape: Shape, dtype: DType) -> Array:
        """Uniform numbers."""
        return draw_uniform(shape, dtype, self.low, self.high)


class XavierNormal(Initializer):
    """Normal with std gain * sqrt(2 / (fan_in + fan_out)). Source: paddle.nn.initializer.XavierNormal; Glorot 2010.

    Example:
        >>> import vitrify as paddle
        >>> start = paddle.nn.initializer.XavierNormal()
        >>> paddle.create_parameter([2, 3], "float32", default_initializer=start).shape
        paddle.Size([2, 3])
    """

    def __init__(
        self, fan_in: float | None = None, fan_out: float | None = None, gain: float = 1.0, name: str | None = None
    ) -> None:
        self.fan_in = fan_in
        self.fan_out = fan_out
        self.gain = gain

    is_fresh = True

    def values(self, shape: Shape, dtype: DType) -> Array:
        """Normal numbers."""
        return draw_normal(shape, dtype, 0.0, self.gain * math.sqrt(2.0 / fan_sum(shape, self.fan_in, self.fan_out)))


class XavierInitializer(Initializer):
    """XavierUniform, or XavierNormal with uniform=False, by the older name. Source: paddle.nn.initializer."""

    def __init__(
        self,
        uniform: bool = True,
        fan_in: float | None = None,
        fan_out: float | None = None,
        seed: int = 0,
        gain: float = 1.0,
    ) -> None:
        self.rule = (XavierUniform if uniform else XavierNormal)(fan_in, fan_out, gain)

    def values(self, shape: Shape, dtype: DType) -> Array:
        """Numbers of that rule."""
        return self.rule.values(shape, dtype)


class _Kaiming(Initializer):
    """He initialization: the variance of activations stays the same through layers with this nonlinearity."""

    def __init__(
        self,
        fan_in: float | None = None,
        negative_slope: float = 0.0,
        nonlinearity: str = "relu",
        mode: str = "fan_in",
    ) -> None:
        if mode not in ("fan_in", "fan_out"):
            raise ArgumentError(f"{type(self).__name__}: mode must be 'fan_in' or 'fan_out', got {mode!r}")
        self.fan_in = fan_in
        self.negative_slope = negative_slope
        self.nonlinearity = nonlinearity
        self.mode = mode

    def std(self, shape: Shape) -> float:
        """The standard deviation for a weight of this shape."""
        found = fans(shape)
        fan = found[self.mode == "fan_out"] if self.fan_in is None else self.fan_in
        return calculate_gain(self.nonlinearity, self.negative_slope) / math.sqrt(fan)


class KaimingNormal(_Kaiming):
    """Normal with std gain / sqrt(fan). Source: paddle.nn.initializer.KaimingNormal; He 2015.

    Example:
        >>> import vitrify as paddle
        >>> start = paddle.nn.initializer.KaimingNormal()
        >>> paddle.create_parameter([2, 3], "float32", default_initializer=start).shape
        paddle.Size([2, 3])
    """

    is_fresh = True

    def values(self, shape: Shape, dtype: DType) -> Array:
        """Normal numbers."""
        return draw_normal(shape, dtype, 0.0, self.std(shape))


class KaimingUniform(_Kaiming):
    """Uniform within ±gain * sqrt(3 / fan). Source: paddle.nn.initializer.KaimingUniform; He 2015.

    Example:
        >>> import vitrify as paddle
        >>> start = paddle.nn.initializer.KaimingUniform()
        >>> paddle.create_parameter([2, 3], "float32", default_initializer=start).shape
        paddle.Size([2, 3])
    """

    is_fresh = True

    def values(self, shape: Shape, dtype: DType) -> Array:
        """Uniform numbers."""
        limit = math.sqrt(3.0) * self.std(shape)
        return draw_uniform(shape, dtype, -limit, limit)


class MSRAInitializer(Initializer):
    """KaimingUniform, or KaimingNormal with uniform=False, by the older name. Source: paddle.nn.initializer."""

    def __init__(
        self,
        uniform: bool = True,
        fan_in: float | None = None,
        seed: int = 0,
        negative_slope: float = 0.0,
        nonlinearity: str = "relu",
        mode: str = "fan_in",
    ) -> None:
        self.rule = (KaimingUniform if uniform else KaimingNormal)(fan_in, negative_slope, nonlinearity, mode)

    def values(self, shape: Shape, dtype: DType) -> Array:
        """Numbers of that rule."""
        return self.rule.values(shape, dtype)


class Assign(Initializer):
    """The given array, list or Tensor; as in Paddle a parameter takes over its shape, too, whatever it was made with.

    Raises ShapeError for another shape in a program, whose variables keep theirs. Source: paddle.nn.initializer.Assign.

    Example:
        >>> import vitrify as paddle
        >>> layer = paddle.nn.Linear(2, 3)
        >>> paddle.nn.initializer.Assign([1.0, 2.0])(layer.bias)
        >>> layer.bias.tolist()
        [1.0, 2.0]
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        self.value = value

    def forward(self, param: Tensor, block: Any = None) -> None:
        """Give `param` the value in its dtype."""
        given = self._array()
        if given.shape == tuple(param.shape):
            super().forward(param, block)
        else:
            param.data = to_tensor(given, param.dtype, param.place)

    def values(self, shape: Shape, dtype: DType) -> Array:
        """The value, of its own shape."""
        return self._array().astype(dtype.np)

    def _array(self) -> Array:
        return self.value.numpy() if isinstance(self.value, Tensor) else np.asarray(self.value)


class Orthogonal(Initializer):
    """An orthogonal matrix, the first size against all others.

    Source: paddle.nn.initializer.Orthogonal; Saxe 2013.

    Example:
        >>> import vitrify as paddle
        >>> start = paddle.nn.initializer.Orthogonal()
        >>> weight = paddle.create_parameter([3, 3], "float32", default_initializer=start)
        >>> paddle.allclose(weight @ weight.T, paddle.eye(3), atol=1e-5).item()
        True
    """

    def __init__(self, gain: float = 1.0, name: str | None = None) -> None:
        self.gain = gain

    def values(self, shape: Shape, dtype: DType) -> Array:
        """The orthogonal factor of a normal matrix; raises ShapeError below two dimensions."""
        if len(shape) < 2:
            raise ShapeError(f"Orthogonal: a parameter needs at least 2 dimensions, this one has shape {list(shape)}")
        rows, cols = shape[0], shape_size(shape[1:])
        drawn = draw_normal((max(rows, cols), min(rows, cols)), float32, 0.0, 1.0)
        q, r = np.linalg.qr(drawn.astype(np.float64))
        q *= np.where(np.diag(r) < 0, -1.0, 1.0)  # makes the factor unique, hence uniformly distributed
        return (self.gain * (q.T if rows < cols else q)).reshape(shape).astype(dtype.np)


class Dirac(Initializer):
    """A convolution kernel that passes its input channels on unchanged. Source: paddle.nn.initializer.Dirac.

    Example:
        >>> import vitrify as paddle
        >>> start = paddle.nn.initializer.Dirac()
        >>> paddle.create_parameter([2, 2, 1], "float32", default_initializer=start).tolist()
        [[[1.0], [0.0]], [[0.0], [1.0]]]
    """

    def __init__(self, groups: int = 1, name: str | None = None) -> None:
        if not isinstance(groups, int) or groups < 1:
            raise ArgumentError(f"Dirac: groups must be a positive int, got {groups!r}")
        self.groups = groups

    def values(self, shape: Shape, dtype: DType) -> Array:
        """Ones at the kernel's centre; raises ShapeError for what is no kernel, or does not divide into the groups."""
        if len(shape) not in (3, 4, 5) or shape[0] % self.groups:
            raise ShapeError(
                f"Dirac: needs a kernel [out, in, 1 to 3 sizes] with out divisible by {self.groups}, got {list(shape)}"
            )
        out = np.zeros(shape, dtype.np)
        centre = tuple(size // 2 for size in shape[2:])
        per_group = shape[0] // self.groups
        for group in range(self.groups):
            for channel in range(min(per_group, shape[1])):
                out[(group * per_group + channel, channel, *centre)] = 1
        return out


class Bilinear(Initializer):
    """The kernel of a transposed convolution that enlarges bilinearly.

    As in PaddlePaddle, a row is reached gradually along the row before it, so the kernel is not quite symmetric.
    Source: paddle.nn.initializer.Bilinear; Long 2015.

    Example:
        >>> import vitrify as paddle
        >>> start = paddle.nn.initializer.Bilinear()
        >>> paddle.create_parameter([1, 1, 4, 4], "float32", default_initializer=start)[0, 0, 1].tolist()
        [0.1875, 0.65625, 0.75, 0.21875]
    """

    def values(self, shape: Shape, dtype: DType) -> Array:
        """The same hat for every pair of channels; raises ShapeError unless shape is [out, in, k, k]."""
        if len(shape) != 4 or shape[2] != shape[3]:
            raise ShapeError(f"Bilinear: needs a square kernel [out, in, k, k], got {list(shape)}")
        factor = math.ceil(shape[2] / 2)
        centre = (2 * factor - 1 - factor % 2) / (2 * factor)
        column = np.arange(shape[2])
        row = column[:, None] + column / shape[2]
        hats = [1.0 - np.abs(at / factor - centre) for at in (column, row)]
        return np.broadcast_to(hats[0] * hats[1], shape).astype(dtype.np)


ConstantInitializer = Constant
UniformInitializer = Uniform
NormalInitializer = Normal
TruncatedNormalInitializer = TruncatedNormal
NumpyArrayInitializer = Assign

__all__ = [
    "Assign",
    "Bilinear",
    "Constant",
    "ConstantInitializer",
    "Dirac",
    "Initializer",
    "KaimingNormal",
    "KaimingUniform",
    "Normal",
    "NormalInitializer",
    "NumpyArrayInitializer",
    "Orthogonal",
    "TruncatedNormal",
    "TruncatedNormalInitializer",
    "Uniform",
    "UniformInitializer",
    "XavierNormal",
    "XavierUniform",
    "calculate_gain",
    "set_global_initializer",
]
