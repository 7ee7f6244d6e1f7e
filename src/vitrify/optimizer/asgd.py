"""ASGD: gradient descent by the average of the last gradient of each batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.errors import ArgumentError
from .lr.base import LRScheduler
from .optimizer import Optimizer
from .rules import Attrs, Counters
from .update import Floats, define_update


def _asgd_prepare(lr: float, counters: Counters, attrs: Attrs) -> Floats:
    step, batches = int(counters[0].item()), attrs["batch_num"]
    counters[0][0] = step + 1
    return float(step % batches), lr / min(step + 1, batches)


def _asgd(xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any, total: Any, last: Any) -> None:
    batch, rate = int(coefs[0]), coefs[1]
    xp.subtract(grad, last[batch], scratch)
    xp.add(total, scratch, total)
    last[batch] = grad
    xp.multiply(total, rate, scratch)
    xp.subtract(param, scratch, param)


RULE = define_update(
    "asgd_update",
    arrays=("d", "y"),
    counters=("m",),
    attrs=("batch_num",),
    prepare=_asgd_prepare,
    apply=_asgd,
    n_coefs=2,
    whole=True,
)


class ASGD(Optimizer):
    """parameter -= learning_rate * (mean of the newest gradients of the last batch_num batches).

    batch_num: how many batches an epoch has; the gradient of each is kept, batch_num times the parameter's memory.
    See `Optimizer` for the other arguments; raises ArgumentError unless batch_num is positive.
    Source: paddle.optimizer.ASGD; Schmidt, Le Roux, Bach 2013 (stochastic average gradient).

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0]))
        >>> opt = paddle.optimizer.ASGD(0.25, batch_num=2, parameters=[w])
        >>> for _ in range(2):
        ...     (w * w).sum().backward()
        ...     opt.step()
        ...     opt.clear_grad()
        >>> w.tolist()
        [0.125]
    """

    _rule = RULE

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        batch_num: int = 1,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        if learning_rate is None:
            raise ArgumentError("ASGD: learning_rate must be given")
        if batch_num is None or batch_num <= 0:
            raise ArgumentError(f"ASGD: batch_num must be a positive int, got {batch_num}")
        self._batch_num = int(batch_num)
        self._multi_precision = multi_precision
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _rule_attrs(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {"batch_num": self._batch_num}

    def state_shape(self, name: str, shape: tuple[int, ...], attrs: Mapping[str, Any]) -> tuple[int, ...]:
        """A gradient for each batch in `y`."""
        return (self._batch_num, *shape) if name == "y" else shape


__all__ = ["ASGD"]
