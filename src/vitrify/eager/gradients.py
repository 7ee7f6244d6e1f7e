"""Who keeps gradients here: the tape in eager code, the program that is being written while a function is traced."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..core.modes import recorder
from . import backward as _backward
from .tape import TENSORS

if TYPE_CHECKING:
    from .tensor import Tensor

_recorder = recorder.get


class Gradients(Protocol):
    """What is asked for gradients, wherever they are kept."""

    kind: type
    """What a gradient may be, and what may be differentiated."""

    def grad_of(self, owner: Any) -> Any:
        """`owner.grad`."""

    def set_grad(self, owner: Any, value: Any) -> None:
        """`owner.grad = value`."""

    def clear(self, owner: Any, set_to_zero: bool) -> None:
        """Reset `owner.grad`, if there is one, to zeros or None."""

    def note_leaf(self, var: Any, owner: Any) -> None:
        """Know a variable that the user's code made as a leaf whose gradient `owner.grad` will hold."""

    def backward(self, tensors: Sequence[Any], grads: Sequence[Any], retain_graph: bool) -> None:
        """Accumulate into `.grad` of every leaf the vjp of `tensors` with `grads` (ones where None)."""

    def grad(
        self, outputs: Sequence[Any], inputs: Sequence[Any], grads: Sequence[Any], *, retain_graph: bool,
        create_graph: bool, allow_unused: bool, no_grad_vars: Sequence[Any],
    ) -> list[Any]:  # fmt: skip
        """The gradient for each of `inputs`, leaving every `.grad` alone."""


# What all zeros are that `clear` leaves for large tensors: backward adds to them, and nobody writes or reads them.
_ZERO = bytes(np.dtype(np.complex128).itemsize)
_LARGE = 1 << 12


def _zeros_for(owner: Tensor) -> Tensor:
    """Zeros of a tensor's shape; of a large one a single zero spread over it, until `held_grad` is asked."""
    data = owner._data
    if data.__class__ is not np.ndarray or data.size < _LARGE or data.dtype.itemsize > len(_ZERO):
        return TENSORS.zeros(data.shape, data.dtype)
    return TENSORS.wrap(np.ndarray(data.shape, data.dtype, _ZERO, 0, (0,) * data.ndim))


def held_grad(owner: Tensor) -> Tensor | None:
    """`owner._grad`, in memory of its own; in a trace a variable of the program."""
    held = owner._grad
    if held is not None and isinstance(held, TAPE.kind) and held._data.base is _ZERO:
        held._data = TENSORS.zeros(held._data.shape, held._data.dtype)._data
    return held


class Tape:
    """Gradients of eager code: fields of Tensors, which backward fills by walking the tape."""

    kind: type
    backward = staticmethod(_backward.run_backward)
    grad = staticmethod(_backward.grad)

    def grad_of(self, owner: Tensor) -> Tensor | None:
        """`owner.grad`, which has a count of changes from here on: `settle` tells by it that it has been read."""
        held = held_grad(owner)
        if held is not None:
            held.version_cell()
        return held

    def set_grad(self, owner: Tensor, value: Tensor | None) -> None:
        """`owner.grad = value`, a copy of it: what comes to the gradient later is not added to `value`.

        Who has read the gradient before has the new one, as in PaddlePaddle.
        """
        settle(owner, None if value is None else TENSORS.wrap(value._data.copy()))

    def clear(self, owner: Tensor, set_to_zero: bool) -> None:
        """Reset `owner.grad`, if there is one, to zeros or None. Who holds it sees zeros, and no later gradients."""
        held = owner._grad
        if held is None or not set_to_zero:
            owner._grad = None
            return
        if held._cell is not None:  # it has been read
            held._refill(TENSORS.zeros(owner._data.shape, owner._data.dtype)._data)
        owner._grad = _zeros_for(owner)
        owner._grad.stop_gradient = held.stop_gradient
        if held.stop_gradient:
            owner._grad.__dict__["is_cleared_"] = True

    def note_leaf(self, var: Any, owner: Any) -> None:
        """Nothing: the tape sees that no operation made it."""


TAPE = Tape()


class Handle(Enum):
    """What becomes of the tensor that was `.grad` when `.grad` takes another value."""

    KEPT = "it is `.grad` still, with the new value"
    CLEARED = "it is left with zeros, as by clear_grad()"
    LEFT = "it is left as it was"
    GIVEN = "there was none: `.grad` is what user code assigned"
    ADDED = "the new value is added to it, if there was one"


def settle(owner: Tensor, value: Tensor | None, handle: Handle = Handle.KEPT) -> None:
    """Let `owner.grad` be `value`, whose memory is no other's, also for who has read it, as `handle` says."""
    held = owner._grad
    if handle is Handle.ADDED:
        if value is not None:
            owner._accumulate(value)
    elif held is None or value is None or handle is Handle.LEFT:
        owner._grad = value
    elif held._data is value._data:
        return
    elif handle is Handle.CLEARED:
        if held._cell is not None:  # it has been read
            held._refill(TENSORS.zeros(held._data.shape, held._data.dtype)._data)
        owner._grad = value
    elif held._data.dtype == value._data.dtype and held._data.shape == value._data.shape:
        held._refill(value._data)
    else:
        owner._grad = value


def end_cleared(grad: Tensor) -> None:
    """Let zeros that `clear` left want a gradient, as what backward adds to them does, whatever was said of the old."""
    if grad.stop_gradient and grad.__dict__.pop("is_cleared_", False):
        grad.stop_gradient = False


def settle_computed(owner: Tensor, value: Tensor | None, handle: Handle) -> None:
    """`settle` what a program has left of `owner.grad`, which wants a gradient as what backward gives does."""
    if value is not None:
        value.stop_gradient = handle is Handle.GIVEN
        held = owner._grad
        if held is not None and held._data is not value._data:
            end_cleared(held)
    settle(owner, value, handle)


def training_of_trace() -> Any:
    """What knows of training where the user's Python is being traced; None elsewhere."""
    return getattr(_recorder(), "training", None)


def stops_gradient(tensor: Any) -> bool:
    """Its stop_gradient: while the user's Python is traced, what that set it to."""
    training = training_of_trace()
    found: bool = tensor.stop_gradient if training is None else training.stops_gradient(tensor)
    return found


def gradients() -> Gradients:
    """What keeps gradients in this thread now."""
    found: Gradients | None = getattr(_recorder(), "training", None)
    return TAPE if found is None else found
