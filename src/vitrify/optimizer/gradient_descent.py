"""SGD and Momentum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.errors import ArgumentError
from . import rules
from .lr.base import LRScheduler
from .optimizer import Optimizer


class SGD(Optimizer):
    """parameter -= learning_rate * gradient. See `Optimizer` for the arguments.

    multi_precision: keep a float32 copy of 16-bit parameters. Source: paddle.optimizer.SGD.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0]))
        >>> opt = paddle.optimizer.SGD(0.25, parameters=[w])
        >>> (w * 2).sum().backward()
        >>> opt.step()
        >>> w.tolist()
        [0.5]
    """

    _rule = rules.SGD

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        self._multi_precision = multi_precision
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)


class Momentum(Optimizer):
    """velocity = momentum * velocity + gradient; parameter -= learning_rate * velocity.

    use_nesterov: parameter -= learning_rate * (gradient + momentum * velocity). rescale_grad: factor on the gradient
    (as documented; eager updates of PaddlePaddle take no notice of it).
    use_multi_tensor changes nothing here. See `Optimizer` for the other arguments.
    Source: paddle.optimizer.Momentum; Sutskever et al. 2013.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0]))
        >>> opt = paddle.optimizer.Momentum(0.25, momentum=0.5, parameters=[w])
        >>> for _ in range(2):
        ...     (w * 2).sum().backward()
        ...     opt.step()
        ...     opt.clear_grad()
        >>> w.tolist()
        [-0.25]
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        momentum: float = 0.9,
        parameters: Any = None,
        use_nesterov: bool = False,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        if momentum is None:
            raise ArgumentError("Momentum: momentum must be a float, got None")
        self._momentum = float(momentum)
        self._rescale_grad = float(rescale_grad)
        self._multi_precision = multi_precision
        self._rule = rules.NESTEROV if use_nesterov else rules.MOMENTUM
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _rule_attrs(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "momentum": float(options.get("momentum", self._momentum)),
            "rescale_grad": float(options.get("rescale_grad", self._rescale_grad)),
        }
