"""`paddle.distributed.fleet.utils`, and what `paddle.incubate.distributed.fleet` has: recompute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....core.dispatch import in_dynamic_mode
from ....core.errors import ArgumentError
from ....core.modes import amp_state, scoped
from ....core.rng import get_rng_state, set_rng_state
from ....core.sequences import as_list
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
        ctx.call, ctx.amp = (function, state, kwargs, args), amp_state.get()
        with no_grad():
            return function(*args, **kwargs)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        function, state, kwargs, args = ctx.call
        inputs = [_apart(a) for a in args]
        now = get_rng_state()
        if state is not None:
            set_rng_state(state)
        with enable_grad(), scoped(amp_state, ctx.amp):
            found = function(*inputs, **kwargs)
        set_rng_state(now)
        outputs = as_list(found)
        pairs = [(o, c) for o, c in zip(outputs, cotangents) if isinstance(o, Tensor) and not o.stop_gradient]
        backward([o for o, _ in pairs], [c for _, c in pairs])
        grads = [a.grad for a in inputs if isinstance(a, Tensor)]
        return tuple(grads) if len(grads) != 1 else grads[0]


def recompute(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`function(*args)`, whose intermediate results are not kept but computed again for its gradient.

    The casts of `auto_cast` around it are done again. preserve_rng_state (default True): random numbers are then
    the same. use_reentrant (default True): where no argument wants a gradient, none flows to what the function uses
    either; with False it is then a plain call. In a program, whose memory is planned as a whole, it always is one.
    Source: paddle.distributed.fleet.utils.recompute.

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


def recompute_sequential(ctx: dict[str, Any], functions: Any, *args: Any, **kwargs: Any) -> Any:
    """What layers give that are called one after another, in segments of which all but the last are recomputed.

    ctx: how many "segments" (1), and "preserve_rng_state" (True). functions: a Sequential, or a list of callables; the
    first ones take `args`. Raises ArgumentError for more segments than there are functions.
    Source: paddle.incubate.distributed.fleet.recompute_sequential.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.distributed.fleet.utils import recompute_sequential
        >>> net = paddle.nn.Sequential(paddle.nn.ReLU(), paddle.nn.Tanh(), paddle.nn.ReLU())
        >>> recompute_sequential({"segments": 3}, net, paddle.zeros([2])).tolist()
        [0.0, 0.0]
    """
    layers, segments = list(functions), int(ctx.get("segments", 1))
    if not 1 <= segments <= len(layers):
        raise ArgumentError(f"recompute_sequential: segments is {segments}, expected 1 to {len(layers)}")
    size = len(layers) // segments
    for start in range(0, size * (segments - 1), size):
        keep = ctx.get("preserve_rng_state", True)
        args = (recompute(_chained(layers[start : start + size]), *args, preserve_rng_state=keep, **kwargs),)
    return _chained(layers[size * (segments - 1) :])(*args)


def _chained(functions: list[Callable[..., Any]]) -> Callable[..., Any]:
    """A function that gives what one function makes to the next."""

    def run(*args: Any) -> Any:
        for function in functions:
            args = (function(*args),)
        return args[0]

    return run


def recompute_hybrid(ctx: dict[str, Any], function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`recompute` of the function: one process has nobody to leave parts of the activations with.

    ctx: "mp_group", "offload" and "partition" of Paddle's, which decide nothing, and "preserve_rng_state" (True).
    Source: paddle.incubate.distributed.fleet.recompute_hybrid.
    """
    return recompute(function, *args, preserve_rng_state=ctx.get("preserve_rng_state", True), **kwargs)


__all__ = ["recompute", "recompute_hybrid", "recompute_sequential"]
