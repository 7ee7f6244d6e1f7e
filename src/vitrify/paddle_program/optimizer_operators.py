"""Paddle's operators of optimizers with moments, as code that appends them by hand calls them: in plain tensor algebra.

A row's outputs come in its order; the first is the parameter after the step.
"""

from __future__ import annotations

from typing import Any

from .. import tensor as T
from ..core.errors import UnsupportedError
from ..ir.known_values import as_tensor
from .operator_table import reads


def _check_plain(kind: str, *others: Any) -> None:
    if any(v is not None for v in others):
        raise UnsupportedError(f"{kind} with weights of higher precision, or steps to leave out, cannot be read")


def _mean(old: Any, new: Any, keep: float) -> Any:
    """The moving mean."""
    return old * keep + new * (1.0 - keep)


def _moments(grad: Any, first: Any, second: Any, beta1: float, beta2: float) -> tuple[Any, Any]:
    return _mean(as_tensor(first), grad, beta1), _mean(as_tensor(second), grad * grad, beta2)


@reads("adam_")
def adam(
    param: Any, grad: Any, rate: Any, moment1: Any, moment2: Any, largest: Any = None, pow1: Any = None,
    pow2: Any = None, master: Any = None, skip: Any = None, *, beta1: float = 0.9, beta2: float = 0.999,
    epsilon: float = 1e-8, amsgrad: bool = False,
) -> Any:  # fmt: skip
    """A step of Adam. Source: Kingma and Ba 2014."""
    _check_plain("adam", master, skip)
    param, grad, pow1, pow2 = map(as_tensor, (param, grad, pow1, pow2))
    first, second = _moments(grad, moment1, moment2, beta1, beta2)
    largest = T.maximum(as_tensor(largest), second) if amsgrad else None
    unbias = T.sqrt(1.0 - pow2)
    scale = T.sqrt(second if largest is None else largest) + epsilon * unbias
    step = as_tensor(rate) * unbias / (1.0 - pow1)
    return param - step * (first / scale), first, second, largest, pow1 * beta1, pow2 * beta2, None


@reads("adamw_")
def adamw(
    param: Any, grad: Any, rate: Any, *state: Any, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
    amsgrad: bool = False, lr_ratio: float = 1.0, coeff: float = 0.01, with_decay: bool = False,
) -> Any:  # fmt: skip
    """A step of Adam, and of decay beside it, to which alone Paddle's kernel for CPUs applies lr_ratio.

    Source: Loshchilov and Hutter 2017.
    """
    rate, param = as_tensor(rate), as_tensor(param)
    start = param * (1.0 - rate * lr_ratio * coeff) if with_decay else param
    return adam(start, grad, rate, *state, beta1=beta1, beta2=beta2, epsilon=epsilon, amsgrad=amsgrad)


@reads("adamax_")
def adamax(
    param: Any, grad: Any, rate: Any, moment: Any, largest: Any, pow1: Any, master: Any = None, *, beta1: float = 0.9,
    beta2: float = 0.999, epsilon: float = 1e-8,
) -> Any:  # fmt: skip
    """A step of Adamax. Source: Kingma and Ba 2014, section 7."""
    _check_plain("adamax", master)
    param, grad = as_tensor(param), as_tensor(grad)
    moment = _mean(as_tensor(moment), grad, beta1)
    largest = T.maximum(T.abs(grad), as_tensor(largest) * beta2 + epsilon)
    return param - as_tensor(rate) / (1.0 - as_tensor(pow1)) * (moment / largest), moment, largest, None


@reads("adagrad_")
def adagrad(param: Any, grad: Any, moment: Any, rate: Any, master: Any = None, *, epsilon: float = 1e-6) -> Any:
    """A step of Adagrad. Source: Duchi et al. 2011."""
    _check_plain("adagrad", master)
    grad = as_tensor(grad)
    moment = as_tensor(moment) + grad * grad
    return as_tensor(param) - as_tensor(rate) * grad / (T.sqrt(moment) + epsilon), moment, None


@reads("adadelta_")
def adadelta(
    param: Any, grad: Any, squares: Any, updates: Any, rate: Any, master: Any = None, *, rho: float = 0.95,
    epsilon: float = 1e-6,
) -> Any:  # fmt: skip
    """A step of Adadelta. Source: Zeiler 2012."""
    _check_plain("adadelta", master)
    grad, updates = as_tensor(grad), as_tensor(updates)
    squares = _mean(as_tensor(squares), grad * grad, rho)
    update = grad * T.sqrt((updates + epsilon) / (squares + epsilon))
    return as_tensor(param) - as_tensor(rate) * update, squares, _mean(updates, update * update, rho), None


@reads("rmsprop_")
def rmsprop(
    param: Any, mean_square: Any, grad: Any, moment: Any, rate: Any, mean_grad: Any = None, master: Any = None, *,
    epsilon: float = 1e-10, decay: float = 0.9, momentum: float = 0.0, centered: bool = False,
) -> Any:  # fmt: skip
    """A step of RMSProp. Source: Tieleman and Hinton 2012."""
    _check_plain("rmsprop", master)
    grad = as_tensor(grad)
    mean_square = _mean(as_tensor(mean_square), grad * grad, decay)
    spread = mean_square + epsilon
    if centered:
        mean_grad = _mean(as_tensor(mean_grad), grad, decay)
        spread = spread - mean_grad * mean_grad
    moment = as_tensor(moment) * momentum + as_tensor(rate) * grad / T.sqrt(spread)
    return as_tensor(param) - moment, moment, mean_square, mean_grad if centered else None, None


@reads("lamb_")
def lamb(
    param: Any, grad: Any, rate: Any, moment1: Any, moment2: Any, pow1: Any, pow2: Any, master: Any = None,
    skip: Any = None, *, weight_decay: float = 0.0, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-6,
    always_adapt: bool = False,
) -> Any:  # fmt: skip
    """A step of LAMB. Source: You et al. 2019."""
    _check_plain("lamb", master, skip)
    param, grad, pow1, pow2 = map(as_tensor, (param, grad, pow1, pow2))
    first, second = _moments(grad, moment1, moment2, beta1, beta2)
    step = first / (1.0 - pow1) / (T.sqrt(second / (1.0 - pow2)) + epsilon) + weight_decay * param
    ratio: Any = 1.0
    if weight_decay > 0 or always_adapt:
        long, wide = T.sqrt(T.sum(param * param)), T.sqrt(T.sum(step * step))
        ratio = T.where(T.logical_and(long > 0.0, wide > 0.0), long / wide, T.ones_like(long))
    return param - as_tensor(rate) * ratio * step, first, second, pow1 * beta1, pow2 * beta2, None
