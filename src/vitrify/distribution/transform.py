"""Functions of tensors with their inverses, and how much each stretches space."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any

from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN
from ..ops.activation import log_sigmoid, softplus
from ..ops.complex_ import abs as abs_
from ..ops.creation import arange, full
from ..ops.cumulative import cumprod
from ..ops.expand import broadcast_shapes
from ..ops.join import concat, stack
from ..ops.like import ones_like, zeros_like
from ..ops.methods import TensorMethods
from ..ops.power import pow as pow_
from ..ops.reduce import sum as sum_
from ..ops.shape import reshape, squeeze
from ..ops.sizes import size_of
from ..ops.softmax import softmax
from ..ops.special import sigmoid
from ..ops.split import split, unbind
from ..ops.trig import atanh, tanh
from ..ops.unary import exp, log, log1p
from .distribution import Distribution, as_floats, sum_last

Shape = tuple[int, ...]


class Type(enum.Enum):
    """What a transform does to the points of its domain."""

    BIJECTION = "bijection"
    INJECTION = "injection"
    SURJECTION = "surjection"
    OTHER = "other"


class Transform:
    """A function of tensors. Subclasses define `_forward`, `_inverse` and, where they have it, `_log_stretch`.

    `domain_rank` and `codomain_rank` are the dimensions that the function takes together: 0 for elementwise ones.
    NotImplementedError is raised for what a transform lacks. Source: paddle.distribution.Transform.

    Example:
        >>> import vitrify as paddle
        >>> isinstance(paddle.distribution.ExpTransform(), paddle.distribution.Transform)
        True
    """

    _type = Type.INJECTION
    domain_rank = 0
    codomain_rank = 0

    def _missing(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {what}")

    def _forward(self, x: Any) -> Any:
        raise self._missing("forward")

    def _inverse(self, y: Any) -> Any:
        raise self._missing("inverse")

    def _log_stretch(self, x: Any) -> Any:
        raise self._missing("forward_log_det_jacobian")

    def _is_injective(self) -> bool:
        return self._type in (Type.BIJECTION, Type.INJECTION)

    def __call__(self, input: Any) -> Any:
        """The function's value for a Tensor; a transformed distribution or chain for a Distribution or Transform."""
        if isinstance(input, Distribution):
            return MADE_OF_DISTRIBUTIONS[0](input, [self])
        return ChainTransform([self, input]) if isinstance(input, Transform) else self.forward(input)

    def _checked(self, x: Any, rank: int, name: str) -> Any:
        if not isinstance(x, TensorMethods):
            raise DTypeError(f"{type(self).__name__}: {name} must be a Tensor, got {type(x).__name__}")
        if x.ndim < rank:
            raise ShapeError(f"{type(self).__name__}: {name} must have at least {rank} dimensions, got {x.ndim}")
        return x

    def forward(self, x: Any) -> Any:
        """The function's value at x."""
        return self._forward(self._checked(x, self.domain_rank, "x"))

    def inverse(self, y: Any) -> Any:
        """The x that the function maps to y."""
        return self._inverse(self._checked(y, self.codomain_rank, "y"))

    def forward_log_det_jacobian(self, x: Any) -> Any:
        """The logarithm of how much the function stretches space at x."""
        if not self._is_injective():
            raise self._missing("forward_log_det_jacobian: it maps several points to one")
        return self._log_stretch(self._checked(x, self.domain_rank, "x"))

    def inverse_log_det_jacobian(self, y: Any) -> Any:
        """The logarithm of how much the inverse stretches space at y."""
        return -self._log_stretch(self.inverse(y))

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        """The shape of the function's value for x of that shape."""
        return tuple(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        """The shape of x for values of that shape."""
        return tuple(shape)


# `TransformedDistribution`, which is made of transforms, puts itself here.
MADE_OF_DISTRIBUTIONS: list[Any] = []

# -- elementwise -----------------------------------------------------------------------------------------------------


class AbsTransform(Transform):
    """|x|; its inverse is the pair -y, y. Source: paddle.distribution.AbsTransform.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.AbsTransform().forward(paddle.to_tensor([-2.0])).tolist()
        [2.0]
    """

    _type = Type.SURJECTION

    def _forward(self, x: Any) -> Any:
        return abs_(x)

    def _inverse(self, y: Any) -> Any:
        return -y, y

    def inverse_log_det_jacobian(self, y: Any) -> Any:
        """0 for both inverses."""
        zero = zeros_like(y.reshape([-1])[:1].reshape([]))
        return zero, zero


class AffineTransform(Transform):
    """loc + scale * x. Source: paddle.distribution.AffineTransform.

    Example:
        >>> import vitrify as paddle
        >>> move = paddle.distribution.AffineTransform(paddle.to_tensor(1.0), paddle.to_tensor(2.0))
        >>> move.forward(paddle.to_tensor([3.0])).tolist()
        [7.0]
    """

    _type = Type.BIJECTION

    def __init__(self, loc: Any, scale: Any) -> None:
        self.loc, self.scale = as_floats(loc, scale)

    def _forward(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def _log_stretch(self, x: Any) -> Any:
        return log(abs_(self.scale))

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        """The shape that x, loc and scale broadcast to."""
        return tuple(broadcast_shapes(tuple(shape), tuple(self.loc.shape), tuple(self.scale.shape)))

    inverse_shape = forward_shape


class ExpTransform(Transform):
    """exp(x). Source: paddle.distribution.ExpTransform.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.ExpTransform().forward(paddle.to_tensor([0.0])).tolist()
        [1.0]
    """

    _type = Type.BIJECTION

    def _forward(self, x: Any) -> Any:
        return exp(x)

    def _inverse(self, y: Any) -> Any:
        return log(y)

    def _log_stretch(self, x: Any) -> Any:
        return x


class PowerTransform(Transform):
    """x to a power, for positive x. Source: paddle.distribution.PowerTransform.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.PowerTransform(paddle.to_tensor([2.0])).forward(paddle.to_tensor([3.0])).tolist()
        [9.0]
    """

    _type = Type.BIJECTION

    def __init__(self, power: Any) -> None:
        (self.power,) = as_floats(power)

    def _forward(self, x: Any) -> Any:
        return pow_(x, self.power)

    def _inverse(self, y: Any) -> Any:
        return pow_(y, 1 / self.power)

    def _log_stretch(self, x: Any) -> Any:
        return log(abs_(self.power * pow_(x, self.power - 1)))

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        """The shape that x and the power broadcast to."""
        return tuple(broadcast_shapes(tuple(shape), tuple(self.power.shape)))

    inverse_shape = forward_shape


class SigmoidTransform(Transform):
    """1 / (1 + exp(-x)). Source: paddle.distribution.SigmoidTransform.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.SigmoidTransform().forward(paddle.to_tensor([0.0])).tolist()
        [0.5]
    """

    def _forward(self, x: Any) -> Any:
        return sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return log(y) - log1p(-y)

    def _log_stretch(self, x: Any) -> Any:
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """tanh(x). Source: paddle.distribution.TanhTransform.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.TanhTransform().forward(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """

    _type = Type.BIJECTION

    def _forward(self, x: Any) -> Any:
        return tanh(x)

    def _inverse(self, y: Any) -> Any:
        return atanh(y)

    def _log_stretch(self, x: Any) -> Any:
        return 2 * (math.log(2.0) - x - softplus(-2 * x))


# -- of vectors ------------------------------------------------------------------------------------------------------


class SoftmaxTransform(Transform):
    """The softmax of the last dimension; as inverse, the logarithm. Source: paddle.distribution.SoftmaxTransform.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.SoftmaxTransform().forward(paddle.zeros([2])).tolist()
        [0.5, 0.5]
    """

    _type = Type.OTHER
    domain_rank = codomain_rank = 1

    def _forward(self, x: Any) -> Any:
        return softmax(x)

    def _inverse(self, y: Any) -> Any:
        return log(y)


class StickBreakingTransform(Transform):
    """k numbers as k + 1 parts of a stick of length 1, each broken off the rest.

    Source: paddle.distribution.StickBreakingTransform.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.StickBreakingTransform().forward(paddle.to_tensor([0.0])).tolist()
        [0.5, 0.5]
    """

    _type = Type.BIJECTION
    domain_rank = codomain_rank = 1

    def _moved(self, x: Any) -> Any:
        """x so that 0 breaks the rest into equal parts."""
        count = size_of(x, -1)
        return x - log(arange(count, 0, -1, dtype=x.dtype))

    def _forward(self, x: Any) -> Any:
        share = sigmoid(self._moved(x))
        one = ones_like(x[..., :1])
        return concat([share, one], -1) * concat([one, cumprod(1 - share, dim=-1)], -1)

    def _inverse(self, y: Any) -> Any:
        head = y[..., :-1]
        rest = 1 - head.cumsum(axis=-1)
        return log(head) - log(rest) + log(arange(size_of(head, -1), 0, -1, dtype=y.dtype))

    def _log_stretch(self, x: Any) -> Any:
        moved = self._moved(x)
        return sum_(log_sigmoid(moved) - moved + log(self._forward(x)[..., :-1]), axis=-1)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        """The shape with one more number in the last dimension."""
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        """The shape with one number less in the last dimension."""
        return (*shape[:-1], shape[-1] - 1)


class ReshapeTransform(Transform):
    """The last dimensions in another shape. Raises ArgumentError where sizes differ.

    Source: paddle.distribution.ReshapeTransform.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.ReshapeTransform((2, 3), (6,)).forward(paddle.ones([4, 2, 3])).shape
        paddle.Size([4, 6])
    """

    _type = Type.BIJECTION

    def __init__(self, in_event_shape: Sequence[int], out_event_shape: Sequence[int]) -> None:
        if math.prod(in_event_shape) != math.prod(out_event_shape):
            raise ArgumentError(f"ReshapeTransform: {in_event_shape} and {out_event_shape} differ in size")
        self.in_event_shape, self.out_event_shape = tuple(in_event_shape), tuple(out_event_shape)
        self.domain_rank, self.codomain_rank = len(self.in_event_shape), len(self.out_event_shape)

    def _forward(self, x: Any) -> Any:
        return reshape(x, list(self.forward_shape(x.shape)))

    def _inverse(self, y: Any) -> Any:
        return reshape(y, list(self.inverse_shape(y.shape)))

    def _log_stretch(self, x: Any) -> Any:
        return full([size_of(x, i) for i in range(x.ndim - self.domain_rank)], 0.0, x.dtype)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        """The shape with in_event_shape, which must be its end, replaced. Raises ShapeError."""
        return _other_end(shape, self.in_event_shape, self.out_event_shape)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        """The shape with out_event_shape, which must be its end, replaced. Raises ShapeError."""
        return _other_end(shape, self.out_event_shape, self.in_event_shape)


def _other_end(shape: Sequence[int], old: Shape, new: Shape) -> Shape:
    cut = len(shape) - len(old)
    if cut < 0 or tuple(shape[cut:]) != old:
        raise ShapeError(f"ReshapeTransform: a shape that ends in {old} is expected, got {tuple(shape)}")
    return (*shape[:cut], *new)


# -- made of others --------------------------------------------------------------------------------------------------


class IndependentTransform(Transform):
    """`base` with the last reinterpreted_batch_rank dimensions taken together.

    Source: paddle.distribution.IndependentTransform.

    Example:
        >>> import vitrify as paddle
        >>> rows = paddle.distribution.IndependentTransform(paddle.distribution.ExpTransform(), 1)
        >>> rows.forward_log_det_jacobian(paddle.to_tensor([[1.0, 2.0]])).tolist()
        [3.0]
    """

    def __init__(self, base: Transform, reinterpreted_batch_rank: int) -> None:
        if reinterpreted_batch_rank < 1:
            raise ArgumentError(f"IndependentTransform: the rank must be positive, got {reinterpreted_batch_rank}")
        self._base, self._rank = base, reinterpreted_batch_rank
        self.domain_rank = base.domain_rank + self._rank
        self.codomain_rank = base.codomain_rank + self._rank
        self._type = Type.INJECTION if base._is_injective() else Type.OTHER

    def _forward(self, x: Any) -> Any:
        return self._base.forward(x)

    def _inverse(self, y: Any) -> Any:
        return self._base.inverse(y)

    def _log_stretch(self, x: Any) -> Any:
        return sum_last(self._base.forward_log_det_jacobian(x), self._rank)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        """The shape that `base` gives."""
        return self._base.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        """The shape that the inverse of `base` gives."""
        return self._base.inverse_shape(shape)


class ChainTransform(Transform):
    """Transforms one after the other, the first one first. Source: paddle.distribution.ChainTransform.

    Example:
        >>> import vitrify as paddle
        >>> exp, tanh = paddle.distribution.ExpTransform(), paddle.distribution.TanhTransform()
        >>> paddle.distribution.ChainTransform([tanh, exp]).forward(paddle.to_tensor([0.0])).tolist()
        [1.0]
    """

    def __init__(self, transforms: Sequence[Transform]) -> None:
        if not transforms or not all(isinstance(t, Transform) for t in transforms):
            raise DTypeError("ChainTransform: transforms must be a sequence of Transforms")
        self.transforms = list(transforms)
        self._type = Type.INJECTION if all(t._is_injective() for t in transforms) else Type.OTHER
        self.domain_rank = self._rank([t.domain_rank - t.codomain_rank for t in transforms], "domain_rank")
        change = sum(t.codomain_rank - t.domain_rank for t in transforms)
        self.codomain_rank = self.domain_rank + change

    def _rank(self, changes: Sequence[int], name: str) -> int:
        """The rank of x that gives every transform the dimensions that it takes together."""
        rank = self.transforms[-1].codomain_rank
        for transform, change in zip(reversed(self.transforms), reversed(changes)):
            rank = max(rank + change, transform.domain_rank)
        return rank

    def _forward(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform.forward(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for transform in reversed(self.transforms):
            y = transform.inverse(y)
        return y

    def _log_stretch(self, x: Any) -> Any:
        total: Any = 0.0
        rank = self.domain_rank
        for transform in self.transforms:
            total = total + sum_last(transform.forward_log_det_jacobian(x), rank - transform.domain_rank)
            x = transform.forward(x)
            rank += transform.codomain_rank - transform.domain_rank
        return total

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        """The shape that the last transform gives."""
        for transform in self.transforms:
            shape = transform.forward_shape(shape)
        return tuple(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        """The shape that the first transform takes."""
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        return tuple(shape)


class StackTransform(Transform):
    """One transform for each index along `axis`. Source: paddle.distribution.StackTransform.

    Example:
        >>> import vitrify as paddle
        >>> both = paddle.distribution.StackTransform(
        ...     [paddle.distribution.ExpTransform(), paddle.distribution.TanhTransform()])
        >>> both.forward(paddle.to_tensor([0.0, 0.0])).tolist()
        [1.0, 0.0]
    """

    def __init__(self, transforms: Sequence[Transform], axis: int = 0) -> None:
        if not transforms or not all(isinstance(t, Transform) for t in transforms):
            raise DTypeError("StackTransform: transforms must be a sequence of Transforms")
        self.transforms, self.axis = list(transforms), axis
        self._type = Type.INJECTION if all(t._is_injective() for t in transforms) else Type.OTHER

    def _each(self, method: str, value: Any) -> Any:
        count = len(self.transforms)
        if value.shape[self.axis] == UNKNOWN:  # the run sees whether the pieces are all that there is
            parts = [squeeze(part, self.axis) for part in split(value, [1] * count, self.axis)]
        else:
            parts = unbind(value, self.axis)
        if len(parts) != count:
            raise ShapeError(f"StackTransform: {count} transforms for {len(parts)} along axis {self.axis}")
        return stack([getattr(t, method)(part) for t, part in zip(self.transforms, parts)], self.axis)

    def _forward(self, x: Any) -> Any:
        return self._each("forward", x)

    def _inverse(self, y: Any) -> Any:
        return self._each("inverse", y)

    def _log_stretch(self, x: Any) -> Any:
        return self._each("forward_log_det_jacobian", x)


__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ChainTransform",
    "ExpTransform",
    "IndependentTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "Type",
]
