"""Weights computed from other parameters before each forward: weight_norm and spectral_norm."""

from __future__ import annotations

from typing import Any

from ...core.errors import ArgumentError
from ...eager.grad_mode import no_grad
from ...eager.initializer import Constant
from ...eager.layer import Layer
from ...eager.tensor import Tensor
from ...ops.matmul import matmul
from ...ops.unary import sqrt
from .. import functional as F
from ..initializer import Assign, Normal
from ..layer.common import Linear
from ..layer.conv import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose
from ..layer.norm import power_iteration


class ComputedWeight:
    """Hooks that give a Layer its attribute `name` anew before each forward.

    A graph variable, computed while a program is built, does not stay: afterwards the attribute is what it was.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._handles: list[Any] = []

    def compute(self, layer: Any) -> Any:
        """The weight for the forward to come."""
        raise NotImplementedError

    def attach(self, layer: Layer) -> None:
        """Take the parameter's place on `layer`."""
        del layer._parameters[self.name]
        layer.__dict__[self.name] = self.compute(layer)
        self._handles = [layer.register_forward_pre_hook(self._before), layer.register_forward_post_hook(self._after)]

    def detach(self, layer: Layer) -> Any:
        """Leave `layer` and return the last weight."""
        for handle in self._handles:
            handle.remove()
        return layer.__dict__.pop(self.name)

    def _before(self, layer: Any, inputs: Any) -> None:
        self._held = layer.__dict__.get(self.name)
        layer.__dict__[self.name] = self.compute(layer)

    def _after(self, layer: Any, inputs: Any, outputs: Any) -> None:
        if not isinstance(layer.__dict__[self.name], Tensor):
            layer.__dict__[self.name] = self._held
        self._held = None


def attached(layer: Layer, kind: type[Any], name: str) -> Any:
    """The `kind` of ComputedWeight that computes `layer`'s attribute `name`, or None."""
    for hook in layer._forward_pre_hooks.values():
        owner = getattr(hook.function, "__self__", None)
        if isinstance(owner, kind) and owner.name == name:
            return owner
    return None


def _weight_of(layer: Layer, name: str, what: str) -> Any:
    weight = layer._parameters.get(name)
    if weight is None:
        raise ArgumentError(f"{what}: {type(layer).__name__} has no parameter {name!r}")
    return weight


# --- weight_norm --------------------------------------------------------------------------------------------------


class WeightNorm(ComputedWeight):
    """weight = g * v / |v|, the norm taken over all dimensions but `dim` (over all for None)."""

    def __init__(self, name: str, dim: int | None) -> None:
        super().__init__(name)
        self.dim = dim

    def norm(self, weight: Any) -> Any:
        """The norm, with ones for the dimensions summed over."""
        axes = [d for d in range(weight.ndim) if d != self.dim]
        squares = weight * weight
        return sqrt(squares.sum(axis=axes, keepdim=True) if axes else squares)  # a sum over no axes is one over all

    def compute(self, layer: Any) -> Any:
        """g * v / |v|."""
        v, g = getattr(layer, f"{self.name}_v"), getattr(layer, f"{self.name}_g")
        shape = [v.shape[d] if d == self.dim else 1 for d in range(v.ndim)]
        return v * (g.reshape(shape) / self.norm(v))


def weight_norm(layer: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """`layer` with its parameter split in length and direction: `weight_g` along `dim` and `weight_v`.

    dim: None or -1 for one length of the whole weight. Raises ArgumentError for a parameter that is not there or has
    been split before. Source: paddle.nn.utils.weight_norm; Salimans, Kingma 2016.

    Example:
        >>> import vitrify as paddle
        >>> list(paddle.nn.utils.weight_norm(paddle.nn.Linear(2, 3)).state_dict())
        ['bias', 'weight_v', 'weight_g']
    """
    if attached(layer, WeightNorm, name) is not None:
        raise ArgumentError(f"weight_norm: {name!r} of {type(layer).__name__} has been split before")
    weight = _weight_of(layer, name, "weight_norm")
    if dim is not None and not -weight.ndim <= dim < weight.ndim:
        raise ArgumentError(f"weight_norm: dim must be in [{-weight.ndim}, {weight.ndim}), got {dim}")
    rule = WeightNorm(name, None if dim in (None, -1) else dim % weight.ndim)
    with no_grad():
        length = rule.norm(weight).reshape([] if rule.dim is None else [-1])
    for suffix, value in (("_v", weight), ("_g", length)):
        param = layer.create_parameter(value.shape, dtype=value.dtype, default_initializer=Constant(0.0))
        param.set_value(value)
        layer.add_parameter(name + suffix, param)
    rule.attach(layer)
    return layer


def remove_weight_norm(layer: Any, name: str = "weight") -> Any:
    """`layer` with one parameter again in place of `weight_g` and `weight_v`; raises ArgumentError if it has none.

    Source: paddle.nn.utils.remove_weight_norm.

    Example:
        >>> import vitrify as paddle
        >>> layer = paddle.nn.utils.weight_norm(paddle.nn.Linear(2, 3))
        >>> sorted(name for name, _ in layer.named_parameters())
        ['bias', 'weight_g', 'weight_v']
        >>> sorted(name for name, _ in paddle.nn.utils.remove_weight_norm(layer).named_parameters())
        ['bias', 'weight']
    """
    rule = attached(layer, WeightNorm, name)
    if rule is None:
        raise ArgumentError(f"remove_weight_norm: {name!r} of {type(layer).__name__} has not been split by weight_norm")
    with no_grad():
        weight = rule.compute(layer)
    rule.detach(layer)
    del layer._parameters[f"{name}_g"], layer._parameters[f"{name}_v"]
    layer.add_parameter(
        name, layer.create_parameter(weight.shape, dtype=weight.dtype, default_initializer=Assign(weight))
    )
    return layer


# --- spectral_norm ------------------------------------------------------------------------------------------------

_OUTPUT_SECOND = (Linear, Conv1DTranspose, Conv2DTranspose, Conv3DTranspose)


class SpectralNormRule(ComputedWeight):
    """weight = weight_orig / its largest singular value, which power iteration follows while training."""

    def __init__(self, name: str, dim: int, rounds: int, eps: float) -> None:
        super().__init__(name)
        self.dim = dim
        self.rounds = rounds
        self.eps = eps

    def matrix(self, weight: Any) -> Any:
        """The weight as a matrix whose rows are dimension `dim`."""
        order = [self.dim, *(d for d in range(weight.ndim) if d != self.dim)]
        return weight.transpose(order).reshape([weight.shape[self.dim], -1])

    def iterate(self, layer: Any, matrix: Any, rounds: int) -> tuple[Any, Any]:
        """The two vectors after some rounds, which the layer's buffers keep."""
        held = getattr(layer, f"{self.name}_u"), getattr(layer, f"{self.name}_v")
        with no_grad():
            vectors = power_iteration(matrix, *held, rounds, self.eps)
        for buffer, vector in zip(held, vectors):
            buffer.set_value(vector.astype(buffer.dtype))
        return vectors

    def compute(self, layer: Any) -> Any:
        """weight_orig / sigma."""
        weight = getattr(layer, f"{self.name}_orig")
        matrix = self.matrix(weight)
        u, v = getattr(layer, f"{self.name}_u"), getattr(layer, f"{self.name}_v")
        if layer.training:
            # The residuals of backward are these values, not the buffers that the next forward writes.
            u, v = self.iterate(layer, matrix.detach(), self.rounds)
        return weight / matmul(u, matmul(matrix, v))


def spectral_norm(
    layer: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """`layer` whose weight is divided by its largest singular value before each forward.

    dim: the dimension of outputs, 1 for Linear and transposed convolutions and 0 otherwise if None. Raises
    ArgumentError for a parameter that is not there or less than one iteration.
    Source: paddle.nn.utils.spectral_norm; Miyato 2018.

    Example:
        >>> import vitrify as paddle
        >>> list(paddle.nn.utils.spectral_norm(paddle.nn.Linear(2, 3)).state_dict())
        ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    weight = _weight_of(layer, name, "spectral_norm")
    if n_power_iterations < 1:
        raise ArgumentError(f"spectral_norm: n_power_iterations must be at least 1, got {n_power_iterations}")
    if attached(layer, SpectralNormRule, name) is not None:
        raise ArgumentError(f"spectral_norm: {name!r} of {type(layer).__name__} has been normalized before")
    rule = SpectralNormRule(
        name, int(isinstance(layer, _OUTPUT_SECOND)) if dim is None else dim, n_power_iterations, eps
    )
    layer.add_parameter(f"{name}_orig", weight)
    with no_grad():
        matrix = rule.matrix(weight)
    for suffix, size in (("_u", matrix.shape[0]), ("_v", matrix.shape[1])):
        vector = layer.create_parameter([size], dtype=weight.dtype, default_initializer=Normal(0.0, 1.0)).detach()
        layer.register_buffer(name + suffix, F.normalize(vector, axis=0, epsilon=eps))
    rule.iterate(layer, matrix, rounds=15)
    rule.attach(layer)
    return layer


__all__ = ["remove_weight_norm", "spectral_norm", "weight_norm"]
