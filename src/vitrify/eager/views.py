"""Gradients of tensors that share memory: what is written to one of them in place is, on the tape too, written to all.

A view knows its base. The count of changes that all tensors on a memory share also knows the views, weakly. When one of
them is changed, those that show what was changed, or are shown in part, take their place on the tape anew. Under
no_grad neither changes nor views are noted, as nothing else is.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.modes import grad_enabled, scoped
from ..ops.registry import OpDef
from ..ops.view import View
from .holder import Holder
from .layout import address
from .tape import TENSORS

_FIRST_SWEEP = 32
"""So many views of a memory are known before those that are gone are looked for."""


def note_view(op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any], out: Any) -> None:
    """Remember that `out`, of the same memory, is a view of the first input."""
    out._view = (op, inputs[0], inputs[1:], attrs)
    _join(out._cell, out)


def _join(cell: list[Any], tensor: Any) -> None:
    if len(cell) == 1:
        cell += [[], _FIRST_SWEEP]
    known = cell[1]
    known.append(weakref.ref(tensor))
    if len(known) > cell[2]:
        cell[1] = [held for held in known if held() is not None]
        cell[2] = 2 * len(cell[1]) + _FIRST_SWEEP


def _view_of(tensor: Any) -> View | None:
    found = getattr(tensor, "_view", None)
    return None if found is None else View(found[0], found[1], tuple(found[2]), found[3])


def _known(cell: list[Any]) -> list[Any]:
    return [tensor for held in cell[1] if (tensor := held()) is not None]


def follow(tensor: Any, before: Any, value: Any, cell: list[Any]) -> None:
    """Let the tensors that share memory with `tensor`, just changed to `value`, follow.

    before: the tensor as it was, on the memory that it had; cell: the count of that memory.
    """
    if tensor._data is not before._data:
        _leave(tensor, before, value, cell)
    elif grad_enabled.get():
        _rewrite(tensor, _known(cell))


def as_it_is(tensor: Any) -> Any:
    """A stand-in for `tensor` as it is now: its memory, and its place on the tape."""
    made = TENSORS.wrap(tensor._data)
    made._node, made._index, made.stop_gradient = tensor._node, tensor._index, tensor.stop_gradient
    made._cell = tensor._cell
    return made


def _leave(tensor: Any, before: Any, value: Any, cell: list[Any]) -> None:
    """The tensor holds another array now: its views show what it was, and so does it itself where it was reshaped."""
    own = getattr(tensor, "_view", None)
    if own is not None:
        before._view = own
        del tensor._view
        _join(cell, before)
    for view in _known(cell):
        held = getattr(view, "_view", None)
        if held is not None and held[1] is tensor and view is not value:
            view._view = (held[0], before, *held[2:])
    made = getattr(value, "_view", None)
    if tensor._cell is cell and made is not None and made[1] is tensor:
        tensor._view = (made[0], before, *made[2:])
        _join(cell, tensor)


def _rewrite(tensor: Any, members: list[Any]) -> None:
    """The tensor was written to: what it is a view of, and all views of that, take their places on the tape anew."""
    family = [tensor, *members, *_bases(tensor)]
    if all(member.stop_gradient for member in family):
        return
    _refresh_views(tensor, members)
    written, view = tensor, _view_of(tensor)
    while view is not None and _shows(view, written) and not _is_wanted_leaf(view.base):
        base = view.base
        whole = base._data.size == written._data.size
        with scoped(grad_enabled, True):
            _take_place(base, view.put_back(as_it_is(base), written, whole))
        _refresh_views(base, members, but=written)
        written, view = base, _view_of(base)


def _bases(tensor: Any) -> list[Any]:
    found: list[Any] = []
    while (view := getattr(tensor, "_view", None)) is not None:
        tensor = view[1]
        found.append(tensor)
    return found


def _refresh_views(base: Any, members: list[Any], but: Any = None) -> None:
    for member in members:
        held = getattr(member, "_view", None)
        if held is None or held[1] is not base or member is but:
            continue
        fresh = _shown(member)
        if fresh is not None:
            _take_place(member, fresh)
            _refresh_views(member, members)


def _shown(member: Any) -> Any:
    """The view made anew; None where it has memory of its own, as reshaping may give it."""
    view = _view_of(member)
    fresh = None if view is None else view.of(view.base)
    return fresh if fresh is not None and address(fresh._data) == address(member._data) else None


def _shows(view: View, tensor: Any) -> bool:
    return address(view.of(as_it_is(view.base))._data) == address(tensor._data)


def _is_wanted_leaf(tensor: Holder) -> bool:
    """Whether it is a leaf that gets a gradient, which it stays: its gradient is that of its content."""
    return tensor._node is None and not tensor.stop_gradient


def _take_place(tensor: Any, made: Any) -> None:
    tensor._node, tensor._index, tensor.stop_gradient = made._node, made._index, made.stop_gradient


__all__ = ["as_it_is", "follow", "note_view"]
