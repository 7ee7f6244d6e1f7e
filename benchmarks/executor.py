"""Time `Executor.run` on programs that hardly compute: what finding the prepared program, feeding and fetching cost.

    python -m benchmarks.executor [--framework vitrify|paddle] [--seconds 0.3]

The interpreter that runs this must have the framework. Each row is the least of many short rounds, so that other
programs on the machine disturb little.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

Step = Callable[[], Any]
X = np.ones((2, 4), "float32")


def empty(paddle: Any, exe: Any) -> Step:
    """A program without operators, feeds and fetches: the look-up alone."""
    program = paddle.static.Program()
    return lambda: exe.run(program, use_program_cache=True)


def one_operator(paddle: Any, exe: Any) -> Step:
    """One array in, one addition, one array out."""
    main, fetch = chain(paddle, 1)
    return lambda: exe.run(main, feed={"x": X}, fetch_list=fetch, use_program_cache=True)


def ten_operators(paddle: Any, exe: Any) -> Step:
    """The same with ten additions."""
    main, fetch = chain(paddle, 10)
    return lambda: exe.run(main, feed={"x": X}, fetch_list=fetch, use_program_cache=True)


def chain(paddle: Any, length: int) -> tuple[Any, list[Any]]:
    """A program that adds 1 to x so many times, and what to fetch."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        y = paddle.static.data("x", [None, 4], "float32")
        for _ in range(length):
            y = y + 1
    return main, [y]


def twenty_parameters(paddle: Any, exe: Any) -> Step:
    """Twenty parameters of a scope, each read once."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        y = paddle.static.data("x", [None, 4], "float32")
        for _ in range(20):
            y = y + paddle.static.create_parameter([4], "float32")
    exe.run(startup)
    return lambda: exe.run(main, feed={"x": X}, fetch_list=[y], use_program_cache=True)


LEAST_ROUNDS = 10

PROGRAMS = {
    "empty": empty,
    "one operator": one_operator,
    "ten operators": ten_operators,
    "twenty parameters": twenty_parameters,
}


def least(step: Step, seconds: float) -> float:
    """The least time of a step in seconds, over rounds of twenty, at least ten of them: some wait for a compiler."""
    best, end, rounds = float("inf"), perf_counter() + seconds, 0
    while rounds < LEAST_ROUNDS or perf_counter() < end:
        rounds += 1
        start = perf_counter()
        for _ in range(20):
            step()
        best = min(best, (perf_counter() - start) / 20)
    return best


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Print the times; return the microseconds of a run by program."""
    parser = argparse.ArgumentParser(prog="benchmarks.executor", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--framework", choices=["vitrify", "paddle"], default="vitrify", help="whose Executor to time")
    parser.add_argument("--seconds", type=float, default=0.3, help="how long to time each program (default 0.3)")
    chosen = parser.parse_args(argv)
    paddle = import_module(chosen.framework)
    if chosen.framework == "paddle":
        paddle.enable_static()
    exe, found = paddle.static.Executor(paddle.CPUPlace()), {}
    for name, build in PROGRAMS.items():
        step = build(paddle, exe)
        start = perf_counter()
        step()
        first = perf_counter() - start
        found[name] = 1e6 * least(step, chosen.seconds)
        print(f"{name:20}{found[name]:9.1f} us   first {1e3 * first:8.2f} ms", file=sys.stdout)
    return found


if __name__ == "__main__":
    main()
