"""Gradient clipping: by value, by each gradient's norm, by the norm of all gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import ArgumentError
from ..core.meta import Meta
from ..core.modes import grad_enabled, scoped
from ..eager.gradients import training_of_trace
from ..eager.tensor import Tensor
from ..ops.registry import VARIADIC_OUTPUTS, NoGradient, define_op

PairList = list[tuple[Any, Any]]


def _square_sum(xp: Any, grad: Any) -> Any:
    """The sum of squares as a 0-D value, in float32 for 16-bit types."""
    flat = grad.reshape(-1)
    if grad.dtype.itemsize == 2:
        flat = flat.astype(xp.float32)
    return xp.dot(flat, flat)


def _scaled(xp: Any, grad: Any, norm: Any, limit: float) -> Any:
    """`grad` times limit / max(norm, limit), in its own dtype."""
    factor = limit / xp.maximum(norm, limit)
    return xp.multiply(grad, factor.astype(grad.dtype))


def _value_kernel(xp: Any, *grads: Any, low: float, high: float) -> tuple[Any, ...]:
    return tuple(xp.clip(g, g.dtype.type(low), g.dtype.type(high)) for g in grads)


def _norm_kernel(xp: Any, *grads: Any, limit: float) -> tuple[Any, ...]:
    return tuple(_scaled(xp, g, xp.sqrt(_square_sum(xp, g)), limit) for g in grads)


def _global_norm_kernel(xp: Any, *grads: Any, limit: float) -> tuple[Any, ...]:
    total = _square_sum(xp, grads[0])
    for grad in grads[1:]:
        total = total + _square_sum(xp, grad)
    norm = xp.sqrt(total)
    return tuple(_scaled(xp, g, norm, limit) for g in grads)


def _same(*grads: Meta, **attrs: Any) -> tuple[Meta, ...]:
    return grads


def _define(name: str, kernel: Any) -> Any:
    return define_op(
        name,
        kernel=kernel,
        meta=_same,
        vjp=NoGradient("gradients are clipped after they are computed"),
        outputs=VARIADIC_OUTPUTS,
    )


_by_value = _define("clip_gradients_by_value", _value_kernel)
_by_norm = _define("clip_gradients_by_norm", _norm_kernel)
_by_global_norm = _define("clip_gradients_by_global_norm", _global_norm_kernel)


class ClipGradBase:
    """Base of the clippings. Called by an optimizer with pairs of parameter and gradient; gives the pairs back clipped.

    Parameters whose `need_clip` is False keep their gradient; pairs without a gradient are left out.
    """

    def __call__(self, params_grads: PairList) -> PairList:
        """The pairs with clipped gradients."""
        pairs = [(p, g) for p, g in params_grads if g is not None]
        chosen = [i for i, (p, _) in enumerate(pairs) if getattr(p, "need_clip", True)]
        if chosen:
            for index, grad in zip(chosen, self._clip([pairs[i][1] for i in chosen])):
                pairs[index] = (pairs[index][0], grad)
        return pairs

    def _clip(self, grads: Sequence[Any]) -> Sequence[Any]:
        raise NotImplementedError


class ClipGradByValue(ClipGradBase):
    """Limits each element to [min, max]; min is -max unless given.

    Raises ArgumentError unless max is positive, where min is left out. Source: paddle.nn.ClipGradByValue.

    Example:
        >>> import vitrify as paddle
        >>> clip = paddle.nn.ClipGradByValue(1.0)
        >>> [(_, grad)] = clip([(None, paddle.to_tensor([-3.0, 0.5]))])
        >>> grad.tolist()
        [-1.0, 0.5]
    """

    def __init__(self, max: float, min: float | None = None) -> None:
        if min is None and not max > 0.0:
            raise ArgumentError(f"ClipGradByValue: max must be positive when min is not given, got {max}")
        self.max = float(max)
        self.min = -self.max if min is None else float(min)

    def __str__(self) -> str:
        return f"Clip Gradient By Value, min = {self.min:f}, max={self.max:f}"

    def _clip(self, grads: Sequence[Any]) -> Sequence[Any]:
        found: Sequence[Any] = _by_value(*grads, low=self.min, high=self.max)
        return found


class ClipGradByNorm(ClipGradBase):
    """Scales each gradient whose L2 norm is above clip_norm down to it. Source: paddle.nn.ClipGradByNorm.

    Example:
        >>> import vitrify as paddle
        >>> clip = paddle.nn.ClipGradByNorm(1.0)
        >>> [(_, grad)] = clip([(None, paddle.to_tensor([0.0, -2.0]))])
        >>> grad.tolist()
        [0.0, -1.0]
    """

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = float(clip_norm)

    def __str__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"

    def _clip(self, grads: Sequence[Any]) -> Sequence[Any]:
        found: Sequence[Any] = _by_norm(*grads, limit=self.clip_norm)
        return found


class ClipGradByGlobalNorm(ClipGradBase):
    """Scales all gradients by one factor so that the L2 norm of them together is at most clip_norm.

    `.grad` of the parameters is clipped, too, as in PaddlePaddle; the other clippings leave it as it is.
    group_name and auto_skip_clip are accepted for Paddle's sake and change nothing here: an optimizer clips each of
    its parameter groups by itself. Source: paddle.nn.ClipGradByGlobalNorm; Pascanu et al. 2013.

    Example:
        >>> import vitrify as paddle
        >>> clip = paddle.nn.ClipGradByGlobalNorm(1.0)
        >>> pairs = clip([(None, paddle.to_tensor([3.0])), (None, paddle.to_tensor([4.0]))])
        >>> [round(grad.item(), 4) for _, grad in pairs]
        [0.6, 0.8]
    """

    def __init__(self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False) -> None:
        self.clip_norm = float(clip_norm)
        self.group_name = group_name
        self.auto_skip_clip = auto_skip_clip

    def __str__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"

    def __call__(self, params_grads: PairList) -> PairList:
        """The pairs with clipped gradients, which are those of the parameters from here on."""
        clipped = super().__call__(params_grads)
        given = [g for _, g in params_grads if g is not None]
        for (param, new), old in zip(clipped, given):
            if new is not old and _is_held(param, old):
                with scoped(grad_enabled, False):
                    old._become(new)
        return clipped

    def _clip(self, grads: Sequence[Any]) -> Sequence[Any]:
        found: Sequence[Any] = _by_global_norm(*grads, limit=self.clip_norm)
        return found


def _is_held(param: Any, grad: Any) -> bool:
    """Whether `grad` is `param.grad`; variables of a static program hold none."""
    return (isinstance(param, Tensor) or training_of_trace() is not None) and param.grad is grad


# As they were called before.
GradientClipBase, GradientClipByValue = ClipGradBase, ClipGradByValue
GradientClipByNorm, GradientClipByGlobalNorm = ClipGradByNorm, ClipGradByGlobalNorm

__all__ = ["ClipGradBase", "ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue"]
