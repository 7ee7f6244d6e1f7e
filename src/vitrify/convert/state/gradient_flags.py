"""`stop_gradient` and its kin while a function is traced: of what a tensor means there, not of its object."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...core.errors import UnsupportedError
from ...ir.aliases import Cut
from ...ir.builder import current_builder
from ...ir.program import Variable
from ...ir.varying import STOP_GRADIENT, facts_of
from ...ops.registry import StructuralGradient
from ..values.base import builder, is_tensor
from ..values.facts import check_attribute

# What each is for a tensor that stops gradients.
_FLAGS = {"stop_gradient": True, "requires_grad": False, "trainable": False}


def flag_reader(owner: Any, name: str) -> Callable[[], Any] | None:
    """What reads `owner.name` where that is a fact about gradients; None for others."""
    read = _READERS.get(name)
    build = current_builder() if read is not None and is_tensor(owner) else None
    return partial(read, owner, name) if read is not None and build is not None and build.tracing else None


def flag_writer(owner: Any, name: str) -> Callable[[Any], None] | None:
    """What `owner.name = value` does where that is a fact about gradients; None for others."""
    build = current_builder() if name in _FLAGS and is_tensor(owner) else None
    return partial(_write, owner, name) if build is not None and build.tracing else None


def _write(owner: Any, name: str, value: Any) -> None:
    build = builder()
    stop = bool(value) is _FLAGS[name]
    held = build.held(owner)
    if held.stop_gradient is stop:
        if not stop and STOP_GRADIENT in facts_of(held):
            build.want_gradient(owner)
        return
    if _maker(owner) is not None:
        build.set_stop_gradient(owner, stop)
    elif not build.flag_input(owner, stop):
        raise UnsupportedError(
            f"{name} of a tensor that the function was given, or that was there before, is changed after it was used, "
            "or where a tensor decides",
            hint="set it first of all in the function, or of a tensor made inside (x = x.detach(), x = x * 1)",
        )


def _flag(owner: Any, name: str) -> bool:
    check_attribute(owner, name)
    return bool(builder().held(owner).stop_gradient) is _FLAGS[name]


def _is_leaf(owner: Any, name: str) -> bool:
    check_attribute(owner, name)
    held = builder().held(owner)
    while isinstance(view := builder().aliases.views.get(held), Cut):
        if view.is_leaf:
            return True
        held = view.base
    made = _maker(held)
    if made is None or isinstance(made.op.vjp, StructuralGradient):
        raise _unknown(name)
    return bool(held.stop_gradient)


def _maker(tensor: Any) -> Any:
    """The operator that made a tensor of the program; None for what comes from outside of its block."""
    if not isinstance(tensor, Variable):
        return None
    return next((op for op in reversed(tensor.block.ops) if any(out is tensor for out in op.outputs)), None)


def _refuse(owner: Any, name: str) -> Any:
    raise _unknown(name)


def _unknown(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"{name} of a tensor is read inside a function that is being converted: it depends on the call",
        hint="ask for it outside of the function; stop_gradient is known inside",
    )


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "stop_gradient": _flag, "requires_grad": _flag, "is_leaf": _is_leaf, "grad_fn": _refuse, "inplace_version": _refuse,
}  # fmt: skip
