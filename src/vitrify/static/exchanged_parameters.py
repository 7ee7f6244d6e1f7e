"""Parameters of programs that hold other values for a while: averages, to evaluate with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..core.modes import grad_enabled, scoped
from ..ir.guard import create_persistable, program_guard
from ..ir.program import Program, Variable
from ..ops.creation import assign, full


def kept(meta: Any, name: str, start: float = 0.0) -> Variable:
    """A variable of the main program that keeps its value from run to run; the startup program gives it `start`."""
    return create_persistable(meta, name, lambda: full(list(meta.shape), start, meta.dtype))


def same_variable(program: Program, var: Variable, name: str = "") -> Variable:
    """The variable of a scope under `name`, or under that of `var`, in another program."""
    return program.global_block().create_var(var.meta, name or var.name, persistable=True)


class ExchangedParameters:
    """Parameters, and where the scope keeps what they held while they hold something else."""

    def __init__(self, parameters: Sequence[Variable], prefix: str) -> None:
        self.parameters = parameters
        self._held = [f"{p.name}.{prefix}.held" for p in parameters]

    @contextmanager
    def apply(
        self, executor: Any, need_restore: bool, values: Callable[[Program], Iterable[Variable]]
    ) -> Iterator[None]:
        """A block in which the parameters hold what `values` computes of the scope in a program of its own."""
        program = Program()
        with program_guard(program, Program()), scoped(grad_enabled, False):
            for param, name, value in zip(self.parameters, self._held, values(program)):
                own = same_variable(program, param)
                assign(own, same_variable(program, param, name))
                assign(value, own)
        executor.run(program)
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor)

    def restore(self, executor: Any) -> None:
        """Give the parameters back what they held."""
        program = Program()
        with program_guard(program, Program()):
            for param, name in zip(self.parameters, self._held):
                assign(same_variable(program, param, name), same_variable(program, param))
        executor.run(program)


__all__ = ["ExchangedParameters", "kept", "same_variable"]
