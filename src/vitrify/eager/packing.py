"""Hooks that pack what is kept for backward (to the host, to disk, into fewer bits) and unpack it when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ..core.errors import DTypeError
from ..core.modes import Scoped, grad_enabled
from .holder import Holder
from .tape import TENSORS, Node, Saved, SavedOutput

if TYPE_CHECKING:
    from .tensor import Tensor

Hooks = tuple[Callable[[Any], Any], Callable[[Any], Any]]

HOOKS: ContextVar[Hooks | None] = ContextVar("saved_tensors_hooks", default=None)
_hooks = HOOKS.get


class Packed(Saved):
    """A saved tensor in the form that `pack_hook` gave it; the memory itself is not held."""

    __slots__ = ("is_output", "packed", "unpack")

    def __init__(self, tensor: Tensor, index: int | None, hooks: Hooks) -> None:
        super().__init__(tensor)
        self.is_output = index is not None
        if index is not None:  # the node that will own it is not known yet
            self.node, self.index, self.leaf = None, index, None
        pack, self.unpack = hooks
        self.packed = pack(TENSORS.wrap(self.array))
        self.array = None

    def check(self, owner: str, name: str) -> None:
        """Nothing: what was packed is not changed by changes of the tensor."""

    def detach_memory(self) -> None:
        """Nothing: no memory is shared."""

    def restore(self, owner: Node, name: str) -> Tensor:
        """What `unpack_hook` returns, in the saved tensor's place on the tape."""
        found = self.unpack(self.packed)
        if not isinstance(found, Holder):
            raise DTypeError(f"saved_tensors_hooks: unpack_hook must return a Tensor, got {type(found).__name__}")
        if self.leaf is not None and grad_enabled.get():
            return self.leaf  # a leaf is known by identity when its gradient's gradient is asked for
        node = owner if self.is_output else self.node
        return TENSORS.wrap(found._data) if node is None else TENSORS.of_output(found._data, node, self.index)


def save_input(tensor: Tensor) -> Saved:
    """`tensor` as a node keeps it for backward."""
    hooks = _hooks()
    return Saved(tensor) if hooks is None else Packed(tensor, None, hooks)


def save_output(tensor: Tensor, index: int) -> Saved:
    """Output `index` of a node as the node itself keeps it for backward."""
    hooks = _hooks()
    return SavedOutput(tensor, index) if hooks is None else Packed(tensor, index, hooks)


class saved_tensors_hooks(Scoped["Hooks | None"]):
    """Inside `with`, tensors kept for backward go through `pack_hook`, and through `unpack_hook` when they are used.

    pack_hook(tensor) -> anything; unpack_hook(that) -> a Tensor with the same content.
    Source: paddle.autograd.saved_tensors_hooks.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([3.0], stop_gradient=False)
        >>> with paddle.autograd.saved_tensors_hooks(lambda t: t.numpy(), paddle.to_tensor):
        ...     y = x * x
        >>> y.backward()
        >>> x.grad.tolist()
        [6.0]
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        super().__init__(HOOKS, (pack_hook, unpack_hook))


__all__ = ["HOOKS", "save_input", "save_output", "saved_tensors_hooks"]
