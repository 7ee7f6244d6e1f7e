"""Adam and its relatives: AdamW, Adamax, Lamb."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..core.errors import ArgumentError, DTypeError
from ..eager.tensor import Tensor
from . import rules
from .lr.base import LRScheduler
from .optimizer import Optimizer
from .slots import ParameterSettings


class Moments(Optimizer):
    """What optimizers with beta1, beta2 and epsilon share."""

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        betas: tuple[Any, Any],
        epsilon: Any,
        parameters: Any,
        weight_decay: Any,
        grad_clip: Any,
        name: str | None,
    ) -> None:
        owner = type(self).__name__
        self._beta1, self._beta2 = (_beta(owner, f"beta{i + 1}", beta) for i, beta in enumerate(betas))
        self._epsilon = _epsilon(owner, epsilon)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _rule_attrs(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "beta1": _beta(self._owner, "beta1", options.get("beta1", self._beta1)),
            "beta2": _beta(self._owner, "beta2", options.get("beta2", self._beta2)),
            "epsilon": _epsilon(self._owner, options.get("epsilon", self._epsilon)),
        }

    def initial_state(self, name: str, attrs: Mapping[str, Any]) -> float:
        return float(attrs.get({"beta1_pow_acc": "beta1", "beta2_pow_acc": "beta2"}.get(name, ""), 0.0))


class Adam(Moments):
    """Steps by the running mean of the gradient over the root of the running mean of its square.

    With t from 1: rate = learning_rate * sqrt(1 - beta2**t) / (1 - beta1**t), and
    parameter -= rate * moment1 / (sqrt(moment2) + epsilon * sqrt(1 - beta2**t)).
    amsgrad: use the largest moment2 seen. multi_precision: keep a float32 copy of 16-bit parameters. lazy_mode and
    use_multi_tensor change nothing here. See `Optimizer` for the other arguments; raises ArgumentError for betas
    outside [0, 1) or a negative epsilon. Source: paddle.optimizer.Adam; Kingma and Ba 2014; Reddi et al. 2018.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0]))
        >>> opt = paddle.optimizer.Adam(0.5, parameters=[w])
        >>> (w * 3).sum().backward()
        >>> opt.step()
        >>> round(w.item(), 4)
        0.5
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float | Tensor = 0.9,
        beta2: float | Tensor = 0.999,
        epsilon: float | Tensor = 1e-8,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        self._multi_precision = multi_precision
        self._rule = rules.AMSGRAD if amsgrad else rules.ADAM
        super().__init__(learning_rate, (beta1, beta2), epsilon, parameters, weight_decay, grad_clip, name)

    def _rule_attrs(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {**super()._rule_attrs(options), "decay": 0.0}


class AdamW(Moments):
    """Adam whose weight decay shrinks the parameter itself: parameter *= 1 - learning_rate * weight_decay, first.

    weight_decay: the coefficient, a number. apply_decay_param_fun(name): whether the parameter of that name decays.
    lr_ratio(parameter): factor on its learning rate. use_lowprecision_moment and lazy_mode change nothing here.
    See `Adam` for the other arguments. Source: paddle.optimizer.AdamW; Loshchilov and Hutter 2017.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0]))
        >>> opt = paddle.optimizer.AdamW(0.5, parameters=[w], weight_decay=0.5)
        >>> (w * 0).sum().backward()
        >>> opt.step()
        >>> w.tolist()
        [0.75]
    """

    _decoupled_decay = True

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float | Tensor = 0.9,
        beta2: float | Tensor = 0.999,
        epsilon: float | Tensor = 1e-8,
        parameters: Any = None,
        weight_decay: float | Tensor = 0.01,
        use_lowprecision_moment: bool = False,
        lr_ratio: Callable[[Any], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        for argument, value in (("lr_ratio", lr_ratio), ("apply_decay_param_fun", apply_decay_param_fun)):
            if value is not None and not callable(value):
                raise DTypeError(f"AdamW: {argument} must be a function or None, got {type(value).__name__}")
        self._decay = number("AdamW", "weight_decay", weight_decay)
        self._lr_ratio = lr_ratio
        self._apply_decay_param_fun = apply_decay_param_fun
        self._multi_precision = multi_precision
        self._rule = rules.AMSGRAD if amsgrad else rules.ADAM
        super().__init__(learning_rate, (beta1, beta2), epsilon, parameters, None, grad_clip, name)

    def _rule_attrs(self, options: Mapping[str, Any]) -> dict[str, Any]:
        decay = number(self._owner, "weight_decay", options.get("weight_decay", self._decay))
        return {**super()._rule_attrs(options), "decay": decay}

    def _group_decay(self, options: Mapping[str, Any]) -> tuple[float, float]:
        return 0.0, 0.0  # decoupled: the rule's attribute `decay` does it

    def settle(self, slot: ParameterSettings) -> None:
        keep = self._apply_decay_param_fun
        if keep is not None and not keep(slot.param.name):
            slot.attrs = {**slot.attrs, "decay": 0.0}

    def rate_factor(self, settings: ParameterSettings) -> float:
        """The factor on the learning rate for one parameter: its own, times what lr_ratio says."""
        ratio = 1.0 if self._lr_ratio is None else float(self._lr_ratio(settings.param))
        return super().rate_factor(settings) * ratio


class Adamax(Moments):
    """Adam with the infinity norm: parameter -= learning_rate / (1 - beta1**t) * moment / inf_norm.

    See `Adam` for the arguments. Source: paddle.optimizer.Adamax; Kingma and Ba 2014, section 7.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0]))
        >>> opt = paddle.optimizer.Adamax(0.5, parameters=[w])
        >>> (w * 3).sum().backward()
        >>> opt.step()
        >>> round(w.item(), 4)
        0.5
    """

    _rule = rules.ADAMAX

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float | Tensor = 0.9,
        beta2: float | Tensor = 0.999,
        epsilon: float | Tensor = 1e-8,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, (beta1, beta2), epsilon, parameters, weight_decay, grad_clip, name)


class Lamb(Moments):
    """Adam's step with decay, scaled for each parameter by |parameter| / |step|.

    lamb_weight_decay: the coefficient. exclude_from_weight_decay_fn(parameter): whether it does not decay; then it is
    not scaled either, unless always_adapt. See `Adam` for the other arguments.
    Source: paddle.optimizer.Lamb; You et al. 2019.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0]))
        >>> opt = paddle.optimizer.Lamb(0.5, parameters=[w])
        >>> (w * 3).sum().backward()
        >>> opt.step()
        >>> round(w.item(), 4)
        0.5
    """

    _rule = rules.LAMB

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float | Tensor = 0.9,
        beta2: float | Tensor = 0.999,
        epsilon: float | Tensor = 1e-6,
        parameters: Any = None,
        grad_clip: Any = None,
        exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None,
        multi_precision: bool = False,
        always_adapt: bool = False,
        name: str | None = None,
    ) -> None:
        self._decay = number("Lamb", "lamb_weight_decay", lamb_weight_decay)
        self._exclude = exclude_from_weight_decay_fn
        self._always_adapt = always_adapt
        self._multi_precision = multi_precision
        super().__init__(learning_rate, (beta1, beta2), epsilon, parameters, None, grad_clip, name)

    def _rule_attrs(self, options: Mapping[str, Any]) -> dict[str, Any]:
        decay = number(self._owner, "lamb_weight_decay", options.get("lamb_weight_decay", self._decay))
        return {**super()._rule_attrs(options), "decay": decay, "always_adapt": self._always_adapt}

    def settle(self, slot: ParameterSettings) -> None:
        if self._exclude is not None and self._exclude(slot.param):
            slot.attrs = {**slot.attrs, "decay": 0.0}


def number(owner: str, name: str, value: Any) -> float:
    """`value`, a number or a Tensor with one element, as a float; raises DTypeError."""
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, Tensor):
        return float(value.item())
    raise DTypeError(f"{owner}: {name} must be a number or a Tensor, got {type(value).__name__}")


def _beta(owner: str, name: str, value: Any) -> float:
    beta = number(owner, name, value)
    if not 0 <= beta < 1:
        raise ArgumentError(f"{owner}: {name} must be in [0, 1), got {beta}")
    return beta


def _epsilon(owner: str, value: Any) -> float:
    epsilon = number(owner, "epsilon", value)
    if epsilon < 0:
        raise ArgumentError(f"{owner}: epsilon must not be negative, got {epsilon}")
    return epsilon
