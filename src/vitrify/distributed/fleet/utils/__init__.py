"""`paddle.distributed.fleet.utils`: recompute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....core.dispatch import in_dynamic_mode
from ....core.rng import get_rng_state, set_rng_state
from ....eager.autograd import backward
from ....eager.grad_mode import enable_grad, is_grad_enabled, no_grad
from ....eager.pylayer import PyLayer
from ....eager.tensor import Tensor


def _apart(value: Any) -> Any:
    """A tensor of its own graph; anything else as it is."""
    if not isinstance(value, Tensor):
        return value
    out = value.detach()
    out.stop_gradient = value.stop_gradient
    return out


class _Recomputed(PyLayer):
    """Runs a function without a graph, and again with one when its gradient is wanted."""

    @staticmethod
    def forward(ctx: Any, function: Any, state: Any, kwargs: Any, *args: Any) -> Any:
        ctx.call = function, state, kwargs, args
        with no_grad():
            return function(*args, **kwargs)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        function, state, kwargs, args = ctx.call
        inputs = [_apart(a) for a in args]
        now = get_rng_state()
        if state is not None:
            set_rng_state(state)
        with enable_grad():
            found = function(*inputs, **kwargs)
        set_rng_state(now)
        outputs = list(found) if isinstance(found, (list, tuple)) else [found]
        pairs = [(o, c) for o, c in zip(outputs, cotangents) if isinstance(o, Tensor) and not o.stop_gradient]
        backward([o for o, _ in pairs], [c for _, c in pairs])
        grads = [a.grad for a in inputs if isinstance(a, Tensor)]
        return tuple(grads) if len(grads) != 1 else grads[0]


def recompute(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`function(*args)`, whose intermediate results are not kept but computed again for its gradient.

    preserve_rng_state (default True): random numbers are then the same. use_reentrant (default True): where no argument
    wants a gradient, none flows to what the function uses either; with False it is then a plain call. In a program,
    whose memory is planned as a whole, it always is one. Source: paddle.distributed.fleet.utils.recompute.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([3.0], stop_gradient=False)
        >>> paddle.distributed.fleet.utils.recompute(lambda v: v * v, x).backward()
        >>> x.grad.tolist()
        [6.0]
    """
    keep_state = kwargs.pop("preserve_rng_state", True)
    reentrant = kwargs.pop("use_reentrant", True)
    wanted = any(isinstance(a, Tensor) and not a.stop_gradient for a in args)
    if not in_dynamic_mode() or not is_grad_enabled() or not (reentrant or wanted):
        return function(*args, **kwargs)
    return _Recomputed.apply(function, get_rng_state() if keep_state else None, kwargs, *args)


__all__ = ["recompute"]
