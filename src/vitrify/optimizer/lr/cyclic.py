"""Schedulers that rise and fall: warm-up, one cycle, cycles, warm restarts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ...core.errors import ArgumentError
from .base import LRScheduler
from .checks import require_one_of, require_positive_int, require_real, require_type


class LinearWarmup(LRScheduler):
    """From start_lr to end_lr in a line over warmup_steps, then `learning_rate` (a number or another scheduler).

    The inner scheduler starts at its epoch 0 when the warm-up ends. Raises ArgumentError unless start_lr < end_lr and
    warmup_steps is a positive int. Source: paddle.optimizer.lr.LinearWarmup.

    Example:
        >>> from vitrify.optimizer.lr import LinearWarmup
        >>> LinearWarmup(0.5, warmup_steps=4, start_lr=0.0, end_lr=0.5, last_epoch=0)()
        0.125
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require_type("LinearWarmup", "learning_rate", learning_rate, (int, float, LRScheduler), "a number or scheduler")
        if end_lr <= start_lr:
            raise ArgumentError(f"LinearWarmup: end_lr {end_lr} must be greater than start_lr {start_lr}")
        self.learning_rate = learning_rate
        self.warmup_steps = require_positive_int("LinearWarmup", "warmup_steps", warmup_steps)
        self.start_lr = start_lr
        self.end_lr = end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self) -> Any:
        """The rate at the current epoch."""
        if self.last_epoch < self.warmup_steps:
            return (self.end_lr - self.start_lr) * self.last_epoch / self.warmup_steps + self.start_lr
        if not isinstance(self.learning_rate, LRScheduler):
            return float(self.learning_rate)
        self.learning_rate.step(self.last_epoch - self.warmup_steps)
        return self.learning_rate()

    def state_dict(self) -> dict[str, Any]:
        """Own state, and the inner scheduler's under "LinearWarmup_LR"."""
        state = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            state["LinearWarmup_LR"] = self.learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over own state and the inner scheduler's."""
        state = dict(state_dict)
        inner = state.pop("LinearWarmup_LR", None)
        super().set_state_dict(state)
        if inner is not None and isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.set_state_dict(inner)

    set_dict = set_state_dict


def _cos_anneal(start: float, end: float, fraction: float) -> float:
    return end + (start - end) / 2.0 * (math.cos(math.pi * fraction) + 1)


def _linear_anneal(start: float, end: float, fraction: float) -> float:
    return (end - start) * fraction + start


_ANNEAL: dict[str, Callable[[float, float, float], float]] = {"cos": _cos_anneal, "linear": _linear_anneal}


class OneCycleLR(LRScheduler):
    """Up from max_learning_rate / divide_factor to max_learning_rate, then down to end_learning_rate, in total_steps.

    phase_pct: the share of steps spent rising. three_phase: fall back to the initial rate as fast as it rose, then to
    the end. anneal_strategy: "cos" or "linear". Raises ArgumentError for arguments out of range and when stepped
    more than total_steps times. Source: paddle.optimizer.lr.OneCycleLR; Smith and Topin 2017.

    Example:
        >>> from vitrify.optimizer.lr import OneCycleLR
        >>> OneCycleLR(1.0, total_steps=10, anneal_strategy="linear", last_epoch=1)()
        1.0
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: str = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        peak = require_real("OneCycleLR", "max_learning_rate", max_learning_rate)
        end = require_real("OneCycleLR", "end_learning_rate", end_learning_rate)
        if peak < 0 or end < 0:
            raise ArgumentError(f"OneCycleLR: learning rates must not be negative, got {peak} and {end}")
        self.total_steps = require_positive_int("OneCycleLR", "total_steps", total_steps)
        if not 0 <= phase_pct <= 1:
            raise ArgumentError(f"OneCycleLR: phase_pct must be between 0 and 1, got {phase_pct}")
        if three_phase and phase_pct >= 0.5:
            raise ArgumentError(f"OneCycleLR: with three_phase, phase_pct must be below 0.5, got {phase_pct}")
        require_one_of("OneCycleLR", "anneal_strategy", anneal_strategy, tuple(_ANNEAL))
        self._anneal = anneal_strategy
        start = peak / float(divide_factor)
        top = phase_pct * total_steps - 1
        middle = [(2 * top, start)] if three_phase else []
        # (last step of a phase, rate reached there), beginning with the start
        self._corners = [(0.0, start), (top, peak), *middle, (float(total_steps - 1), end)]
        super().__init__(start, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at the current epoch."""
        step = self.last_epoch
        if step > self.total_steps:
            raise ArgumentError(f"OneCycleLR: tried to step {step} times, but total_steps is {self.total_steps}")
        phases = list(zip(self._corners, self._corners[1:]))
        (begin, low), (end, high) = next((p for p in phases if step <= p[1][0]), phases[-1])
        fraction = (step - begin) / (end - begin) if end != begin else 1.0
        return _ANNEAL[self._anneal](low, high, fraction)


class CyclicLR(LRScheduler):
    """Between base_learning_rate and max_learning_rate, up in step_size_up steps and down in step_size_down.

    mode: "triangular"; "triangular2" halves the height each cycle; "exp_range" scales it by exp_gamma**step.
    scale_fn replaces mode: a function of the cycle number (scale_mode "cycle") or of the step ("iterations").
    Raises ArgumentError for other modes and sizes. Source: paddle.optimizer.lr.CyclicLR; Smith 2015.

    Example:
        >>> from vitrify.optimizer.lr import CyclicLR
        >>> CyclicLR(0.0, 1.0, step_size_up=2, last_epoch=0)()
        0.5
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: str = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        peak = require_real("CyclicLR", "max_learning_rate", max_learning_rate)
        base = require_real("CyclicLR", "base_learning_rate", base_learning_rate)
        up = require_positive_int("CyclicLR", "step_size_up", step_size_up)
        down = up if step_size_down is None else require_positive_int("CyclicLR", "step_size_down", step_size_down)
        if scale_fn is None:
            require_one_of("CyclicLR", "mode", mode, ("triangular", "triangular2", "exp_range"))
        require_one_of("CyclicLR", "scale_mode", scale_mode, ("cycle", "iterations"))
        self.max_lr = peak
        self.amplitude = peak - base
        self.cycle_size = float(up + down)
        self.step_up_pct = up / self.cycle_size
        self.mode = mode
        self.gamma = exp_gamma
        self.scale_mode = "iterations" if scale_fn is None and mode == "exp_range" else scale_mode
        self.scale_fn = scale_fn or self._mode_scale
        super().__init__(base, last_epoch, verbose)

    def _mode_scale(self, x: float) -> float:
        """How high cycle (or step) `x` reaches, for the built-in modes."""
        if self.mode == "exp_range":
            return float(self.gamma**x)
        return 1.0 if self.mode == "triangular" else 1 / 2.0 ** (x - 1)

    def get_lr(self) -> float:
        """The rate at the current epoch."""
        cycle = 1 + self.last_epoch // self.cycle_size
        at = 1.0 + self.last_epoch / self.cycle_size - cycle
        up = self.step_up_pct
        height = at / up if at <= up else (1 - at) / (1 - up)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        return self.base_lr + self.amplitude * height * scale


class CosineAnnealingWarmRestarts(LRScheduler):
    """A cosine from learning_rate to eta_min over T_0 epochs, then again over T_0 * T_mult, and so on.

    Attributes: T_i, the length of the present run; T_cur, epochs since it began. `step(epoch)` takes fractions too.
    Raises ArgumentError unless T_0 and T_mult are positive ints, and for a negative epoch.
    Source: paddle.optimizer.lr.CosineAnnealingWarmRestarts; Loshchilov and Hutter 2016 (SGDR).

    Example:
        >>> from vitrify.optimizer.lr import CosineAnnealingWarmRestarts
        >>> CosineAnnealingWarmRestarts(0.5, T_0=2, T_mult=2, last_epoch=1)()
        0.5
    """

    def __init__(
        self,
        learning_rate: float,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.T_0 = require_positive_int("CosineAnnealingWarmRestarts", "T_0", T_0)
        self.T_mult = require_positive_int("CosineAnnealingWarmRestarts", "T_mult", T_mult)
        self.T_i = self.T_0
        self.T_cur: float = last_epoch
        self.eta_min = eta_min
        super().__init__(learning_rate, last_epoch, verbose)

    def step(self, epoch: float | None = None) -> None:
        """Go to the next epoch, or to `epoch`, which may be a fraction."""
        if epoch is not None and epoch < 0:
            raise ArgumentError(f"CosineAnnealingWarmRestarts: epoch must not be negative, got {epoch}")
        super().step(epoch)  # type: ignore[arg-type]  # the base class speaks of whole epochs

    def get_lr(self) -> float:
        """The rate at the current epoch."""
        since, length = self.last_epoch, self.T_0
        if self.T_mult == 1:
            since %= length
        while since >= length:
            since -= length
            length *= self.T_mult
        self.T_cur, self.T_i = since, length
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * since / length)) / 2
