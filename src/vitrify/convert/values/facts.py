"""Facts about tensors that Python code asks for while it is converted, where the answer depends on the path taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import contains
from types import NoneType
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, VitrifyError
from ...core.meta import ListMeta
from ...eager.host_ops import assert_op
from ...eager.parameter import Parameter
from ...eager.tensor import Tensor, wrap
from ...ir.graph_tensor import GraphTensor, as_number, is_number, sample
from ...ir.origins import maker
from ...ir.program import Block, Variable
from ...ir.varying import CLASS, DTYPE, KINDS, NDIM, STOP_GRADIENT, VARYING, Kind, Varying, facts_of, kind_of
from ...ops.compare import equal
from ...ops.control_flow import if_op, while_op
from ...ops.registry import StructuralGradient
from .base import Undefined, builder, is_graph
from .deferred import Call, record
from .optional import assert_not_none, kinds_at

_OF_NONE = frozenset(dir(None))

_FACTS = {
    "dtype": DTYPE, "ndim": NDIM, "shape": NDIM, "dim": NDIM, "rank": NDIM, "ndimension": NDIM, "strides": NDIM,
    "itemsize": DTYPE, "element_size": DTYPE, "is_floating_point": DTYPE, "is_integer": DTYPE, "is_complex": DTYPE,
}  # fmt: skip
_SHOWN = {DTYPE: "the dtype", NDIM: "the number of dimensions", STOP_GRADIENT: "stop_gradient", CLASS: "the class"}


class FirstIterationDiffers(Exception):
    """The first iteration of a loop starts from something that no tensor can carry together with what later ones do.

    `loop`: the body in question; None for the loop that is being traced.
    """

    def __init__(self, reason: VitrifyError, loop: Block | None = None) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.loop = loop

    def is_of_outer_loop(self) -> bool:
        """Whether the loop is one around the block being built."""
        return self.loop is not None and _is_inside(self.loop)


def _is_inside(wanted: Block) -> bool:
    block: Block | None = builder().block
    while block is not None and block is not wanted:
        block = block.parent
    return block is wanted


def check_attribute(owner: Any, attribute: str) -> None:
    """Raise for `owner.attribute` where that depends on the path; the program raises where the owner is a number."""
    if attribute not in _OF_NONE:
        assert_not_none(owner, AttributeError(f"'NoneType' object has no attribute {attribute!r}"))
    held = kind_of(owner)
    kinds = frozenset() if held is None else held.kinds - {NoneType}
    if held is not None and not all(_has(kind, attribute) for kind in kinds):
        _assert_has(Kind(held.code, kinds), attribute)
    if held is None and is_number(owner) and not hasattr(type(sample(owner)), attribute):
        raise AttributeError(f"{type(sample(owner)).__name__!r} object has no attribute {attribute!r}")
    fact = _FACTS.get(attribute, "")
    varying = builder().content(owner).__dict__.get(VARYING) if fact else None
    if varying is not None and fact in varying.facts:
        raise _refusal(varying, fact, attribute)


def asks_gradient(var: Variable) -> bool:
    """Whether only a run knows if `var`, which may want a gradient, does."""
    known: dict[Variable, bool] = {}
    waiting = [_judging(var, known)]
    while waiting:
        wanted = next(waiting[-1], None)
        if wanted is None:
            waiting.pop()
        elif wanted not in known:
            waiting.append(_judging(wanted, known))
    return not known[var]


def _judging(var: Variable, known: dict[Variable, bool]) -> Iterator[Variable]:
    """Find whether a variable wants a gradient on every path, once that is known of those that this asks for."""
    known[var] = True  # where it leads back to itself
    sources = _gradient_sources(var)
    if any(source is not var for source in sources):
        yield from sources
        known[var] = any(known[source] for source in sources)
    elif STOP_GRADIENT in facts_of(var) or isinstance(var.meta, ListMeta):
        known[var] = False
    else:
        ends = _ends(var)
        yield from ends
        known[var] = all(known[end] and not end.stop_gradient for end in ends)


def _ends(var: Variable) -> list[Variable]:
    """What a branch, loop or capture gives: all that it may be."""
    made = maker(var)
    if made is None:
        return [outer for outer, inner in var.block.captures.items() if inner is var]
    place = next(i for i, out in enumerate(made.outputs) if out is var)
    if made.op is if_op:
        return [end for block in made.blocks.values() if (end := block.outputs[place]) is not None]
    if made.op is not while_op or place >= made.attrs["n_carried"] or made.attrs["cond"] is None:
        return []
    ends = made.inputs[place], made.attrs["body"].outputs[place]
    return [end for end in ends if isinstance(end, Variable)]


def _gradient_sources(var: Variable) -> list[Variable]:
    """What wants a gradient on the ways to `var`: leaves, what enters the block, and what a path decides about."""
    found: list[Variable] = []
    pending = {var}
    for operator in reversed(var.block.ops):
        made = pending.intersection(operator.outputs)
        pending -= made
        is_plain = not isinstance(operator.op.vjp, StructuralGradient)
        wanting = {v for v in operator.variables if not v.stop_gradient} if made and is_plain else set()
        ends = {v for v in made if not wanting or STOP_GRADIENT in facts_of(v) or isinstance(v.meta, ListMeta)}
        found += ends
        pending |= wanting if made - ends else set()
    return [*found, *pending]


def _refusal(varying: Varying, fact: str, shown: str) -> Exception:
    reason = UnsupportedError(
        f"{shown} is read of a tensor, but {_SHOWN[fact]} depends on the path that a tensor decided about",
        hint="give the variable the same dtype and number of dimensions on all paths and before a loop",
    )
    inside = varying.loop is not None and _is_inside(varying.loop)
    return FirstIterationDiffers(reason, varying.loop) if inside else reason


def _has(kind: type, attribute: str) -> bool:
    return hasattr(Tensor if kind is GraphTensor else kind, attribute)


def _assert_has(held: Kind, attribute: str) -> None:
    lacking = next(kind for kind in held.kinds if not _has(kind, attribute))
    error = Call(AttributeError, (f"{lacking.__name__!r} object has no attribute {attribute!r}",))
    record(assert_op, _is_one(held, lambda kind: _has(kind, attribute)), error=error)


def check_container(value: Any) -> None:
    """Let the program raise what `in` does where a tensor of the program is a Python number on the path taken."""
    held = kind_of(value)
    lacking = [] if held is None else [kind for kind in held.kinds - {NoneType} if not _has(kind, "__contains__")]
    if held is None or not lacking:
        return
    try:
        contains(lacking[0](), None)
    except TypeError as error:
        holds = _is_one(Kind(held.code, held.kinds - {NoneType}), lambda kind: kind not in lacking)
        record(assert_op, holds, error=Call(TypeError, error.args))


def ask(value: Any, question: Callable[[type], bool]) -> Any:
    """What `question` says of the value's class: a tensor where that depends on the path."""
    if isinstance(value, Undefined):
        raise value.fail()
    held = kind_of(value)
    if held is not None:
        return _is_one(Kind(held.code, kinds_at(value, held.kinds, builder().block)), question)
    return question(class_of_tensor(value))


def _is_one(held: Kind, question: Callable[[type], bool]) -> Any:
    """Whether the class is one of those of which the question is true."""
    fitting = [kind for kind in held.kinds if question(Tensor if kind is GraphTensor else kind)]
    if len(fitting) in (0, len(held.kinds)):
        return bool(fitting)
    found, *others = [equal(held.code, KINDS.index(kind)) for kind in fitting]
    for other in others:
        found = found | other
    return as_number(found)


def is_of_one_class(value: Any) -> bool:
    """Whether the class of a value is the same on all paths."""
    return not is_graph(value) or (kind_of(value) is None and CLASS not in facts_of(value))


def of_its_class(value: Any) -> Any:
    """A tensor or number of eager code for one of the program, by which Python knows what to say of its class."""
    if not is_graph(value):
        return value
    return wrap(np.zeros(())) if issubclass(class_of_tensor(value), Tensor) else sample(value)


def class_of_tensor(value: Any) -> type:
    """The class of a tensor of the program in eager code. Raises UnsupportedError where that depends on the path."""
    varying = value.__dict__.get(VARYING)
    if kind_of(value) is not None or CLASS in facts_of(value):
        raise _refusal(varying or Varying(frozenset()), CLASS, "the class")
    if is_number(value):
        return type(sample(value))
    return Parameter if getattr(value, "is_parameter", False) else Tensor
