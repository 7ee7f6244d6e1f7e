"""Schedulers whose rate is a closed form of the epoch, so that any epoch can be jumped to."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ...core.errors import ArgumentError
from .base import LRScheduler
from .checks import (
    require_below_one,
    require_between,
    require_positive,
    require_positive_int,
    require_real,
    require_type,
)


class NoamDecay(LRScheduler):
    """learning_rate * d_model**-0.5 * min(epoch**-0.5, epoch * warmup_steps**-1.5).

    Raises ArgumentError unless d_model is positive.
    Source: paddle.optimizer.lr.NoamDecay; Vaswani et al. 2017, section 5.3.

    Example:
        >>> from vitrify.optimizer.lr import NoamDecay
        >>> rate = NoamDecay(d_model=64, warmup_steps=4)
        >>> rate.step()
        >>> rate()
        0.015625
    """

    def __init__(
        self, d_model: float, warmup_steps: int, learning_rate: float = 1.0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        require_positive("NoamDecay", "d_model", d_model)
        self.d_model = d_model
        self.warmup_steps = warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at the current epoch."""
        falling = 1.0 if self.last_epoch == 0 else self.last_epoch**-0.5
        rising = self.warmup_steps**-1.5 * self.last_epoch
        return float(self.base_lr * self.d_model**-0.5 * min(falling, rising))


class ExponentialDecay(LRScheduler):
    """learning_rate * gamma**epoch, with gamma in (0, 1). Source: paddle.optimizer.lr.ExponentialDecay.

    Example:
        >>> from vitrify.optimizer.lr import ExponentialDecay
        >>> ExponentialDecay(0.5, gamma=0.9, last_epoch=0)()
        0.45
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        require_between("ExponentialDecay", "gamma", gamma, 0.0, 1.0)
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at the current epoch."""
        return float(self.base_lr * self.gamma**self.last_epoch)


class NaturalExpDecay(LRScheduler):
    """learning_rate * exp(-gamma * epoch). Source: paddle.optimizer.lr.NaturalExpDecay.

    Example:
        >>> from vitrify.optimizer.lr import NaturalExpDecay
        >>> NaturalExpDecay(0.5, gamma=0.1)()
        0.5
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        if gamma <= 0:
            raise ArgumentError(f"NaturalExpDecay: gamma must be above 0 so that the learning rate decays, got {gamma}")
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at the current epoch."""
        return self.base_lr * math.exp(-self.gamma * self.last_epoch)


class InverseTimeDecay(LRScheduler):
    """learning_rate / (1 + gamma * epoch). Source: paddle.optimizer.lr.InverseTimeDecay.

    Example:
        >>> from vitrify.optimizer.lr import InverseTimeDecay
        >>> InverseTimeDecay(0.5, gamma=0.25, last_epoch=3)()
        0.25
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at the current epoch."""
        return self.base_lr / (1 + self.gamma * self.last_epoch)


class PolynomialDecay(LRScheduler):
    """(learning_rate - end_lr) * (1 - epoch / decay_steps)**power + end_lr; end_lr from decay_steps on.

    cycle: start again on a longer ramp whenever end_lr is reached. Raises ArgumentError unless decay_steps is a
    positive int and power positive. Source: paddle.optimizer.lr.PolynomialDecay.

    Example:
        >>> from vitrify.optimizer.lr import PolynomialDecay
        >>> PolynomialDecay(0.5, decay_steps=4, end_lr=0.0, last_epoch=1)()
        0.25
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.decay_steps = require_positive_int("PolynomialDecay", "decay_steps", decay_steps)
        if power <= 0:
            raise ArgumentError(f"PolynomialDecay: power must be above 0, got {power}")
        self.end_lr = end_lr
        self.power = power
        self.cycle = cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at the current epoch."""
        epoch, steps = self.last_epoch, self.decay_steps
        if self.cycle:
            steps *= max(math.ceil(epoch / steps), 1)
        else:
            epoch = min(epoch, steps)
        return float((self.base_lr - self.end_lr) * (1 - epoch / steps) ** self.power + self.end_lr)


class PiecewiseDecay(LRScheduler):
    """values[i] while epoch < boundaries[i], the last value afterwards.

    Raises ArgumentError unless there is one value more than there are boundaries.
    Source: paddle.optimizer.lr.PiecewiseDecay.

    Example:
        >>> from vitrify.optimizer.lr import PiecewiseDecay
        >>> PiecewiseDecay([2, 4], [0.1, 0.2, 0.3], last_epoch=2)()
        0.2
    """

    def __init__(
        self, boundaries: Sequence[int], values: Sequence[float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        if not boundaries:
            raise ArgumentError("PiecewiseDecay: boundaries must not be empty")
        if len(values) <= len(boundaries):
            raise ArgumentError(
                "PiecewiseDecay: values needs one element more than boundaries, "
                f"got {len(values)} values for {len(boundaries)} boundaries"
            )
        self.boundaries = boundaries
        self.values = values
        super().__init__(values[0], last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at the current epoch."""
        for boundary, value in zip(self.boundaries, self.values):
            if self.last_epoch < boundary:
                return value
        return self.values[-1]


class CosineAnnealingDecay(LRScheduler):
    """eta_min + (learning_rate - eta_min) * (1 + cos(pi * epoch / T_max)) / 2.

    T_max: epochs from the highest rate to the lowest. Raises DTypeError or ArgumentError unless it is a positive int.
    Source: paddle.optimizer.lr.CosineAnnealingDecay; Loshchilov and Hutter 2016 (SGDR).

    Example:
        >>> from vitrify.optimizer.lr import CosineAnnealingDecay
        >>> CosineAnnealingDecay(0.5, T_max=3)()
        0.5
    """

    def __init__(
        self, learning_rate: float, T_max: int, eta_min: float = 0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.T_max = require_positive_int("CosineAnnealingDecay", "T_max", T_max)
        self.eta_min = require_real("CosineAnnealingDecay", "eta_min", eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at the current epoch."""
        fraction = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return self.eta_min + (self.base_lr - self.eta_min) * fraction


class MultiStepDecay(LRScheduler):
    """learning_rate * gamma**k, where k milestones lie at or before the epoch.

    Raises ArgumentError unless milestones increase and gamma < 1. Source: paddle.optimizer.lr.MultiStepDecay.

    Example:
        >>> from vitrify.optimizer.lr import MultiStepDecay
        >>> MultiStepDecay(0.5, [2, 4], gamma=0.5, last_epoch=2)()
        0.25
    """

    def __init__(
        self,
        learning_rate: float,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require_type("MultiStepDecay", "milestones", milestones, (tuple, list), "a tuple or list")
        if any(a >= b for a, b in zip(milestones, milestones[1:])):
            raise ArgumentError(f"MultiStepDecay: milestones must increase, got {list(milestones)}")
        require_below_one("MultiStepDecay", "gamma", gamma)
        self.milestones = milestones
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at the current epoch."""
        passed = sum(self.last_epoch >= milestone for milestone in self.milestones)
        return float(self.base_lr * self.gamma**passed)


class StepDecay(LRScheduler):
    """learning_rate * gamma**(epoch // step_size).

    Raises DTypeError or ArgumentError unless step_size is a positive int and gamma < 1.
    Source: paddle.optimizer.lr.StepDecay.

    Example:
        >>> from vitrify.optimizer.lr import StepDecay
        >>> StepDecay(0.5, step_size=2, gamma=0.5, last_epoch=3)()
        0.125
    """

    def __init__(
        self, learning_rate: float, step_size: int, gamma: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.step_size = require_positive_int("StepDecay", "step_size", step_size)
        require_below_one("StepDecay", "gamma", gamma)
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at the current epoch."""
        return float(self.base_lr * self.gamma ** (self.last_epoch // self.step_size))


class LambdaDecay(LRScheduler):
    """learning_rate * lr_lambda(epoch). Raises DTypeError unless lr_lambda is callable.

    Source: paddle.optimizer.lr.LambdaDecay.

    Example:
        >>> from vitrify.optimizer.lr import LambdaDecay
        >>> LambdaDecay(0.5, lambda epoch: 0.5**epoch, last_epoch=0)()
        0.25
    """

    def __init__(
        self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        require_type("LambdaDecay", "lr_lambda", lr_lambda, Callable, "a function")  # type: ignore[arg-type]
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at the current epoch."""
        return self.base_lr * self.lr_lambda(self.last_epoch)


class MultiplicativeDecay(LRScheduler):
    """learning_rate * lr_lambda(1) * lr_lambda(2) * ... * lr_lambda(epoch).

    Raises DTypeError unless lr_lambda is callable. Source: paddle.optimizer.lr.MultiplicativeDecay.

    Example:
        >>> from vitrify.optimizer.lr import MultiplicativeDecay
        >>> MultiplicativeDecay(0.5, lambda epoch: 0.5, last_epoch=1)()
        0.125
    """

    def __init__(
        self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        require_type("MultiplicativeDecay", "lr_lambda", lr_lambda, Callable, "a function")  # type: ignore[arg-type]
        self.lr_lambda = lr_lambda
        self._reached = 0, 1.0
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at the current epoch."""
        epoch, product = self._reached
        if epoch > self.last_epoch:  # jumped back: the product starts again
            epoch, product = 0, 1.0
        while epoch < self.last_epoch:
            epoch += 1
            product *= self.lr_lambda(epoch)
        self._reached = epoch, product
        return self.base_lr * product


class LinearLR(LRScheduler):
    """learning_rate times a factor that goes from start_factor to end_factor in total_steps steps.

    Each rate is made from the one before, by the ratio of their factors, as PaddlePaddle makes it: after a jump to
    another epoch, and where last_epoch says that some have passed, rates are not those that steps would have given.
    Raises ArgumentError unless total_steps is a positive int and the factors lie in (0, 1] and [0, 1].
    Source: paddle.optimizer.lr.LinearLR.

    Example:
        >>> from vitrify.optimizer.lr import LinearLR
        >>> scheduler = LinearLR(0.5, total_steps=4, start_factor=0.5)
        >>> scheduler.step()
        >>> scheduler()
        0.3125
    """

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require_between("LinearLR", "start_factor", start_factor, 0.0, 1.0, closed=True)
        if not 0.0 <= end_factor <= 1.0:
            raise ArgumentError(f"LinearLR: end_factor must be in [0, 1], got {end_factor}")
        self.total_steps = require_positive_int("LinearLR", "total_steps", total_steps)
        self.start_factor = start_factor
        self.end_factor = end_factor
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at the current epoch."""
        if self.last_epoch == 0:
            return self.base_lr * self.start_factor
        ratio = 1.0
        if self.last_epoch <= self.total_steps:
            ratio += self._slope / (self._slope * (self.last_epoch - 1) + self.start_factor)
        return float(self.last_lr * ratio)

    @property
    def _slope(self) -> float:
        """What the factor gains in a step."""
        return (self.end_factor - self.start_factor) / self.total_steps
