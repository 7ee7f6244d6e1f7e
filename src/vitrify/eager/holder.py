"""What the parts of Tensor know of each other: one array, and where it stands on the tape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.dtype import DType, from_np
from ..core.modes import grad_enabled, recorder, scoped
from ..core.size import Size, size_of_items
from ..ops.like import assign_op
from ..ops.methods import TensorMethods

if TYPE_CHECKING:
    from .tape import Hook, Node
    from .tensor import Tensor

_recorder = recorder.get


class Holder(TensorMethods):
    """The fields of a Tensor. Its parts (`Content`, `Exchange`, `Moving`, `Layout`) add methods, and no fields.

    Fields:
        _data: the array, NumPy's or CuPy's.
        _node, _index: the tape node that made it, and which of the node's outputs it is; None for a leaf.
        _grad, _hooks: the accumulated gradient and the hooks of a leaf.
        _cell: the count of in-place changes, in a list shared by all tensors on the same memory; None until asked for.
            Behind it, where there are views: those (see `views.py`).
        _view: of a view, how it follows from its base; not set for others.
    """

    __slots__ = (
        "__dict__", "__weakref__", "_cell", "_data", "_grad", "_hooks", "_index", "_node", "_view", "stop_gradient",
    )  # fmt: skip

    _data: Any
    _node: Node | None
    _index: int
    _grad: Tensor | None
    _hooks: list[Hook] | None
    _cell: list[Any] | None
    _view: tuple[Any, ...]
    stop_gradient: bool

    def _meaning(self) -> Any:
        """The variable that this tensor means since a program that is being built changed it in place; else None."""
        building = _recorder()
        return None if building is None else building.meaning(self)

    @property
    def shape(self) -> Size:
        """The sizes of all dimensions, ints: a list that also equals tuples and is joined to them.

        In a program that is being built, -1 stands for a size that only a run knows. Source: paddle.Tensor.shape.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.ones([2, 3])
            >>> x.shape, x.shape == (2, 3), x.shape[-1]
            (paddle.Size([2, 3]), True, 3)
        """
        building = _recorder()
        now = None if building is None else building.meaning(self)
        return size_of_items(self._data.shape if now is None else now.shape)

    @property
    def dtype(self) -> DType:
        """The element type. Source: paddle.Tensor.dtype.

        Example:
            >>> import vitrify as paddle
            >>> paddle.to_tensor([1, 2]).dtype, paddle.to_tensor([0.5]).dtype
            (paddle.int64, paddle.float32)
        """
        now = self._meaning()
        return from_np(self._data.dtype) if now is None else now.dtype

    def version_cell(self) -> list[Any]:
        """The count of in-place changes, shared by all tensors on this memory.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.ones([2])
            >>> x[0] = 5.0
            >>> x.version_cell()[0], x.version_cell() is x.detach().version_cell()
            (1, True)
        """
        cell = self._cell
        if cell is None:
            cell = self._cell = [0]
        return cell

    @property
    def inplace_version(self) -> int:
        """How often this memory was changed in place: tensors on one memory count together.

        Source: paddle.Tensor.inplace_version.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.ones([2])
            >>> y = x.detach()
            >>> _ = x.add_(paddle.ones([2]))
            >>> x.inplace_version, y.inplace_version
            (1, 1)
        """
        return int(self._cell[0]) if self._cell is not None else 0


def copied(value: Any) -> Any:
    """A copy of a tensor, through which no gradient flows; a program being built copies what a run finds there."""
    with scoped(grad_enabled, False):
        return assign_op(value)


__all__ = ["Holder", "copied"]


def fill(t: Holder, data: Any) -> None:
    """Set the fields of a Tensor made without `wrap`: a leaf around `data` that stops gradients."""
    t._data = data
    t.stop_gradient = True
    t._node = None
    t._index = 0
    t._grad = None
    t._cell = None
    t._hooks = None
