"""LRScheduler: a learning rate that is a function of how often `step` was called."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from ...core.errors import ArgumentError, UserCodeError
from ...eager.gradients import training_of_trace
from .checks import require_real
from .in_trace import reading, scheduled_rate, step_in_trace


class StateMismatchError(UserCodeError, RuntimeError):
    """A state dict lacks what the object it is loaded into needs."""


class LRScheduler:
    """A learning rate that changes with every `step()`; subclasses say how in `get_lr`.

    learning_rate: the rate at the start. last_epoch: the epoch to go on from, -1 for a fresh start.
    verbose: print a line at each change. Calling the scheduler gives the rate in force.
    Raises ArgumentError for a negative learning rate. Source: paddle.optimizer.lr.LRScheduler.

    Example:
        >>> from vitrify.optimizer.lr import LRScheduler
        >>> class Halving(LRScheduler):
        ...     def get_lr(self):
        ...         return self.base_lr * 0.5**self.last_epoch
        >>> rate = Halving(1.0)
        >>> rate.step()
        >>> rate()
        0.5
    """

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        rate = require_real(type(self).__name__, "learning_rate", learning_rate)
        if rate < 0:
            raise ArgumentError(
                f"{type(self).__name__}: invalid learning_rate {learning_rate}: it must not be negative"
            )
        self.base_lr = rate
        self.last_lr: Any = rate
        self.last_epoch = last_epoch
        self.verbose = verbose
        self.keys: list[str] = []
        self.step()

    def __call__(self) -> Any:
        """The learning rate in force."""
        training = training_of_trace()
        if training is None:
            return self.last_lr
        return scheduled_rate(training, self)

    def read_in_trace(self, training: Any, name: str, value: Any) -> Any:
        """What traced code reads as an attribute; `value` is what it holds while steps wait for the end of the run."""
        return reading(training, self, name, value)

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch, or to `epoch`, and compute its learning rate."""
        training = training_of_trace()
        if training is not None:
            step_in_trace(training, self, () if epoch is None else (epoch,))
            return
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self.last_lr = self.get_lr()
        self._report()

    def _step_silently(self, *args: Any) -> None:
        """`step`, of which the program has told where it came by."""
        said, self.verbose = self.verbose, False
        try:
            self.step(*args)
        finally:
            self.verbose = said

    def _report(self) -> None:
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def get_lr(self) -> Any:
        """The learning rate at `self.last_epoch`; every subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} must define get_lr()")

    def state_keys(self) -> None:
        """Set `self.keys` to the attributes that `state_dict` saves; subclasses with more state extend it."""
        self.keys = ["last_epoch", "last_lr"]

    def state_dict(self) -> dict[str, Any]:
        """The saved attributes as a dict of plain values."""
        self.state_keys()
        held = {key: self.__dict__[key] for key in self.keys if key in self.__dict__}
        return {key: value.item() if hasattr(value, "item") else value for key, value in held.items()}

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over a state saved by `state_dict`; raises StateMismatchError when a key is missing."""
        self.state_keys()
        for key in self.keys:
            if key not in state_dict:
                raise StateMismatchError(
                    f"{type(self).__name__}: cannot find {key!r} in the state dict, it has {sorted(state_dict)}",
                    hint="was it saved by another scheduler class?",
                )
            self.__dict__[key] = state_dict[key]
        if len(state_dict) > len(self.keys):
            unused = sorted(set(state_dict) - set(self.keys))
            warnings.warn(f"{type(self).__name__}: state dict has unused values {unused}", stacklevel=2)

    set_dict = set_state_dict
