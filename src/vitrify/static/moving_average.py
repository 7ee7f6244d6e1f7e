"""ExponentialMovingAverage: smoothed copies of the parameters, to evaluate with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from ..core import names
from ..core.dispatch import in_dynamic_mode
from ..core.dtype import float32, int64
from ..core.errors import UnsupportedError
from ..core.meta import Meta
from ..core.modes import grad_enabled, scoped
from ..ir.guard import default_main_program
from ..ir.program import Program, Variable
from ..ops.creation import assign, full
from ..ops.like import cast
from ..ops.power import pow
from ..ops.select import minimum
from .exchanged_parameters import ExchangedParameters, kept, same_variable


class ExponentialMovingAverage:
    """Averages of the trainable parameters of the default main program, as it is when this is made.

    After each step average = decay * average + (1 - decay) * parameter, from 0; `apply` puts
    average / (1 - decay**steps) in the parameters' place. thres_steps: a Variable that counts steps; decay is then at
    most (thres_steps + 1) / (thres_steps + 10). Parameters whose `do_model_average` is False are left alone.
    Raises UnsupportedError in dynamic mode. Source: paddle.static.ExponentialMovingAverage.

    Example:
        >>> import numpy as np, vitrify as paddle
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     w = paddle.static.create_parameter([1], "float32", is_bias=True)  # from 0
        ...     _ = paddle.optimizer.SGD(1.0).minimize((w * -1).sum())
        ...     ema = paddle.static.ExponentialMovingAverage(0.5)
        ...     ema.update()
        >>> with paddle.static.scope_guard(paddle.static.Scope()):
        ...     exe = paddle.static.Executor()
        ...     _ = exe.run(startup)
        ...     for _ in range(2):
        ...         _ = exe.run(main)
        ...     with ema.apply(exe):
        ...         smooth = w.get_value().item()
        ...     round(smooth, 4), w.get_value().item()
        (1.6667, 2.0)
    """

    def __init__(self, decay: float = 0.999, thres_steps: Any = None, name: str | None = None) -> None:
        if in_dynamic_mode():
            raise UnsupportedError(
                "ExponentialMovingAverage is for programs", hint="make it inside program_guard, or in static mode"
            )
        self._decay = decay
        self._thres_steps = thres_steps
        self._name = "" if name is None else name
        main = default_main_program()
        self._parameters = [p for p in main.all_parameters() if p.trainable and _is_averaged(p)]
        prefix = names.generate(f"{self._name}ema")
        self._averages = [kept(p.meta, f"{p.name}.{prefix}") for p in self._parameters]
        self._steps = kept(Meta((), int64), f"{prefix}.steps")
        self._rate = kept(Meta((), float32), f"{prefix}.decay", decay)
        self._exchanged = ExchangedParameters(self._parameters, prefix)

    def update(self) -> None:
        """Append the operators that update the averages; call it behind `minimize`."""
        main = default_main_program()
        with scoped(grad_enabled, False), main.adding("optimize"):
            assign(self._steps + 1, self._steps)
            if self._thres_steps is not None:
                steps = cast(self._thres_steps, "float32").reshape([])
                assign(minimum((steps + 1) / (steps + 10), full([], self._decay, "float32")), self._rate)
            for param, average in zip(self._parameters, self._averages):
                rate = cast(self._rate, param.dtype)
                assign(average * rate + param * (1 - rate), average)

    def apply(self, executor: Any, need_restore: bool = True) -> AbstractContextManager[None]:
        """A block in which the parameters hold their averages; need_restore=False leaves them so."""
        return self._exchanged.apply(executor, need_restore, self._smooth)

    def restore(self, executor: Any) -> None:
        """Give the parameters back what they held before `apply(need_restore=False)`."""
        self._exchanged.restore(executor)

    def _smooth(self, program: Program) -> Iterator[Variable]:
        steps, rate = (same_variable(program, var) for var in (self._steps, self._rate))
        share = 1 - pow(rate, cast(steps, "float32"))
        for param, average in zip(self._parameters, self._averages):
            yield same_variable(program, average) / cast(share, param.dtype)


def _is_averaged(param: Variable) -> bool:
    return param.__dict__.get("do_model_average") is not False
