"""Rules that scale each element by its own history: Adagrad, RMSProp, Adadelta."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .update import Floats, define_update

Counters = Sequence[Any]
Attrs = Mapping[str, Any]


def _adagrad_prepare(lr: float, counters: Counters, attrs: Attrs) -> Floats:
    return lr, attrs["epsilon"]


def _adagrad(xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any, moment: Any) -> None:
    lr, epsilon = coefs
    xp.multiply(grad, grad, scratch)
    xp.add(moment, scratch, moment)
    xp.sqrt(moment, scratch)
    xp.add(scratch, epsilon, scratch)
    xp.divide(grad, scratch, scratch)
    xp.multiply(scratch, lr, scratch)
    xp.subtract(param, scratch, param)


ADAGRAD = define_update(
    "adagrad_update",
    arrays=("moment",),
    counters=(),
    attrs=("epsilon",),
    prepare=_adagrad_prepare,
    apply=_adagrad,
    n_coefs=2,
)


def _rmsprop_prepare(lr: float, counters: Counters, attrs: Attrs) -> Floats:
    rho = attrs["rho"]
    return rho, 1 - rho, attrs["epsilon"], attrs["mu"], lr


def _average(xp: Any, coefs: Sequence[Any], scratch: Any, average: Any) -> None:
    """average = rho * average + (1 - rho) * scratch; scratch is spent."""
    xp.multiply(scratch, coefs[1], scratch)
    xp.multiply(average, coefs[0], average)
    xp.add(average, scratch, average)


def _follow(xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any, momentum: Any) -> None:
    """With the mean square in scratch: momentum = beta * momentum + lr * grad / sqrt(.); param -= momentum."""
    epsilon, beta, lr = coefs[2:]
    xp.add(scratch, epsilon, scratch)
    xp.sqrt(scratch, scratch)
    xp.divide(grad, scratch, scratch)
    xp.multiply(scratch, lr, scratch)
    xp.multiply(momentum, beta, momentum)
    xp.add(momentum, scratch, momentum)
    xp.subtract(param, momentum, param)


def _rmsprop(
    xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any, momentum: Any, square: Any, mean: Any
) -> None:
    xp.multiply(grad, grad, scratch)
    _average(xp, coefs, scratch, square)
    xp.copyto(scratch, square)
    _follow(xp, coefs, scratch, param, grad, momentum)


def _rmsprop_centered(
    xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any, momentum: Any, square: Any, mean: Any
) -> None:
    xp.multiply(grad, grad, scratch)
    _average(xp, coefs, scratch, square)
    xp.copyto(scratch, grad)
    _average(xp, coefs, scratch, mean)
    xp.multiply(mean, mean, scratch)
    xp.subtract(square, scratch, scratch)
    _follow(xp, coefs, scratch, param, grad, momentum)


_RMSPROP: dict[str, Any] = {
    "arrays": ("momentum", "mean_square", "mean_grad"),
    "counters": (),
    "attrs": ("rho", "epsilon", "mu"),
    "n_coefs": 5,
    "prepare": _rmsprop_prepare,
}
RMSPROP = define_update("rmsprop_update", apply=_rmsprop, **_RMSPROP)
RMSPROP_CENTERED = define_update("rmsprop_centered_update", apply=_rmsprop_centered, **_RMSPROP)


def _adadelta_prepare(lr: float, counters: Counters, attrs: Attrs) -> Floats:
    rho = attrs["rho"]
    return rho, 1 - rho, attrs["epsilon"], lr


def _adadelta(xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any, squares: Any, updates: Any) -> None:
    epsilon, lr = coefs[2:]
    xp.multiply(grad, grad, scratch)
    _average(xp, coefs, scratch, squares)
    step = xp.sqrt((updates + epsilon) / (squares + epsilon))
    xp.multiply(step, grad, step)
    xp.multiply(step, step, scratch)
    _average(xp, coefs, scratch, updates)
    xp.multiply(step, lr, scratch)
    xp.subtract(param, scratch, param)


ADADELTA = define_update(
    "adadelta_update",
    arrays=("_avg_squared_grad", "_avg_squared_update"),
    counters=(),
    attrs=("rho", "epsilon"),
    prepare=_adadelta_prepare,
    apply=_adadelta,
    n_coefs=4,
)


def _rprop_prepare(lr: float, counters: Counters, attrs: Attrs) -> Floats:
    return attrs["shrink"], attrs["grow"], attrs["lowest"], attrs["highest"]


def _rprop(xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any, previous: Any, rates: Any) -> None:
    shrink, grow, lowest, highest = coefs
    xp.multiply(grad, previous, scratch)
    turned = scratch < 0
    factor = xp.where(turned, shrink, xp.where(scratch > 0, grow, xp.ones_like(grow)))
    xp.multiply(rates, factor, rates)
    xp.clip(rates, lowest, highest, out=rates)
    # where the gradient turned, this step is left out and the next one starts afresh
    xp.copyto(previous, xp.where(turned, xp.zeros_like(grad), grad))
    xp.sign(previous, scratch)
    xp.multiply(scratch, rates, scratch)
    xp.subtract(param, scratch, param)


RPROP = define_update(
    "rprop_update",
    arrays=("prevs", "learning_rates"),
    counters=(),
    attrs=("shrink", "grow", "lowest", "highest"),
    prepare=_rprop_prepare,
    apply=_rprop,
    n_coefs=4,
)
