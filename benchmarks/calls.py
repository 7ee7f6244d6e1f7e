"""Time programs that call functions, make lists or call Python: as machine code and by the interpreter.

    python -m benchmarks.calls [--rounds 15] [--only NAME]

Each function is compiled twice, the second time with the flag `native` off. Eager code and both take turns, a number of
calls each; what is printed are medians of the rounds, in microseconds of processor time a call.
"""

import argparse
import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any

import numpy as np

import vitrify as paddle
from vitrify.core.config import flags_guard

SETTLING_CALLS = 400
SECONDS = 0.02


def polynomial(x: Any, n: Any) -> Any:
    """Return a polynomial of degree n and of sines, by a recursion as deep."""
    if n == 0:
        return x
    return polynomial(x, n - 1) * x + x.sin()


def fibonacci(n: Any) -> Any:
    """Return the number of that place, by calls of which most are made again and again."""
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def printing(x: Any, n: Any) -> Any:
    """Iterate, and print every tenth time."""
    while n > 0:
        x = x * 0.9 + 0.1
        if n % 10 == 0:
            print("iteration", int(n))
        n = n - 1
    return x


def checking(x: Any, n: Any) -> Any:
    """Iterate, and check each time that nothing grows."""
    while n > 0:
        x = x * 0.9 + 0.1
        assert x.max() < 100, "it grows"
        n = n - 1
    return x


def in_numpy(x: Any, n: Any) -> Any:
    """Iterate by way of NumPy."""
    while n > 0:
        x = paddle.to_tensor(np.sort(x.numpy())) * 0.9 + 0.1
        n = n - 1
    return x


def listing(x: Any, n: Any) -> Any:
    """Iterate, and keep what each iteration makes."""
    outs = []
    while n > 0:
        x = x * 0.9 + 0.1
        outs.append(x)
        n = n - 1
    return paddle.stack(outs)


def trained(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs another forward and backward."""

    def run(x: Any, n: Any) -> Any:
        x.stop_gradient = False
        fn(x, n).sum().backward()
        x.clear_gradient()

    return run


def plain(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function itself."""
    return fn


@dataclass(frozen=True)
class Case:
    """A function with arguments, and how it is called."""

    name: str
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    way: Callable[[Callable[..., Any]], Callable[..., Any]] = plain


FLOATS = np.linspace(0.1, 0.5, 4, dtype="float32")
CASES = (
    Case("recursion, 20 deep", polynomial, (FLOATS, 20)),
    Case("the same with gradient", polynomial, (FLOATS, 20), trained),
    Case("tree of 465 calls", fibonacci, (12,)),
    Case("100 iterations, 10 prints", printing, (FLOATS, 100)),
    Case("100 iterations, 100 checks", checking, (FLOATS, 100)),
    Case("20 round trips to NumPy", in_numpy, (FLOATS, 20)),
    Case("a list of 30 items", listing, (FLOATS, 30)),
    Case("that with gradient", listing, (FLOATS, 30), trained),
)


def measured(case: Case, rounds: int) -> list[float]:
    """Return the microseconds of a call: eager, by the interpreter, as machine code."""
    args = [paddle.to_tensor(a) for a in case.args]
    ways = [(case.way(case.fn), 1)]
    ways += [(case.way(paddle.jit.to_static(case.fn, full_graph=True)), native) for native in (0, 1)]
    times: list[list[float]] = [[] for _ in ways]
    with redirect_stdout(io.StringIO()):
        for run, native in ways[1:]:
            with flags_guard({"native": native}):
                for _ in range(SETTLING_CALLS):
                    run(*args)
        for _ in range(rounds):
            for (run, native), found in zip(ways, times):
                with flags_guard({"native": native}):
                    found.append(_time(run, args))
    return [median(found) * 1e6 for found in times]


def _time(run: Callable[..., Any], args: Sequence[Any]) -> float:
    """Return the processor time of one call in seconds, of as many as take a while."""
    count, start, passed = 0, process_time(), 0.0
    while not count or passed < SECONDS:
        run(*args)
        count += 1
        passed = process_time() - start
    return passed / count


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"{'':28}{'eager':>10}{'interpreter':>14}{'native':>10}")
    for case in CASES:
        if options.only in case.name:
            eager, interpreter, native = measured(case, options.rounds)
            print(f"{case.name:28}{eager:10.0f}{interpreter:14.0f}{native:10.1f}")


if __name__ == "__main__":
    main()
