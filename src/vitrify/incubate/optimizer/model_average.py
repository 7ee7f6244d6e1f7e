"""ModelAverage: the mean of the parameters' last values, to evaluate with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from ...core.dispatch import in_dynamic_mode
from ...core.errors import ArgumentError
from ...core.outside import outside_programs
from ...eager.gradients import stops_gradient
from ...eager.tensor import Tensor, wrap
from ...ir.guard import default_main_program
from ...optimizer.optimizer import Optimizer, PairList
from .in_programs import AverageInProgram

_COUNTS = ("num_accumulates", "old_num_accumulates", "num_updates")


class _Sums:
    """The sums of one parameter's values: of the window that is being filled, and of the one before."""

    def __init__(self, param: Any) -> None:
        self.new = np.zeros_like(param._data)
        self.old = np.zeros_like(param._data)
        self.counts = dict.fromkeys(_COUNTS, 0)

    def add(self, value: Any, window: tuple[float, int, int]) -> None:
        """Take in a value; `window`: the rate, the least and the largest length of the window."""
        rate, least, largest = window
        counts = self.counts
        self.new += value
        counts["num_updates"] += 1
        counts["num_accumulates"] += 1
        share = int(np.float32(counts["num_updates"]) * np.float32(rate))  # as Paddle rounds it
        if counts["num_accumulates"] >= max(least, min(largest, share)):
            self.old, self.new = self.new, np.zeros_like(self.new)
            counts["old_num_accumulates"], counts["num_accumulates"] = counts["num_accumulates"], 0

    @property
    def mean(self) -> Any:
        """The mean of all values in both windows."""
        return (self.new + self.old) / (self.counts["num_accumulates"] + self.counts["old_num_accumulates"])


class ModelAverage(Optimizer):
    """The mean of the parameters over the last steps; call `step` behind the optimizer's, and evaluate in `apply`.

    The mean is over the last full window and the one that is being filled. A window is full with
    average_window_rate * (number of steps) values, but not with fewer than min_average_window and at most with
    max_average_window. In static mode, made behind `minimize`, it appends the sums to the default main program, and
    `apply` and `restore` take the Executor. Raises ArgumentError for windows that are not positive, or whose least
    exceeds the largest, and in static mode without an Executor.
    Source: paddle.incubate.ModelAverage.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([4.0]))
        >>> opt = paddle.optimizer.SGD(0.25, parameters=[w])
        >>> average = paddle.incubate.ModelAverage(1.0, parameters=[w])
        >>> for _ in range(2):  # 2, then 1
        ...     (w * w).sum().backward()
        ...     opt.step()
        ...     average.step()
        ...     opt.clear_grad()
        >>> with average.apply():
        ...     w.tolist()
        [1.5]
        >>> w.tolist()
        [1.0]
    """

    def __init__(
        self, average_window_rate: float, parameters: Any = None, min_average_window: int = 10000,
        max_average_window: int = 10000, name: str | None = None,
    ) -> None:  # fmt: skip
        if not 0 < min_average_window <= max_average_window:
            raise ArgumentError(
                "ModelAverage: 0 < min_average_window <= max_average_window, got "
                f"{min_average_window} and {max_average_window}"
            )
        super().__init__(0.0, parameters, name=name)
        self._window = (float(average_window_rate), min_average_window, max_average_window)
        self._sums: dict[str, _Sums] = {}
        self._held: dict[str, Any] = {}
        self._in_program = None if in_dynamic_mode() else AverageInProgram(_trained(parameters), self._window)

    def step(self) -> None:
        """Take in the parameters as they are now."""
        outside_programs("ModelAverage.step")
        for param in self._averaged():
            sums = self._sums.get(param.name)
            if sums is None:
                sums = self._sums[param.name] = _Sums(param)
            sums.add(param._data, self._window)

    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], PairList]:
        """Take in the parameters as they are now; it changes none: returns ([], []). Programs do so in each run."""
        if self._in_program is None:
            self.step()
        return [], []

    def apply(self, executor: Any = None, need_restore: bool = True) -> AbstractContextManager[None]:
        """A block in which the parameters are the means; need_restore=False leaves them so.

        executor: what runs programs, in whose scope the parameters are; of no use in dynamic mode.
        """
        if self._in_program is not None:
            return self._in_program.apply(_given(executor, "apply"), need_restore)
        return self._with_means(need_restore)

    @contextmanager
    def _with_means(self, need_restore: bool) -> Iterator[None]:
        outside_programs("ModelAverage.apply")
        for param in self._averaged():
            sums = self._sums.get(param.name)
            if sums is not None:
                self._held[param.name] = param._data.copy()
                _put(param, sums.mean)
        try:
            yield
        finally:
            if need_restore:
                self.restore()

    def restore(self, executor: Any = None) -> None:
        """Give the parameters back what they held before `apply`."""
        if self._in_program is not None:
            self._in_program.restore(_given(executor, "restore"))
            return
        for param in self._averaged():
            if param.name in self._held:
                _put(param, self._held.pop(param.name))

    def _averaged(self) -> list[Any]:
        return [p for p in self.given_parameters() if not stops_gradient(p)]

    def state_dict(self) -> dict[str, Any]:
        """The sums and how many values are in them, as "<parameter>_<name>_0"."""
        found: dict[str, Any] = {}
        for name, sums in self._sums.items():
            found |= {f"{name}_sum_1_0": wrap(sums.new), f"{name}_sum_3_0": wrap(sums.old)}
            found |= {f"{name}_{count}_0": wrap(np.array([value])) for count, value in sums.counts.items()}
        return found

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over a copy of a saved state; parameters that it does not name start anew."""
        for param in self._averaged():
            if f"{param.name}_sum_1_0" in state_dict:
                sums = self._sums[param.name] = _Sums(param)
                sums.new[...] = np.asarray(state_dict[f"{param.name}_sum_1_0"])
                sums.old[...] = np.asarray(state_dict[f"{param.name}_sum_3_0"])
                sums.counts = {count: int(state_dict[f"{param.name}_{count}_0"]) for count in _COUNTS}

    set_dict = set_state_dict
    load_state_dict = set_state_dict


def _trained(parameters: Any) -> list[Any]:
    """Those of the default main program that are trained, or of the given ones."""
    found = default_main_program().all_parameters() if parameters is None else parameters
    return [param for param in found if not stops_gradient(param)]


def _given(executor: Any, method: str) -> Any:
    if executor is None:
        raise ArgumentError(f"ModelAverage.{method}: in static mode it needs the Executor that runs the program")
    return executor


def _put(param: Any, value: Any) -> None:
    param._data[...] = value
    param.version_cell()[0] += 1


__all__ = ["ModelAverage"]
