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
from ...ir.origins import end_of, maker
from ...ir.program import Variable
from ...ir.stop_flags import write_flag
from ...ir.varying import STOP_GRADIENT, facts_of
from ...ops.compare import logical_not
from ...ops.control_flow import if_op
from ...ops.registry import StructuralGradient
from ..values.asked import asked_flag
from ..values.base import builder, is_graph, is_tensor, scalar_condition
from ..values.facts import asks_gradient, check_attribute

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
    if is_graph(value):
        yes, no = (partial(_write, owner, name, flag) for flag in (True, False))
        builder().choose(scalar_condition(value, name), yes, no, name)
        return
    write_flag(builder(), owner, bool(value) is FLAGS[name], name=name)


def _flag(owner: Any, name: str) -> Any:
    check_attribute(owner, name)
    stops = _stops(owner, name)
    return stops if FLAGS[name] else logical_not(stops) if is_graph(stops) else not stops


def _stops(owner: Any, name: str) -> Any:
    """Whether a tensor stops gradients: a bool of the program where a path decides about it."""
    held = builder().held(owner)
    if not held.stop_gradient and asks_gradient(held):
        return asked_flag(held, name)
    return bool(held.stop_gradient)


def _trainable(owner: Any, name: str) -> Any:
    """The flag of a parameter; other tensors have it in programs alone."""
    is_parameter = isinstance(owner, Parameter) or getattr(owner, "is_parameter", False)
    return _flag(owner, name) if is_parameter else getattr(owner, name)


def _name(owner: Any, name: str) -> Any:
    """The name of a tensor that was not given as an argument, or that the function gave one; by the path taken."""
    if not isinstance(owner, Variable) or owner.block.vars.get(owner.name) is not owner:
        return str(owner.name)
    made = _maker(owner)
    if made is not None and made.op is if_op and owner in builder().aliases.forks:
        place = next(i for i, out in enumerate(made.outputs) if out is owner)
        then, orelse = (partial(_name, end_of(block, place), name) for block in made.blocks.values())
        return builder().choose(builder().block.resolve(made.inputs[0]), then, orelse, name)
    if made is None or _is_decided(owner):
        raise _unknown(name)
    return str(owner.name)


def _is_leaf(owner: Any, name: str) -> Any:
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
    if is_cut and STOP_GRADIENT in facts_of(base):
        raise _unknown(name)
    if not _is_made_by_ops(base):
        raise _unknown(name)
    if not base.stop_gradient and asks_gradient(base):
        return asked_flag(base, name)
    made = _maker(base)
    return bool(base.stop_gradient) or not any(isinstance(v, Variable) and not v.stop_gradient for v in made.inputs)


def _is_made_by_ops(var: Variable) -> bool:
    """Whether on every path an operator that is no loop made it: it is a leaf where it stops gradients."""
    made = _maker(var)
    if made is None or made.op is not if_op:
        return made is not None and not isinstance(made.op.vjp, StructuralGradient)
    place = next(i for i, out in enumerate(made.outputs) if out is var)
    ends = [block.outputs[place] for block in made.blocks.values()]
    return all(isinstance(end, Variable) and _is_made_by_ops(end) for end in ends)


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
