"""What eager mode does with the operators that are called, under the inner names of PaddlePaddle."""

from __future__ import annotations

from ..core.modes import grad_enabled
from ..eager.grad_mode import set_grad_enabled


class Tracer:
    """Records what operators do for backward; recomputation in model code asks it, and tells it to.

    Source: paddle.framework._dygraph_tracer.
    """

    @property
    def _has_grad(self) -> bool:
        """Whether gradients are recorded, as `paddle.is_grad_enabled()` says."""
        return grad_enabled.get()

    @_has_grad.setter
    def _has_grad(self, recorded: bool) -> None:
        set_grad_enabled(recorded)


def _dygraph_tracer() -> Tracer:
    """The tracer; there is one.

    >>> _dygraph_tracer()._has_grad
    True
    """
    return Tracer()
