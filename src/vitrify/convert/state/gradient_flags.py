"""`stop_gradient` and its kin while a function is traced: of what a tensor means there, not of its object."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...core.errors import UnsupportedError
from ...eager.parameter import Parameter
from ...eager.tensor import Tensor
from ...ir.aliases import Cut
from ...ir.builder import current_builder
from ...ir.origins import maker
from ...ir.program import Variable
from ...ir.stop_flags import write_flag
from ...ir.varying import STOP_GRADIENT, facts_of
from ...ops.registry import StructuralGradient
from ..values.base import builder, is_tensor
from ..values.facts import check_attribute, check_gradient

# What each is for a tensor that stops gradients.
FLAGS = {"stop_gradient": True, "requires_grad": False, "trainable": False}


def flag_reader(owner: Any, name: str) -> Callable[[], Any] | None:
    """What reads `owner.name` where that is a fact about gradients, or the call's alone; None for others."""
    if name == "persistable":
        return (lambda: True) if _is_made_parameter(owner) else None
    read = None if name == "name" and isinstance(owner, Tensor) else _READERS.get(name)
    build = current_builder() if read is not None and is_tensor(owner) else None
    return partial(read, owner, name) if read is not None and build is not None and build.tracing else None


def _is_made_parameter(owner: Any) -> bool:
    """Whether it is a parameter that the trace made and nobody has set `persistable` of: in eager code all are."""
    return isinstance(owner, Variable) and bool(getattr(owner, "is_parameter", False)) and owner.persistable is False


def flag_writer(owner: Any, name: str) -> Callable[[Any], None] | None:
    """What `owner.name = value` does where that is a fact about gradients; None for others."""
    build = current_builder() if name in FLAGS and is_tensor(owner) else None
    return partial(_write, owner, name) if build is not None and build.tracing else None


def _write(owner: Any, name: str, value: Any) -> None:
    write_flag(builder(), owner, bool(value) is FLAGS[name], name=name)


def _flag(owner: Any, name: str) -> bool:
    check_attribute(owner, name)
    held = builder().held(owner)
    if not held.stop_gradient:
        check_gradient(held, name)
    return bool(held.stop_gradient) is FLAGS[name]


def _trainable(owner: Any, name: str) -> Any:
    """The flag of a parameter; other tensors have it in programs alone."""
    is_parameter = isinstance(owner, Parameter) or getattr(owner, "is_parameter", False)
    return _flag(owner, name) if is_parameter else getattr(owner, name)


def _name(owner: Any, name: str) -> str:
    """The name of a tensor that was not given as an argument, or that the function gave one."""
    is_its_own = isinstance(owner, Variable) and owner.block.vars.get(owner.name) is owner
    if is_its_own and _maker(owner) is None:
        raise _unknown(name)
    return str(owner.name)


def _is_leaf(owner: Any, name: str) -> bool:
    if getattr(owner, "is_parameter", False):
        return True
    held = builder().held(owner)
    base, is_cut = held, False
    while isinstance(view := builder().aliases.views.get(base), Cut):
        if view.is_leaf:
            check_attribute(owner, name)
            if _is_decided(base):
                raise _unknown(name)
            return True
        base, is_cut = view.base, True
    if not is_cut or STOP_GRADIENT in facts_of(base):  # else it is as it was before the flag was set
        check_attribute(owner, name)
    made = _maker(base)
    if made is None or isinstance(made.op.vjp, StructuralGradient):
        raise _unknown(name)
    wants = any(isinstance(v, Variable) and not v.stop_gradient for v in made.inputs)
    return bool(base.stop_gradient) or not wants


def _is_decided(tensor: Variable) -> bool:
    """Whether it is what a branch or loop gives."""
    made = maker(tensor)
    return made is not None and isinstance(made.op.vjp, StructuralGradient)


def _maker(tensor: Any) -> Any:
    """The operator that made a tensor of the program; None for what comes from outside of its block."""
    return maker(tensor) if isinstance(tensor, Variable) else None


def _refuse(owner: Any, name: str) -> Any:
    raise _unknown(name)


def _unknown(name: str) -> UnsupportedError:
    return UnsupportedError(
        f"{name} of a tensor is read inside a function that is being converted: it depends on the call",
        hint="ask for it outside of the function; stop_gradient is known inside",
    )


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "stop_gradient": _flag, "requires_grad": _flag, "trainable": _trainable, "is_leaf": _is_leaf, "grad_fn": _refuse,
    "inplace_version": _refuse, "name": _name,
}  # fmt: skip
