"""Optimizers in traced code: a step becomes operators of the program, on the parameters and state that there are.

What a step does outside of the program stays outside of it: schedulers step when the program has run, and the learning
rate is asked for before each run.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..core.errors import UnsupportedError
from ..core.lazy import lazy_module
from ..core.modes import grad_enabled, recorder, scoped
from ..core.source import user_frames
from ..eager.gradients import stops_gradient, training_of_trace
from ..eager.tensor import Tensor
from ..ops.creation import full
from ..ops.like import cast, full_like
from .half import widened_gradient
from .lr.base import LRScheduler
from .lr.in_trace import scheduled_rate
from .slots import Group, Slot

if TYPE_CHECKING:
    from .optimizer import Optimizer

# The converter, which a trace has imported and eager training needs none of.
_branches, _optional = lazy_module("vitrify.convert.control.branches"), lazy_module("vitrify.convert.values.optional")
PairList = list[tuple[Any, Any]]


def rate_in_trace(training: Any, optimizer: Optimizer) -> Any:
    """The learning rate as an input of the program: what it is before each run, or after the steps traced so far."""
    if training.is_set(optimizer):
        return training.held_for(optimizer)
    rate = optimizer._learning_rate
    if isinstance(rate, LRScheduler) and training.has_stepped(rate):
        return scheduled_rate(training, rate)
    return training.number((id(optimizer), "learning rate"), f"{type(optimizer).__name__}.get_lr()", optimizer.get_lr)


def set_rate_in_trace(training: Any, optimizer: Optimizer, rate: Any) -> None:
    """Take `rate`, a float or a number of the program, from here on, and set it after each run."""
    training.set_after_run(optimizer, "set_lr", rate, rate_in_trace(training, optimizer))


def step_in_trace(optimizer: Optimizer, given: PairList | None = None) -> None:
    """Record one step. given: the pairs of parameter and gradient, by default all that there are."""
    training = training_of_trace()
    chosen = None if given is None else {id(p): g for p, g in given}
    training.watch((id(optimizer), "groups"), f"parameters of {type(optimizer).__name__}", partial(_count, optimizer))
    with scoped(grad_enabled, False):
        rate = rate_in_trace(training, optimizer)
        if isinstance(rate, float):
            rate = full([], rate, "float64")
        for group in optimizer._groups:
            _apply(training, optimizer, group, _pairs(training, group, chosen), rate)


def _count(optimizer: Optimizer) -> int:
    return sum(len(group.params) for group in optimizer._groups)


def _pairs(training: Any, group: Group, chosen: dict[int, Any] | None) -> PairList:
    if chosen is not None:
        return [(p, chosen[id(p)]) for p in group.params if id(p) in chosen]
    pairs = [(p, training.held_by(p)) for p in group.params]
    return [(p, g) for p, g in pairs if g is not None and not stops_gradient(p)]


def _apply(training: Any, optimizer: Optimizer, group: Group, pairs: PairList, rate: Any) -> None:
    unsure = {id(p): _optional.is_none(g) for p, g in pairs if _optional.optional_kind(g) is not None}
    if group.clip is not None:
        pairs = [(p, _or_zeros(p, g, unsure[id(p)]) if id(p) in unsure else g) for p, g in pairs]
        pairs = group.clip([(p, widened_gradient(g)) for p, g in pairs] if optimizer.master_grad else pairs)
    for param, grad in pairs:
        if not isinstance(param, Tensor):
            raise UnsupportedError(
                f"{type(optimizer).__name__}.step() with a parameter that was made inside of the function",
                hint="make the Layer and its optimizer outside, or change the parameter under paddle.no_grad()",
            )
        training.pin(param)
        record = partial(_record, training, optimizer, param, grad, group, rate)
        if id(param) in unsure:
            _branches.choose(unsure[id(param)], _nothing, record, "an update")
        else:
            record()


def _nothing() -> None:
    """What is done where there is no gradient."""


def _or_zeros(param: Any, grad: Any, is_missing: Any) -> Any:
    return _branches.choose(is_missing, lambda: full_like(param, 0.0), lambda: grad, "a gradient")


def _record(training: Any, optimizer: Optimizer, param: Any, grad: Any, group: Group, rate: Any) -> None:
    """The update of one parameter."""
    builder = recorder.get()
    slot = optimizer._slots.get(id(param))
    if slot is None:
        training.on_failure.append(partial(optimizer._slots.pop, id(param), None))
        with scoped(recorder, None):
            slot = optimizer._slot(param, group)
    target = builder.value(_target(slot))
    if not slot.keep_master and slot.half:
        target = cast(target, "float32")
    if grad.dtype is not target.dtype:
        grad = cast(grad, target.dtype)
    factor = optimizer.rate_factor(slot)
    state = slot.tensors((*optimizer.rule.arrays, *optimizer.rule.counters))
    inputs = [target, grad, rate if factor == 1.0 else rate * factor, *state]
    attrs = {**slot.attrs, "l1": slot.decay[0], "l2": slot.decay[1]}
    values = [builder.value(v) for v in inputs]
    with builder.program.adding("optimize"):
        outs = [builder.block.create_var(v.meta, prefix=v.name) for v in (values[0], *values[3:])]
        builder.block.append(optimizer.rule.op, values, outs, attrs, builder.locs or user_frames(2))
        for tensor, out in zip(state, outs[1:]):
            training.updated(tensor, out)
        if not slot.half:
            training.updated(param, outs[0])
            return
        if slot.keep_master:
            training.updated(slot.master_tensor(), outs[0])
        training.updated(param, cast(outs[0], param.dtype))


def _target(slot: Slot) -> Any:
    """What the rule updates."""
    return slot.master_tensor() if slot.keep_master else slot.param
