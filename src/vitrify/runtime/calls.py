"""Calls at run time: a stack of frames on the heap, so that Python's own does not bound how deep functions recurse."""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any, Protocol

from ..core.errors import DepthError
from ..ops.control_flow import DEPTH_FACTOR


class Core(Protocol):
    """A lowered block."""

    suspends: bool

    def consume(self, frame: list[Any]) -> tuple[Any, ...]:
        """The block's outputs for a list of arrays, which it takes over."""

    def native(self, frame: list[Any]) -> tuple[Any, ...] | None:
        """The same by one native call; None where there is none for these arrays."""

    def running(self, frame: list[Any]) -> Generator[Any, Any, tuple[Any, ...]]:
        """The same as a generator, which asks for the blocks and functions that it needs."""


class LoweredFunction:
    """A function of the program; its core is there once the function is lowered, calls inside it come first."""

    __slots__ = ("core", "n_outputs", "name")

    core: Core
    suspends = True

    def __init__(self, name: str, n_outputs: int) -> None:
        self.name = name
        self.n_outputs = n_outputs

    def consume(self, frame: list[Any]) -> tuple[Any, ...]:
        """The function's outputs for a list of arrays, which it takes over."""
        return self.core.consume(frame)


def run_on_stack(core: Core, arrays: list[Any]) -> tuple[Any, ...]:
    """The outputs of a block that calls functions, each call and each block inside on a stack of generators.

    Raises DepthError when calls nest too deep.
    """
    stack = [core.running(arrays)]
    limit = DEPTH_FACTOR * sys.getrecursionlimit()
    depths = [0]  # how many calls are open, for each entry of the stack
    outputs = None
    while True:
        try:
            callee, arrays = stack[-1].send(outputs)
        except StopIteration as end:
            stack.pop()
            depths.pop()
            if not stack:
                results: tuple[Any, ...] = end.value
                return results
            outputs = end.value
            continue
        outputs = None  # it is the callers' now, who give it up when they need it no more
        depth = depths[-1]
        if isinstance(callee, LoweredFunction):
            callee, depth = callee.core, depth + 1
            if depth > limit:
                stack[-1].throw(too_deep(limit))
            if depth == 1:  # what a native call refuses would be tried again by each call inside
                outputs = callee.native(arrays)
                if outputs is not None:
                    continue
        if callee.suspends:
            stack.append(callee.running(arrays))
            depths.append(depth)
        else:
            outputs = callee.consume(arrays)


def too_deep(limit: int) -> DepthError:
    """The error for one call more than so many, one inside the other."""
    return DepthError(
        f"the function calls itself more than {limit} times without returning",
        hint="see that it stops; sys.setrecursionlimit() raises the limit, which is ten times Python's own",
    )
