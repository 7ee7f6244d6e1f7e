"""Paddle's operators of training that code appends by hand: sums, norms, clips, losses, plain updates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from ..core.errors import UnsupportedError
from ..ir.known_values import as_tensor
from ..ops.registry import get_op
from .operator_table import reads

_op = get_op


def _times(x: Any, factor: Any) -> Any:
    return _op("multiply")(x, factor)


@reads("add_n")
def add_n(xs: Sequence[Any]) -> Any:
    """The sum of tensors of one shape."""
    return reduce(_op("add"), map(as_tensor, xs))


@reads("mean_all")
def mean_all(x: Any) -> Any:
    """The mean of all elements."""
    return as_tensor(x).mean()


@reads("increment")
def increment(x: Any, *, value: float = 1.0) -> Any:
    """x and a number."""
    x = as_tensor(x)
    return _op("add")(x, value if x.dtype.is_floating else int(value))


@reads("squared_l2_norm")
def squared_l2_norm(x: Any) -> Any:
    """The sum of squares, as one element."""
    x = as_tensor(x)
    return _times(x, x).sum().reshape([1])


@reads("clip_by_norm")
def clip_by_norm(x: Any, *, max_norm: float) -> Any:
    """x, made as short as max_norm where it is longer."""
    x = as_tensor(x)
    norm = _op("sqrt")(_times(x, x).sum())
    return _times(x, _op("divide")(max_norm, _op("maximum")(norm, max_norm)))


@reads("huber_loss")
def huber_loss(x: Any, label: Any, *, delta: float = 1.0) -> Any:
    """Half the square of the residual y - x, linear from delta on; and the residual."""
    residual = _op("subtract")(as_tensor(label), as_tensor(x))
    size = _op("abs")(residual)
    near = _op("minimum")(size, delta)
    return _times(near, _op("subtract")(size, _times(near, 0.5))), residual


@reads("sgd_")
def sgd(param: Any, rate: Any, grad: Any, master: Any = None) -> Any:
    """A step of gradient descent."""
    _check_plain("sgd", master)
    return _op("subtract")(as_tensor(param), _times(as_tensor(rate), as_tensor(grad))), None


@reads("momentum_")
def momentum(
    param: Any, grad: Any, velocity: Any, rate: Any, master: Any = None, *, mu: float, use_nesterov: bool = False,
    regularization_method: str = "", regularization_coeff: float = 0.0, rescale_grad: float = 1.0,
) -> Any:  # fmt: skip
    """A step of gradient descent with momentum, and the velocity."""
    _check_plain("momentum", master)
    param, grad = as_tensor(param), _times(as_tensor(grad), rescale_grad)
    if regularization_method == "l2_decay":
        grad = _op("add")(grad, _times(param, regularization_coeff))
    speed = _op("add")(_times(as_tensor(velocity), mu), grad)
    step = _op("add")(grad, _times(speed, mu)) if use_nesterov else speed
    return _op("subtract")(param, _times(as_tensor(rate), step)), speed, None


def _check_plain(kind: str, master: Any) -> None:
    if master is not None:
        raise UnsupportedError(f"{kind} with weights of higher precision beside them cannot be read")
