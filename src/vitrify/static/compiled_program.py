"""CompiledProgram: a Program with choices about how it runs."""

from __future__ import annotations

from typing import Any

from ..core.errors import DTypeError
from ..ir.program import Program
from ..runtime.strategy import BuildStrategy, ExecutionStrategy


class CompiledProgram:
    """A Program that an Executor runs as the strategies say; they are read here, later changes have no effect.

    Raises DTypeError for anything but a Program and strategies. Source: paddle.static.CompiledProgram.

    Example:
        >>> import vitrify as paddle
        >>> strategy = paddle.static.BuildStrategy()
        >>> strategy.sequential_run = True
        >>> paddle.static.CompiledProgram(paddle.static.Program(), strategy).options
        ExecutionOptions(serial=True)
    """

    def __init__(
        self,
        program_or_graph: Program,
        build_strategy: BuildStrategy | None = None,
        exec_strategy: ExecutionStrategy | None = None,
    ) -> None:
        program = _of_type("a Program", program_or_graph, Program)
        self.build_strategy: BuildStrategy = _of_type("a BuildStrategy", build_strategy, BuildStrategy, optional=True)
        self.exec_strategy: ExecutionStrategy = _of_type(
            "an ExecutionStrategy", exec_strategy, ExecutionStrategy, optional=True
        )
        self.program: Program = program
        self.options = self.exec_strategy.options(self.build_strategy.options())

    def __repr__(self) -> str:
        return f"<CompiledProgram of {self.program!r}: {self.options!r}>"


def _of_type(what: str, value: Any, wanted: type, *, optional: bool = False) -> Any:
    if value is None and optional:
        return wanted()
    if not isinstance(value, wanted):
        raise DTypeError(f"CompiledProgram takes {what}, but received {type(value).__name__}")
    return value
