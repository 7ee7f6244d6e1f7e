"""The rules of plain gradient descent and of the Adam family.

Arithmetic is written with positional `out` arguments (`xp.add(a, b, out)`): NumPy takes them fastest, and nothing
is allocated. `coefs` come from the rule's `prepare`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

from .update import Floats, define_update

Counters = Sequence[Any]
Attrs = Mapping[str, Any]


def power(counter: Any, factor: float) -> float:
    """factor**t at step t, which `counter` holds; then it goes on to step t + 1."""
    held = counter.item()
    counter[0] = held * factor
    return float(held)


# -- gradient descent -------------------------------------------------------------------------------------------------


def _sgd_prepare(lr: float, counters: Counters, attrs: Attrs) -> Floats:
    return (lr,)


def _sgd(xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any) -> None:
    xp.multiply(grad, coefs[0], scratch)
    xp.subtract(param, scratch, param)


SGD = define_update("sgd_update", arrays=(), counters=(), attrs=(), prepare=_sgd_prepare, apply=_sgd, n_coefs=1)


def _momentum_prepare(lr: float, counters: Counters, attrs: Attrs) -> Floats:
    return lr, attrs["momentum"], attrs["rescale_grad"]


def _momentum(xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any, velocity: Any) -> None:
    lr, momentum, rescale = coefs
    xp.multiply(velocity, momentum, velocity)
    xp.multiply(grad, rescale, scratch)
    xp.add(velocity, scratch, velocity)
    xp.multiply(velocity, lr, scratch)
    xp.subtract(param, scratch, param)


def _nesterov(xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any, velocity: Any) -> None:
    lr, momentum, rescale = coefs
    xp.multiply(grad, rescale, scratch)
    xp.multiply(velocity, momentum, velocity)
    xp.add(velocity, scratch, velocity)
    # param -= lr * (grad + momentum * velocity), with the one scratch array used twice
    xp.multiply(scratch, lr, scratch)
    xp.subtract(param, scratch, param)
    xp.multiply(velocity, lr * momentum, scratch)
    xp.subtract(param, scratch, param)


_MOMENTUM: dict[str, Any] = {
    "arrays": ("velocity",),
    "counters": (),
    "attrs": ("momentum", "rescale_grad"),
    "prepare": _momentum_prepare,
    "n_coefs": 3,
}
MOMENTUM = define_update("momentum_update", apply=_momentum, **_MOMENTUM)
NESTEROV = define_update("nesterov_update", apply=_nesterov, **_MOMENTUM)


# -- Adam -------------------------------------------------------------------------------------------------------------


def _adam_prepare(lr: float, counters: Counters, attrs: Attrs) -> Floats:
    beta1, beta2 = attrs["beta1"], attrs["beta2"]
    root = sqrt(1 - power(counters[1], beta2))
    rate = lr * root / (1 - power(counters[0], beta1))
    return beta1, 1 - beta1, beta2, 1 - beta2, attrs["epsilon"] * root, rate, 1 - lr * attrs["decay"]


def move_moments(xp: Any, coefs: Sequence[Any], scratch: Any, grad: Any, moment1: Any, moment2: Any) -> None:
    """Move both moments towards the gradient and its square."""
    beta1, rest1, beta2, rest2 = coefs[:4]
    xp.multiply(moment1, beta1, moment1)
    xp.multiply(grad, rest1, scratch)
    xp.add(moment1, scratch, moment1)
    xp.multiply(moment2, beta2, moment2)
    xp.multiply(grad, grad, scratch)
    xp.multiply(scratch, rest2, scratch)
    xp.add(moment2, scratch, moment2)


def _descend(xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, moment1: Any, moment2: Any) -> None:
    """Decoupled decay, then param -= rate * moment1 / (sqrt(moment2) + epsilon)."""
    epsilon, rate, keep = coefs[4:]
    if keep != 1.0:
        xp.multiply(param, keep, param)
    xp.sqrt(moment2, scratch)
    xp.add(scratch, epsilon, scratch)
    xp.divide(moment1, scratch, scratch)
    xp.multiply(scratch, rate, scratch)
    xp.subtract(param, scratch, param)


def _adam(xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any, moment1: Any, moment2: Any) -> None:
    move_moments(xp, coefs, scratch, grad, moment1, moment2)
    _descend(xp, coefs, scratch, param, moment1, moment2)


def _amsgrad(
    xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any, moment1: Any, moment2: Any, highest: Any
) -> None:
    move_moments(xp, coefs, scratch, grad, moment1, moment2)
    xp.maximum(highest, moment2, out=highest)
    _descend(xp, coefs, scratch, param, moment1, highest)


_ADAM: dict[str, Any] = {
    "counters": ("beta1_pow_acc", "beta2_pow_acc"),
    "attrs": ("beta1", "beta2", "epsilon", "decay"),
    "prepare": _adam_prepare,
    "n_coefs": 7,
}
# decay: AdamW's decoupled weight decay; Adam has 0 there.
ADAM = define_update("adam_update", arrays=("moment1", "moment2"), apply=_adam, **_ADAM)
AMSGRAD = define_update("amsgrad_update", arrays=("moment1", "moment2", "moment2_max"), apply=_amsgrad, **_ADAM)


# -- Adamax, Lamb -----------------------------------------------------------------------------------------------------


def _adamax_prepare(lr: float, counters: Counters, attrs: Attrs) -> Floats:
    beta1 = attrs["beta1"]
    return beta1, 1 - beta1, attrs["beta2"], attrs["epsilon"], lr / (1 - power(counters[0], beta1))


def _adamax(xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any, moment: Any, inf_norm: Any) -> None:
    beta1, rest1, beta2, epsilon, rate = coefs
    xp.multiply(moment, beta1, moment)
    xp.multiply(grad, rest1, scratch)
    xp.add(moment, scratch, moment)
    xp.absolute(grad, scratch)
    xp.multiply(inf_norm, beta2, inf_norm)
    xp.add(inf_norm, epsilon, inf_norm)
    xp.maximum(inf_norm, scratch, out=inf_norm)
    xp.divide(moment, inf_norm, scratch)
    xp.multiply(scratch, rate, scratch)
    xp.subtract(param, scratch, param)


ADAMAX = define_update(
    "adamax_update",
    arrays=("moment", "inf_norm"),
    counters=("beta1_pow_acc",),
    attrs=("beta1", "beta2", "epsilon"),
    prepare=_adamax_prepare,
    apply=_adamax,
    n_coefs=5,
)


def _lamb_prepare(lr: float, counters: Counters, attrs: Attrs) -> Floats:
    beta1, beta2 = attrs["beta1"], attrs["beta2"]
    unbias1, unbias2 = 1 - power(counters[0], beta1), 1 - power(counters[1], beta2)
    adapt = float(attrs["decay"] > 0 or attrs["always_adapt"])
    return beta1, 1 - beta1, beta2, 1 - beta2, attrs["epsilon"], unbias1, unbias2, attrs["decay"], lr, adapt


def _lamb(xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any, moment1: Any, moment2: Any) -> None:
    move_moments(xp, coefs, scratch, grad, moment1, moment2)
    epsilon, unbias1, unbias2, decay, lr, adapt = coefs[4:]
    xp.divide(moment2, unbias2, scratch)
    xp.sqrt(scratch, scratch)
    xp.add(scratch, epsilon, scratch)
    xp.divide(moment1, scratch, scratch)
    step = scratch / unbias1 + param * decay
    xp.multiply(step, lr * _trust(xp, param, step) if adapt else lr, scratch)
    xp.subtract(param, scratch, param)


def _trust(xp: Any, param: Any, step: Any) -> Any:
    """|param| / |step|, 1 where either is zero."""
    a, b = xp.sqrt(xp.sum(param * param)), xp.sqrt(xp.sum(step * step))
    return xp.where((a > 0) & (b > 0), a / xp.where(b > 0, b, xp.ones_like(b)), xp.ones_like(a))


LAMB = define_update(
    "lamb_update",
    arrays=("moment1", "moment2"),
    counters=("beta1_pow_acc", "beta2_pow_acc"),
    attrs=("beta1", "beta2", "epsilon", "decay", "always_adapt"),
    prepare=_lamb_prepare,
    apply=_lamb,
    n_coefs=10,
    whole=True,
)
