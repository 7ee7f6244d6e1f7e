"""Optimizers in programs written by hand: gradients, clipping, decay and updates become operators of the program."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ..autodiff.append import append_backward
from ..core import names
from ..core.dispatch import in_dynamic_mode
from ..core.dtype import default_dtype, float32
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta
from ..core.modes import grad_enabled, scoped
from ..core.source import user_frames
from ..ir.guard import create_persistable, default_startup_program, program_guard
from ..ir.program import Operator, Program, Variable
from ..ops.creation import full
from ..ops.like import assign_op, cast
from ..ops.unary import sign
from .half import widened_gradient
from .lr.base import LRScheduler
from .slots import HALF, Group, ParameterSettings

if TYPE_CHECKING:
    from .optimizer import Optimizer

PairList = list[tuple[Any, Any]]


class ProgramState:
    """The variables that one optimizer has in programs: learning rates, and the state of each parameter."""

    def __init__(self) -> None:
        self.rates: dict[int, Variable] = {}
        self.states: dict[tuple[int, str], Variable] = {}

    def rate(self, program: Program, optimizer: Optimizer) -> Variable:
        """The learning rate, a variable of the scope; a scheduler sets it before each run."""
        found = self.rates.get(program.uid)
        if found is None:
            name, dtype, rate = names.generate("learning_rate"), default_dtype(), optimizer.get_lr()
            found = create_persistable(Meta((), dtype), name, lambda: full([], rate, dtype))
            self.rates[program.uid] = found
            if isinstance(optimizer._learning_rate, LRScheduler):
                program.host_values[name] = optimizer.get_lr
        return found

    def state(self, program: Program, meta: Meta, key: str, start: Any) -> Variable:
        """A state variable that `start()` fills at startup; `key` names it, but for a number behind."""
        found = self.states.get((program.uid, key))
        if found is None:
            known = program.global_block().vars
            number = next(n for n in range(len(known) + 1) if f"{key}_{n}" not in known)
            found = self.states[program.uid, key] = create_persistable(meta, f"{key}_{number}", start)
        return found

    def by_name(self) -> dict[str, Variable]:
        """All state variables by their names in scopes."""
        return {var.name: var for var in self.states.values()}


def check_loss(owner: str, loss: Any, startup_program: Any) -> Variable:
    """`loss`; raises unless it is one value of a program that is being written."""
    if not isinstance(loss, Variable):
        raise DTypeError(f"{owner}: loss must be a Tensor, got {type(loss).__name__}")
    if any(size not in (1, UNKNOWN) for size in loss.shape):
        raise ShapeError(f"{owner}: loss must have one element, got {loss.meta}", hint="take its mean() first")
    if in_dynamic_mode() and startup_program is None:
        raise ArgumentError(
            f"{owner}.minimize: the loss belongs to a program, and no program is being written here",
            hint="call it inside `with program_guard(main, startup)`, or pass startup_program=",
        )
    return loss


def backward_in_program(
    optimizer: Optimizer, loss: Variable, startup_program: Any, parameters: Any, no_grad_set: Any
) -> PairList:
    """The pairs of parameter and gradient, whose operators are appended to the loss's program."""
    given = list(parameters) if parameters else optimizer.given_parameters()
    with program_guard(loss.block.program, startup_program):
        pairs = append_backward(loss, given or None, no_grad_set)
    if not pairs:
        raise ArgumentError(
            f"{type(optimizer).__name__}.minimize: the loss depends on no parameter",
            hint="make parameters with paddle.static.nn, paddle.nn or static.create_parameter in the same program",
        )
    return list(pairs)


def apply_in_program(optimizer: Optimizer, pairs: PairList, startup_program: Any = None) -> list[Operator]:
    """The update operators, appended behind those of clipping and weight decay."""
    if not pairs:
        return []
    program = pairs[0][0].block.program
    with program_guard(program, startup_program), scoped(grad_enabled, False), program.adding("optimize"):
        mark = len(program.global_block().ops)
        for group, chosen in optimizer.grouped(pairs):
            _apply(optimizer, group, chosen, program)
        return [op for op in program.global_block().ops[mark:] if op.op is optimizer.rule.op]


def _apply(optimizer: Optimizer, group: Group, pairs: PairList, program: Program) -> None:
    if group.clip is not None:
        pairs = group.clip([(p, widened_gradient(g)) for p, g in pairs] if optimizer.master_grad else pairs)
    for param, grad in pairs:
        half = param.dtype.itemsize == HALF
        settings = ParameterSettings(param, group, half, optimizer._multi_precision, optimizer._name)
        optimizer.settle(settings)
        _Update(optimizer, program, settings).record(grad)


class _Update:
    """The operators that update one parameter."""

    def __init__(self, optimizer: Optimizer, program: Program, settings: ParameterSettings) -> None:
        self.optimizer = optimizer
        self.program = program
        self.settings = settings
        self.param: Variable = settings.param
        known = self.param.meta
        assert isinstance(known, Meta)
        self.meta = known if not settings.half else Meta(known.shape, float32)

    def record(self, grad: Variable) -> None:
        """Append decay and update for this gradient."""
        target = self._target()
        if grad.dtype is not target.dtype:
            grad = cast(grad, target.dtype)
        state = self._state()
        inputs = [target, self._decayed(target, grad), self._rate(), *state]
        attrs = {**self.settings.attrs, "l1": 0.0, "l2": 0.0}
        block = self.program.global_block()
        block.append(self.optimizer.rule.op, inputs, [target, *state], attrs, user_frames(2))
        if self.settings.half:
            block.append(assign_op, [cast(target, self.param.dtype)], [self.param], {}, user_frames(2))

    def _target(self) -> Variable:
        """What the rule updates: the parameter, or of a 16-bit one a copy in float32."""
        if not self.settings.half:
            return self.param
        if not self.settings.keep_master:
            wide: Variable = cast(self.param, "float32")
            return wide
        start = partial(_copy_at_startup, self.param.name)
        return self._kept(self.meta, f"{self.param.name}_fp32_master", start)

    def _decayed(self, target: Variable, grad: Variable) -> Variable:
        """The gradient plus that of the weight decay."""
        l1, l2 = self.settings.decay
        if l2:
            decayed: Variable = target * l2 + grad
            return decayed
        return sign(target) * l1 + grad if l1 else grad

    def _rate(self) -> Variable:
        rate = self.optimizer.program_state.rate(self.program, self.optimizer)
        factor = self.optimizer.rate_factor(self.settings)
        return rate if factor == 1.0 else rate * factor

    def _state(self) -> list[Variable]:
        rule = self.optimizer.rule
        attrs = self.settings.attrs
        shapes = {name: self.optimizer.state_shape(name, self.meta.shape, attrs) for name in rule.arrays}
        shapes |= dict.fromkeys(rule.counters, (1,))
        metas = {name: Meta(shape, self.meta.dtype) for name, shape in shapes.items()}
        return [self._kept(meta, self.settings.key(name), self._start(name, meta)) for name, meta in metas.items()]

    def _start(self, name: str, meta: Meta) -> Any:
        value = self.optimizer.initial_state(name, self.settings.attrs)
        return lambda: full(list(meta.shape), value, meta.dtype)

    def _kept(self, meta: Meta, key: str, start: Any) -> Variable:
        return self.optimizer.program_state.state(self.program, meta, key, start)


def _copy_at_startup(name: str) -> Any:
    """The parameter of that name in the startup program, which has filled it by then, in float32."""
    return cast(default_startup_program().global_block().var(name), "float32")


def set_rate(state: ProgramState, value: float) -> None:
    """Let the global scope hold this learning rate for every program of the optimizer."""
    for var in state.rates.values():
        var.set_value(value)


def load_state(owner: str, state: ProgramState, values: Mapping[str, Any]) -> None:
    """Let the global scope hold saved state by name; raises ArgumentError for a state that is missing."""
    missing = sorted(set(state.by_name()) - set(values))
    if missing:
        raise ArgumentError(f"{owner}: the loaded state has no {missing[0]!r}")
    for name, var in state.by_name().items():
        var.set_value(values[name])
