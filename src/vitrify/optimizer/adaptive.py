"""Optimizers that scale each element by its own history: Adagrad, RMSProp, Adadelta."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.errors import ArgumentError
from . import adaptive_rules as rules
from .lr.base import LRScheduler
from .optimizer import Optimizer


def _given(owner: str, **numbers: Any) -> None:
    """Raise ArgumentError for a number that is None or negative."""
    for name, value in numbers.items():
        if value is None or value < 0:
            raise ArgumentError(f"{owner}: {name} must be a number that is not negative, got {value}")


class Adagrad(Optimizer):
    """moment += gradient**2; parameter -= learning_rate * gradient / (sqrt(moment) + epsilon).

    initial_accumulator_value: what moment starts from. See `Optimizer` for the other arguments.
    Source: paddle.optimizer.Adagrad; Duchi et al. 2011.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0]))
        >>> opt = paddle.optimizer.Adagrad(0.5, parameters=[w])
        >>> (w * 3).sum().backward()
        >>> opt.step()
        >>> round(w.item(), 4)
        0.5
    """

    _rule = rules.ADAGRAD

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        epsilon: float = 1e-6,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        _given("Adagrad", epsilon=epsilon)
        self._epsilon = epsilon
        self._start = initial_accumulator_value
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _rule_attrs(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {"epsilon": options.get("epsilon", self._epsilon)}

    def initial_state(self, name: str, attrs: Mapping[str, Any]) -> float:
        return self._start


class RMSProp(Optimizer):
    """square = rho * square + (1 - rho) * gradient**2; parameter -= learning_rate * gradient / sqrt(square + epsilon).

    momentum: the step is added to `momentum` times the last one. centered: subtract the squared running mean of the
    gradient under the root. See `Optimizer` for the other arguments. Source: paddle.optimizer.RMSProp.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0]))
        >>> opt = paddle.optimizer.RMSProp(0.5, rho=0.75, parameters=[w])
        >>> (w * 3).sum().backward()
        >>> opt.step()
        >>> round(w.item(), 4)
        0.0
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        rho: float = 0.95,
        epsilon: float = 1e-6,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        _given("RMSProp", rho=rho, epsilon=epsilon, momentum=momentum)
        self._numbers = {"rho": rho, "epsilon": epsilon, "momentum": momentum}
        self._rule = rules.RMSPROP_CENTERED if centered else rules.RMSPROP
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _rule_attrs(self, options: Mapping[str, Any]) -> dict[str, Any]:
        numbers = {key: options.get(key, value) for key, value in self._numbers.items()}
        return {"rho": numbers["rho"], "epsilon": numbers["epsilon"], "mu": numbers["momentum"]}


class Adadelta(Optimizer):
    """Steps by the gradient times the root of (mean squared update / mean squared gradient).

    See `Optimizer` for the arguments. Source: paddle.optimizer.Adadelta; Zeiler 2012.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0]))
        >>> opt = paddle.optimizer.Adadelta(1.0, rho=0.75, epsilon=1.0, parameters=[w])
        >>> (w * 2).sum().backward()
        >>> opt.step()
        >>> round(w.item(), 4)
        -0.4142
    """

    _rule = rules.ADADELTA

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        epsilon: float = 1e-6,
        rho: float = 0.95,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        _given("Adadelta", rho=rho, epsilon=epsilon)
        self._numbers = {"rho": rho, "epsilon": epsilon}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _rule_attrs(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {key: options.get(key, value) for key, value in self._numbers.items()}


class Rprop(Optimizer):
    """Steps by the sign of the gradient alone, each element with its own learning rate; for full batches.

    etas: factors on the rate where the gradient's sign turned, and where it stayed. learning_rate_range: its bounds.
    Raises ArgumentError unless the learning rate lies in the range and etas = (below 1, above 1).
    Source: paddle.optimizer.Rprop; Riedmiller and Braun 1993.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0]))
        >>> opt = paddle.optimizer.Rprop(0.5, parameters=[w])
        >>> (w * 3).sum().backward()
        >>> opt.step()
        >>> w.tolist()
        [0.5]
    """

    _rule = rules.RPROP

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        learning_rate_range: tuple[float, float] = (1e-5, 50),
        parameters: Any = None,
        etas: tuple[float, float] = (0.5, 1.2),
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        shrink, grow = etas
        if not 0 < shrink < 1 < grow:
            raise ArgumentError(f"Rprop: etas must be (below 1, above 1), got {etas}")
        lowest, highest = learning_rate_range
        self._numbers = {"shrink": shrink, "grow": grow, "lowest": lowest, "highest": highest}
        self._multi_precision = multi_precision
        super().__init__(learning_rate, parameters, None, grad_clip, name)
        if not 0 < lowest <= self.get_lr() <= highest:
            raise ArgumentError(f"Rprop: learning_rate must be in {learning_rate_range}, got {self.get_lr()}")

    def _rule_attrs(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return dict(self._numbers)

    def initial_state(self, name: str, attrs: Mapping[str, Any]) -> float:
        return self.get_lr() if name == "learning_rates" else 0.0
