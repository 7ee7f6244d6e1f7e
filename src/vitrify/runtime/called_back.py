"""Operators that native programs let Python run, with the errors of the interpreter."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..ir.program import Operator
from ..ops.control_flow import DEPTH_FACTOR
from .calls import too_deep
from .failure import explain_failure, raise_if_other
from .instruction import pure_call


class PythonHost:
    """Runs operators one by one."""

    def function_of(self, operator: Operator) -> Callable[..., tuple[Any, ...]]:
        """What an operator gives for arrays, as a function. It raises what the kernel raises, explained."""
        compute = pure_call(operator, operator.attrs, np)

        def run(*arrays: Any) -> tuple[Any, ...]:
            try:
                found: tuple[Any, ...] = compute(*arrays)
            except Exception as err:
                raise_if_other(explain_failure(operator, arrays, operator.attrs, err), err)
                raise
            return found

        return run

    def too_deep(self, operator: Operator) -> NoReturn:
        """Raise DepthError for a call inside more calls than there may be."""
        err = too_deep(DEPTH_FACTOR * sys.getrecursionlimit())
        raise explain_failure(operator, (), operator.attrs, err)


__all__ = ["PythonHost"]
