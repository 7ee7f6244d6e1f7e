"""NAdam and RAdam."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.errors import ArgumentError
from ..eager.tensor import Tensor
from . import corrected_rules as rules
from .adam import Moments, number
from .lr.base import LRScheduler


class NAdam(Moments):
    """Adam that looks ahead by Nesterov's momentum, which grows as 1 - 0.5 * 0.96**(t * momentum_decay).

    See `Adam` for the other arguments; raises ArgumentError for a negative momentum_decay.
    Source: paddle.optimizer.NAdam; Dozat 2016.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0]))
        >>> opt = paddle.optimizer.NAdam(0.5, parameters=[w])
        >>> (w * 3).sum().backward()
        >>> opt.step()
        >>> round(w.item(), 2)
        0.47
    """

    _rule = rules.NADAM

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.002,
        beta1: float | Tensor = 0.9,
        beta2: float | Tensor = 0.999,
        epsilon: float = 1e-8,
        momentum_decay: float = 0.004,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        self._momentum_decay = number("NAdam", "momentum_decay", momentum_decay)
        if self._momentum_decay < 0:
            raise ArgumentError(f"NAdam: momentum_decay must not be negative, got {momentum_decay}")
        super().__init__(learning_rate, (beta1, beta2), epsilon, parameters, weight_decay, grad_clip, name)

    def _rule_attrs(self, options: Mapping[str, Any]) -> dict[str, Any]:
        decay = number("NAdam", "momentum_decay", options.get("momentum_decay", self._momentum_decay))
        return {**super()._rule_attrs(options), "momentum_decay": decay}

    def initial_state(self, name: str, attrs: Mapping[str, Any]) -> float:
        return 0.0 if name in ("moment1", "moment2") else 1.0


class RAdam(Moments):
    """Adam that steps by the mean gradient alone until it has seen enough of them to know their variance.

    See `Adam` for the arguments. Source: paddle.optimizer.RAdam; Liu et al. 2019.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0]))
        >>> opt = paddle.optimizer.RAdam(0.5, parameters=[w])
        >>> (w * 3).sum().backward()
        >>> opt.step()
        >>> round(w.item(), 4)
        -0.5
    """

    _rule = rules.RADAM

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float | Tensor = 0.9,
        beta2: float | Tensor = 0.999,
        epsilon: float = 1e-8,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, (beta1, beta2), epsilon, parameters, weight_decay, grad_clip, name)

    def initial_state(self, name: str, attrs: Mapping[str, Any]) -> float:
        return 1.0 if name in ("beta1_pow", "beta2_pow") else 0.0
