"""GradScaler: scale the loss so that float16 gradients don't vanish, and skip steps where they overflow."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ..core.dtype import bool_
from ..core.errors import ArgumentError, UserCodeError
from ..core.lazy import lazy_module
from ..core.meta import Meta
from ..core.modes import grad_enabled, recorder, scoped
from ..eager.gradients import training_of_trace
from ..eager.tensor import as_tensor
from ..ir.graph_tensor import as_number
from ..ops.compare import logical_and, logical_not, logical_or
from ..ops.creation import full
from ..ops.methods import TensorMethods
from ..ops.registry import VARIADIC_OUTPUTS, NoGradient, define_op
from ..ops.select import maximum, where

Counts = tuple[Any, Any, Any]
"""The scale, and how many good and bad steps there were since it changed."""

# Only what is traced asks for the converter.
_calls, _journal = lazy_module("vitrify.convert"), lazy_module("vitrify.convert.state.journal")
_places = lazy_module("vitrify.convert.state.places")


def _unscale_kernel(xp: Any, factor: Any, *grads: Any) -> tuple[Any, ...]:
    number = float(factor)
    scaled = [xp.multiply(g, g.dtype.type(number)) for g in grads]
    finite = xp.ones((), bool)
    for array in scaled:
        finite = finite & xp.isfinite(array).all()
    return (*scaled, finite)


def _unscale_meta(factor: Meta, *grads: Meta) -> tuple[Meta, ...]:
    return (*grads, Meta((), bool_))


_unscale = define_op(
    "unscale_and_check",
    kernel=_unscale_kernel,
    meta=_unscale_meta,
    vjp=NoGradient("gradients are unscaled after they are computed"),
    outputs=VARIADIC_OUTPUTS,
)


class OrderError(UserCodeError, RuntimeError):
    """Methods were called in an order that makes no sense."""


class GradScaler:
    """Scales the loss up before backward and the gradients down before the step.

    A step with gradients that are not finite is skipped. With use_dynamic_loss_scaling the scale is multiplied by
    incr_ratio after incr_every_n_steps good steps, and by decr_ratio after decr_every_n_nan_or_inf bad ones.
    With enable=False nothing is scaled. Raises ArgumentError for ratios that don't grow or shrink.
    Source: paddle.amp.GradScaler; Micikevicius et al. 2017.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0]))
        >>> opt = paddle.optimizer.SGD(0.5, parameters=[w])
        >>> scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0)
        >>> scaler.scale((w * 2).sum()).backward()
        >>> scaler.step(opt)
        >>> scaler.update()
        >>> w.item()
        0.0
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 65536.0,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 2000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        self._enable = enable
        self._use_dynamic = use_dynamic_loss_scaling
        self._good = 0
        self._bad = 0
        self._found_bad = False
        self._unscaled: set[int] = set()
        self._scale = self._init_scale = float(init_loss_scaling)
        self.set_init_loss_scaling(init_loss_scaling)
        self.set_incr_ratio(incr_ratio)
        self.set_decr_ratio(decr_ratio)
        self.set_incr_every_n_steps(incr_every_n_steps)
        self.set_decr_every_n_nan_or_inf(decr_every_n_nan_or_inf)

    # -- one step -----------------------------------------------------------------------------------------------------

    def scale(self, var: Any) -> Any:
        """`var`, a loss, times the scale."""
        return var * self._current_scale() if self._enable else var

    def _current_scale(self) -> Any:
        """The scale; in traced code an input of the program, which each run reads from here."""
        return self._scale if training_of_trace() is None else self._counts()[0]

    def _counts(self) -> Counts:
        """In traced code, the scale and the counts of good and bad steps: after the run's latest update(), or before
        each run, which makes them inputs of the program.
        """
        training = training_of_trace()
        if training.is_set(self):
            held: Counts = training.held_for(self)
            return held
        names = ("_scale", "_good", "_bad")
        scale, good, bad = [training.number((id(self), n), f"GradScaler.{n}", partial(getattr, self, n)) for n in names]
        return scale, good, bad

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of the optimizer's parameters by the scale, at most once before each step."""
        if not self._enable:
            return
        if id(optimizer) in self._unscaled:
            raise OrderError("GradScaler.unscale_: called twice for this optimizer since the last update()")
        self._note()
        self._unscaled = self._unscaled | {id(optimizer)}
        params = optimizer.parameters_with_grad()
        if not params:
            return
        with scoped(grad_enabled, False):
            *grads, finite = _unscale(as_tensor(1.0 / self._current_scale(), "float64"), *[p.grad for p in params])
        for param, grad in zip(params, grads):
            param.grad = grad
        if training_of_trace() is not None:
            self._found_bad = as_number(logical_or(self._found_bad, logical_not(finite)))
        elif not bool(finite):
            self._found_bad = True

    def _note(self) -> None:
        """Tell a trace, if there is one, that what the scaler knows of this step changes."""
        training = training_of_trace()
        if training is not None:
            training.watch((id(self), "step"), "a GradScaler's step", lambda: (self._found_bad, set(self._unscaled)))
            for name in ("_unscaled", "_found_bad"):
                _journal.note_write(_places.AttrPlace(self, name))

    def step(self, optimizer: Any) -> None:
        """Unscale the gradients if that has not been done, and step the optimizer if they are finite."""
        if self._enable and id(optimizer) not in self._unscaled:
            self.unscale_(optimizer)
        bad = self._found_bad
        if isinstance(bad, TensorMethods):
            recorder.get().choose(bad, lambda: None, lambda: _calls.convert_call(optimizer.step)(), "GradScaler.step")
        elif not bad:
            optimizer.step()

    def update(self) -> None:
        """Adapt the scale to what the step found; call it once after `step`."""
        if not self._enable:
            return
        training = training_of_trace()
        if training is None:
            self._adapt(self._found_bad)
            return
        bad, before = self._found_bad, self._counts()
        self._note()
        training.watch((id(self), "settings"), "a GradScaler's settings", self._settings)
        with scoped(grad_enabled, False):
            training.set_after_run(self, "_take", self._adapted(before, as_tensor(bad)), before)
        self._unscaled, self._found_bad = training.held_before(self, "_unscaled"), False

    def _settings(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for key, name in _STATE.items() if key not in _COUNTED)

    def _adapted(self, before: Counts, bad: Any) -> Counts:
        """What `_adapt` makes of the scale and the counts, in operators."""
        if not self._use_dynamic:
            return before
        scale, good, worse = map(as_tensor, before)
        good = where(bad, full([], 0, "int64"), good + 1)
        worse = where(bad, worse + 1, full([], 0, "int64"))
        shrinks = logical_and(bad, worse >= self._decr_every_n_nan_or_inf)
        grows = logical_and(logical_not(bad), good >= self._incr_every_n_steps)
        smaller = maximum(scale * self._decr_ratio, full([], 1.0, "float64"))
        scale = where(shrinks, smaller, where(grows, scale * self._incr_ratio, scale))
        found = scale, where(grows, full([], 0, "int64"), good), where(shrinks, full([], 0, "int64"), worse)
        return tuple(map(as_number, found))

    def _take(self, counts: Counts) -> None:
        """Be as a run of a program has left it."""
        self._unscaled, self._found_bad = set(), False
        self._scale, self._good, self._bad = counts

    def _adapt(self, bad: bool) -> None:
        """Go on to the next step behind one whose gradients were finite or not."""
        self._unscaled, self._found_bad = set(), False
        if not self._use_dynamic:
            return
        if bad:
            self._good, self._bad = 0, self._bad + 1
            if self._bad >= self._decr_every_n_nan_or_inf:
                self._scale, self._bad = max(self._scale * self._decr_ratio, 1.0), 0
        else:
            self._good, self._bad = self._good + 1, 0
            if self._good >= self._incr_every_n_steps:
                self._scale, self._good = self._scale * self._incr_ratio, 0

    def minimize(self, optimizer: Any, *args: Any, **kwargs: Any) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """`step` and `update` together; takes the scaled loss as `optimizer.minimize` does, and gives what that gives:
        no operators, and the pairs of parameter and gradient.
        """
        self.step(optimizer)
        self.update()
        return [], [(param, param.grad) for param in optimizer.parameters_with_grad()]

    # -- settings -----------------------------------------------------------------------------------------------------

    def is_enable(self) -> bool:
        """Whether anything is scaled."""
        return self._enable

    def is_use_dynamic_loss_scaling(self) -> bool:
        """Whether the scale adapts."""
        return self._use_dynamic

    def get_init_loss_scaling(self) -> float:
        """The scale it started from."""
        return self._init_scale

    def set_init_loss_scaling(self, new_init_loss_scaling: float) -> None:
        """Start again from this scale."""
        _require(new_init_loss_scaling > 0, "init_loss_scaling must be above 0", new_init_loss_scaling)
        self._init_scale = self._scale = float(new_init_loss_scaling)

    def get_incr_ratio(self) -> float:
        """The factor by which the scale grows."""
        return self._incr_ratio

    def set_incr_ratio(self, new_incr_ratio: float) -> None:
        """Set the factor by which the scale grows."""
        _require(new_incr_ratio > 1.0, "incr_ratio must be above 1", new_incr_ratio)
        self._incr_ratio = float(new_incr_ratio)

    def get_decr_ratio(self) -> float:
        """The factor by which the scale shrinks."""
        return self._decr_ratio

    def set_decr_ratio(self, new_decr_ratio: float) -> None:
        """Set the factor by which the scale shrinks."""
        _require(new_decr_ratio < 1.0, "decr_ratio must be below 1", new_decr_ratio)
        self._decr_ratio = float(new_decr_ratio)

    def get_incr_every_n_steps(self) -> int:
        """After how many good steps the scale grows."""
        return self._incr_every_n_steps

    def set_incr_every_n_steps(self, new_incr_every_n_steps: int) -> None:
        """Set after how many good steps the scale grows."""
        _require(new_incr_every_n_steps > 0, "incr_every_n_steps must be positive", new_incr_every_n_steps)
        self._incr_every_n_steps = int(new_incr_every_n_steps)

    def get_decr_every_n_nan_or_inf(self) -> int:
        """After how many bad steps the scale shrinks."""
        return self._decr_every_n_nan_or_inf

    def set_decr_every_n_nan_or_inf(self, new_decr_every_n_nan_or_inf: int) -> None:
        """Set after how many bad steps the scale shrinks."""
        _require(
            new_decr_every_n_nan_or_inf > 0, "decr_every_n_nan_or_inf must be positive", new_decr_every_n_nan_or_inf
        )
        self._decr_every_n_nan_or_inf = int(new_decr_every_n_nan_or_inf)

    # -- state --------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The scale, its settings and counts; empty when not enabled."""
        if not self._enable:
            return {}
        found = {key: getattr(self, name) for key, name in _STATE.items()}
        return found if training_of_trace() is None else {**found, **dict(zip(_COUNTED, self._counts()))}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over a state; raises a RuntimeError when it is empty though scaling is enabled."""
        if not self._enable:
            return
        missing = [key for key in _STATE if key not in state_dict]
        if missing:
            raise OrderError(
                f"GradScaler.load_state_dict: the state has no {missing[0]!r}",
                hint="was it saved by a GradScaler with enable=False?",
            )
        for key, name in _STATE.items():
            setattr(self, name, state_dict[key])


_COUNTED = ("scale", "incr_count", "decr_count")
"""What of its state a GradScaler changes by itself."""

_STATE = {
    "scale": "_scale",
    "incr_ratio": "_incr_ratio",
    "decr_ratio": "_decr_ratio",
    "incr_every_n_steps": "_incr_every_n_steps",
    "decr_every_n_nan_or_inf": "_decr_every_n_nan_or_inf",
    "incr_count": "_good",
    "decr_count": "_bad",
    "use_dynamic_loss_scaling": "_use_dynamic",
}


def _require(holds: bool, what: str, value: Any) -> None:
    if not holds:
        raise ArgumentError(f"GradScaler: {what}, got {value}")
