"""Rules of the Adam variants that correct its first steps otherwise: NAdam, RAdam."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

from .rules import Attrs, Counters, move_moments
from .update import Floats, define_update


def _advance(counter: Any, factor: float) -> float:
    """Multiply a counter that starts from 1; returns its new value."""
    counter[0] = counter.item() * factor
    return float(counter.item())


def _nadam_prepare(lr: float, counters: Counters, attrs: Attrs) -> Floats:
    beta1, beta2, psi = attrs["beta1"], attrs["beta2"], attrs["momentum_decay"]
    decay = _advance(counters[0], 0.96) ** psi
    unbias2 = 1 - _advance(counters[1], beta2)
    now, later = beta1 * (1 - 0.5 * decay), beta1 * (1 - 0.5 * decay * 0.96**psi)
    product = _advance(counters[2], now)
    of_moment, of_grad = lr * later / (1 - product * later), lr * (1 - now) / (1 - product)
    return beta1, 1 - beta1, beta2, 1 - beta2, attrs["epsilon"], unbias2, of_moment, of_grad


def _nadam(xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any, moment1: Any, moment2: Any) -> None:
    move_moments(xp, coefs, scratch, grad, moment1, moment2)
    epsilon, unbias2, of_moment, of_grad = coefs[4:]
    xp.divide(moment2, unbias2, scratch)
    xp.sqrt(scratch, scratch)
    xp.add(scratch, epsilon, scratch)
    step = moment1 * of_moment + grad * of_grad
    xp.divide(step, scratch, scratch)
    xp.subtract(param, scratch, param)


NADAM = define_update(
    "nadam_update",
    arrays=("moment1", "moment2"),
    counters=("momentum_decay_pow", "beta2_pow", "mu_product"),
    attrs=("beta1", "beta2", "epsilon", "momentum_decay"),
    prepare=_nadam_prepare,
    apply=_nadam,
    n_coefs=8,
)


def _radam_prepare(lr: float, counters: Counters, attrs: Attrs) -> Floats:
    beta1, beta2 = attrs["beta1"], attrs["beta2"]
    power1, power2 = _advance(counters[0], beta1), _advance(counters[1], beta2)
    # counters[2] holds t * beta2**t / (1 - beta2**t), which follows from its last value without knowing t
    counters[2][0] = (counters[2].item() * (beta2 - power2) + power2) / (1 - power2)
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * float(counters[2].item())
    rate, epsilon = lr / (1 - power1), attrs["epsilon"]
    if length <= 5:  # too few gradients seen to tell their variance
        return beta1, 1 - beta1, beta2, 1 - beta2, epsilon, rate, 0.0
    known = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
    return beta1, 1 - beta1, beta2, 1 - beta2, epsilon, rate * sqrt(known * (1 - power2)), 1.0


def _radam(xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any, moment1: Any, moment2: Any) -> None:
    move_moments(xp, coefs, scratch, grad, moment1, moment2)
    epsilon, rate, adapt = coefs[4:]
    if adapt:
        xp.sqrt(moment2, scratch)
        xp.add(scratch, epsilon, scratch)
        xp.divide(moment1, scratch, scratch)
        xp.multiply(scratch, rate, scratch)
    else:
        xp.multiply(moment1, rate, scratch)
    xp.subtract(param, scratch, param)


RADAM = define_update(
    "radam_update",
    arrays=("moment1", "moment2"),
    counters=("beta1_pow", "beta2_pow", "rho"),
    attrs=("beta1", "beta2", "epsilon"),
    prepare=_radam_prepare,
    apply=_radam,
    n_coefs=7,
)
