"""What all distributions share: shapes, drawing, and the quantities that each of them defines where it has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core.dtype import default_dtype
from ..core.errors import DTypeError
from ..core.meta import UNKNOWN
from ..eager.grad_mode import no_grad
from ..eager.tensor import Tensor, to_tensor
from ..ops.expand import broadcast_shapes, broadcast_tensors
from ..ops.like import cast
from ..ops.methods import TensorMethods
from ..ops.reduce import sum as sum_
from ..ops.sizes import size_of
from ..ops.unary import exp, sqrt

Shape = tuple[int, ...]


def as_floats(*values: Any) -> tuple[Any, ...]:
    """Numbers, nested lists, arrays and tensors as tensors of one floating dtype, that of a tensor or array.

    Raises DTypeError for complex numbers.
    """
    tensors = [v if isinstance(v, TensorMethods) else to_tensor(v) for v in values]
    if any(t.dtype.is_complex for t in tensors):
        raise DTypeError("distributions of complex numbers are not offered: parameters must be real")
    typed = [t for t, v in zip(tensors, values) if isinstance(v, TensorMethods)]
    typed += [t for t, v in zip(tensors, values) if isinstance(v, np.ndarray)]
    dtype = next((t.dtype for t in typed if t.dtype.is_floating), default_dtype())
    return tuple(cast(t, dtype) for t in tensors)


def as_alike_floats(*values: Any) -> tuple[Any, ...]:
    """`as_floats`, of one shape if none of the values is a tensor: tensors stay those that get gradients."""
    tensors = as_floats(*values)
    if any(isinstance(v, TensorMethods) for v in values):
        return tensors
    return tuple(broadcast_tensors(list(tensors)))


def common_shape(*tensors: Any) -> Shape:
    """The shape that the tensors broadcast to; sizes that only a run knows are 0-D tensors."""
    found = broadcast_shapes(*[tuple(t.shape) for t in tensors])
    if UNKNOWN not in found:
        return tuple(found)
    whole = broadcast_tensors(list(tensors))[0]
    return tuple(size_of(whole, i) for i in range(len(found)))


def sum_last(x: Any, count: int) -> Any:
    """x summed over its last `count` dimensions."""
    return sum_(x, axis=list(range(-count, 0))) if count else x


def any_of(condition: Any) -> bool:
    """Whether an element of a condition on parameters is true; False while a program is built, which has no values."""
    return isinstance(condition, Tensor) and bool(condition.numpy().any())


class Distribution:
    """A distribution of tensors of `event_shape`, drawn independently for each element of `batch_shape`.

    Subclasses define what they have of `_mean`, `_variance`, `_entropy`, `_log_prob`, `_cdf`, `_icdf`, and `_draw` or
    `_rsample`; NotImplementedError is raised for the rest. Source: paddle.distribution.Distribution.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.Distribution([2], [3]).batch_shape
        (2,)
    """

    def __init__(self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = ()) -> None:
        self._batch_shape = tuple(batch_shape)
        self._event_shape = tuple(event_shape)

    @property
    def batch_shape(self) -> Shape:
        """The shape of parameters that are independent of each other."""
        return self._batch_shape

    @property
    def event_shape(self) -> Shape:
        """The shape of one draw."""
        return self._event_shape

    def _missing(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {what}")

    # -- moments ------------------------------------------------------------------------------------------------------

    def _mean(self) -> Any:
        raise self._missing("mean")

    def _variance(self) -> Any:
        raise self._missing("variance")

    def _entropy(self) -> Any:
        raise self._missing("entropy")

    @property
    def mean(self) -> Any:
        """The expected value: [*batch, *event]."""
        return self._mean()

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean: [*batch, *event]."""
        return self._variance()

    @property
    def stddev(self) -> Any:
        """The root of the variance: [*batch, *event]."""
        return sqrt(self._variance())

    def entropy(self) -> Any:
        """The expected value of -log_prob: [*batch]."""
        return self._entropy()

    # -- densities ----------------------------------------------------------------------------------------------------

    def _log_prob(self, value: Any) -> Any:
        raise self._missing("log_prob")

    def _cdf(self, value: Any) -> Any:
        raise self._missing("cdf")

    def _icdf(self, value: Any) -> Any:
        raise self._missing("icdf")

    def _dtype(self) -> Any:
        """The dtype that values are brought to; None: that of their own."""
        return None

    def _value(self, value: Any) -> Any:
        """`value` as a tensor in the dtype of the parameters."""
        tensor, dtype = value if isinstance(value, TensorMethods) else to_tensor(value), self._dtype()
        if tensor.dtype.is_complex:
            raise DTypeError(f"{type(self).__name__}: values must be real, got {tensor.dtype.name}")
        return tensor if dtype is None else cast(tensor, dtype)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability or density at `value`: [*sample, *batch, *event] -> [*sample, *batch]."""
        return self._log_prob(self._value(value))

    def prob(self, value: Any) -> Any:
        """The probability or density at `value`: [*sample, *batch, *event] -> [*sample, *batch]."""
        return exp(self.log_prob(value))

    def cdf(self, value: Any) -> Any:
        """The probability of drawing at most `value`."""
        return self._cdf(self._value(value))

    def icdf(self, value: Any) -> Any:
        """What is not exceeded with probability `value`: the inverse of `cdf`."""
        return self._icdf(self._value(value))

    # -- drawing ------------------------------------------------------------------------------------------------------

    _flows = False
    """Whether draws of `sample` depend on the parameters differentiably, as in PaddlePaddle."""

    def _draw(self, shape: list[Any]) -> Any:
        return self._rsample(shape)

    def _rsample(self, shape: list[Any]) -> Any:
        raise self._missing("rsample")

    def sample(self, shape: Iterable[int] = ()) -> Any:
        """Draws: [*shape, *batch, *event]. Without gradients, but for those that PaddlePaddle lets flow.

        That is a `Normal`, `Uniform`, `LogNormal` or `StudentT`, and what an `Independent` or a transform makes of one.
        """
        if self._flows:
            return self._draw(checked_shape(shape))
        with no_grad():
            return self._draw(checked_shape(shape)).detach()

    def rsample(self, shape: Iterable[int] = ()) -> Any:
        """Draws that depend on the parameters differentiably: [*shape, *batch, *event]."""
        return self._rsample(checked_shape(shape))

    def kl_divergence(self, other: Distribution) -> Any:
        """The expected log_prob of this distribution's draws less that of `other`: [*batch]."""
        return KL.divergence(self, other)


def checked_shape(shape: Any) -> list[Any]:
    """The shape of a sample as a list. Raises DTypeError unless it is a sequence."""
    if not isinstance(shape, Iterable):
        raise DTypeError(f"sample: shape must be a sequence of sizes, got {type(shape).__name__}")
    return list(shape)


class ExponentialFamily(Distribution):
    """A distribution whose density is exp(<t(x), θ> - F(θ) + k(x)). Source: paddle.distribution.ExponentialFamily.

    Example:
        >>> import vitrify as paddle
        >>> isinstance(paddle.distribution.Beta(1.0, 2.0), paddle.distribution.ExponentialFamily)
        True
    """


class _Divergences:
    """Rules for pairs of classes; the rule of the nearest base classes is taken."""

    def __init__(self) -> None:
        self._rules: dict[tuple[type, type], Any] = {}

    def add(self, p: type, q: type, rule: Any) -> None:
        self._rules[p, q] = rule

    def divergence(self, p: Distribution, q: Distribution) -> Any:
        for first in type(p).__mro__:
            for second in type(q).__mro__:
                rule = self._rules.get((first, second))
                if rule is not None:
                    return rule(p, q)
        raise NotImplementedError(f"no kl_divergence of {type(p).__name__} and {type(q).__name__} is registered")


KL = _Divergences()
