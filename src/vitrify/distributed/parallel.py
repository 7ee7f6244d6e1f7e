"""DataParallel: with one process, the Layer itself in a wrapper of Paddle's shape."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..eager.layer import Layer
from . import parallel_helper
from .environment import ParallelEnv


class DataParallel(Layer):
    """`layers` as it is, since no other process has gradients to add. State dicts are those of `layers`.

    Source: paddle.DataParallel.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.DataParallel(paddle.nn.Linear(2, 3))
        >>> list(net.state_dict()), net(paddle.ones([1, 2])).shape
        (['weight', 'bias'], paddle.Size([1, 3]))
    """

    def __init__(
        self,
        layers: Layer,
        strategy: Any = None,
        comm_buffer_size: int = 25,
        last_comm_buffer_size: float = 1,
        find_unused_parameters: bool = False,
        group: Any = None,
    ) -> None:
        super().__init__(layers.full_name() + "_data_parallel")
        self._layers = layers
        self.find_unused_parameters = find_unused_parameters
        self.group = group

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the wrapped Layer gives."""
        return self._layers(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A block in which gradients are not added up between processes, as outside of it."""
        yield

    def scale_loss(self, loss: Any) -> Any:
        """The loss as it is: of one process it is the mean."""
        return loss

    def apply_collective_grads(self) -> None:
        """Nothing to add up."""

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """The state dict of the wrapped Layer."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
        """Load a state dict of the wrapped Layer; what its own method returns."""
        return self._layers.set_state_dict(state_dict, *args, **kwargs)

    set_dict = load_dict = set_state_dict


__all__ = ["DataParallel", "ParallelEnv", "parallel_helper"]
