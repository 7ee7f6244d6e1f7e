"""How a group of operators runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.program import Block
from .interpreter import InterpreterCore
from .options import ExecutionOptions


def runner(body: Block, core: InterpreterCore, options: ExecutionOptions) -> Callable[[list[Any]], Sequence[Any]]:
    """What computes a group's results from a list of arrays, which it takes over.

    core: the operators of `body`, lowered. What only the list refers to may be overwritten.
    """
    return core.consume
