"""`paddle.base.dygraph`: the older names of eager mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ..core.dispatch import in_dynamic_mode as enabled
from ..core.dtype import DTypeLike
from ..core.place import PlaceLike, place_guard
from ..eager.autograd import grad
from ..eager.grad_mode import no_grad
from ..eager.tensor import Tensor, to_tensor
from ..ir.guard import disable_static as enable_dygraph
from ..ir.guard import enable_static as disable_dygraph

__all__ = ["disable_dygraph", "enable_dygraph", "enabled", "grad", "guard", "no_grad", "to_variable"]


@contextmanager
def guard(place: PlaceLike | None = None) -> Iterator[None]:
    """Run operators eagerly inside the block, on `place` if one is given; static mode comes back after it.

    >>> import vitrify as paddle
    >>> with paddle.base.dygraph.guard():
    ...     paddle.ones([2]).tolist()
    [1.0, 1.0]
    """
    was_static = not enabled()
    with ExitStack() as stack:
        if place is not None:
            stack.enter_context(place_guard(place))
        if was_static:
            enable_dygraph()
            stack.callback(disable_dygraph)
        yield


def to_variable(
    value: Any, name: str | None = None, zero_copy: bool | None = None, dtype: DTypeLike | None = None
) -> Tensor:
    """Return `value` as a tensor: the older name of `paddle.to_tensor`. A tensor is returned as it is.

    zero_copy: accepted, for eager tensors copy what NumPy may still change.
    """
    if isinstance(value, Tensor) and dtype is None:
        return value
    tensor: Tensor = to_tensor(value, dtype=dtype)
    if name is not None:
        tensor.name = name
    return tensor
