"""Time functions that cannot be one program, in default mode: against eager, and against the same without the break.

    python -m benchmarks.segments [--rounds 15] [--size 8x16] [--only NAME]

Each function has a twin that differs in the broken statement alone and is compiled whole. All three take turns, a
number of calls each; what is printed are medians of the rounds, and what the split function takes of eager's time.
"""

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import vitrify as paddle
from vitrify.jit.retrace import RetraceWarning
from vitrify.nn import functional as F

Function = Callable[[Any], Any]
Value = Callable[[Any], Any]
SETTLING_CALLS = 80
SECONDS = 0.01


@paddle.jit.not_to_static
def value_of(x: Any) -> float:
    """Return the sum of a tensor's elements, as code that logs does."""
    return float(x.numpy().sum())


def tiny_loop(value: Value) -> Function:
    """Return a function that breaks at every second tiny operation."""

    def run(x: Any) -> Any:
        for _ in range(30):
            x = x * 1.01
            if value(x) > 1e9:
                x = x / 2
            x = x + 0.1
        return x

    return run


def tiny_once(value: Value) -> Function:
    """Return a function that breaks once between two tiny pieces."""

    def run(x: Any) -> Any:
        y = x * 2 + 1
        if value(y) > 1e9:
            y = y - 1
        return y * 3

    return run


def counted(value: Value) -> Function:
    """Return a function that uses the loop's number, and one that changes at every call, in each piece."""

    def run(x: Any) -> Any:
        total = 0.0
        for i in range(4):
            x = F.tanh(x * (i + 1) + 0.5) * 0.9 + x / (i + 2)
            total = total * 0.5 + 1.0
            if value(x) > 1e9:
                break
            x = F.relu(x - total) + x * total - i
        return x

    return run


def medium_loop(value: Value) -> Function:
    """Return a function that breaks in a loop between pieces of ten operations."""

    def run(x: Any) -> Any:
        for _ in range(5):
            y = F.tanh(x * 2 + 1) * 3 - paddle.exp(-x)
            y = y / (y.abs().max() + 1)
            if value(y) > 1e9:
                break
            x = x + y * 0.1
            x = F.relu(x) - 0.01 * x + F.sigmoid(x) * y
        return x

    return run


def large_pieces(value: Value) -> Function:
    """Return a function that breaks once between two pieces of sixty operations, with a loop in each."""

    def run(x: Any) -> Any:
        for _ in range(10):
            x = F.tanh(x * 1.1 + 0.1) - F.relu(x) * 0.01 + 0.02
        if value(x) > 1e9:
            x = x - 1
        for _ in range(10):
            x = F.tanh(x * 1.1 + 0.1) - F.relu(x) * 0.01 + 0.02
        return x

    return run


FUNCTIONS = (tiny_loop, tiny_once, counted, medium_loop, large_pieces)


@dataclass(frozen=True)
class Timing:
    """What one function takes, in seconds a call: eagerly, split, and its twin compiled whole."""

    name: str
    eager: float
    split: float
    whole: float

    @property
    def ratio(self) -> float:
        """What the split function takes of eager's time."""
        return self.split / self.eager


def time_function(make: Callable[[Value], Function], rounds: int, x: Any) -> Timing:
    """Return the medians of interleaved rounds."""
    function = make(value_of)
    split = paddle.jit.to_static(function)
    whole = paddle.jit.to_static(make(paddle.sum), full_graph=True)
    contenders = (function, split, whole)
    for call in contenders:
        for _ in range(SETTLING_CALLS):
            call(x)
    repeats = max(1, int(SECONDS / _seconds(function, x, 3)))
    taken: list[list[float]] = [[], [], []]
    for number in range(rounds):
        for place in range(3):  # another one first in each round
            index = (place + number) % 3
            taken[index].append(_seconds(contenders[index], x, repeats))
    return Timing(make.__name__, *map(median, taken))


def _seconds(call: Function, x: Any, repeats: int) -> float:
    start = perf_counter()
    for _ in range(repeats):
        call(x)
    return (perf_counter() - start) / repeats


def main(argv: Sequence[str] | None = None) -> list[Timing]:
    """Print the times; return them."""
    parser = argparse.ArgumentParser(prog="benchmarks.segments", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="rounds to take the medians of (default 15)")
    parser.add_argument("--size", default="8x16", help="shape of the input (default 8x16)")
    parser.add_argument("--only", help="time this function alone")
    chosen = parser.parse_args(argv)
    x = paddle.rand([int(n) for n in chosen.size.split("x")])
    found = []
    print(f"{'':14} {'eager us':>10} {'split us':>10} {'whole us':>10} {'split/eager':>12} {'split/whole':>12}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RetraceWarning)
        for make in FUNCTIONS:
            if chosen.only in (None, make.__name__):
                t = time_function(make, chosen.rounds, x)
                found.append(t)
                times = " ".join(f"{1e6 * s:10.1f}" for s in (t.eager, t.split, t.whole))
                print(f"{t.name:14} {times} {t.ratio:12.2f} {t.split / t.whole:12.2f}", flush=True)
    return found


if __name__ == "__main__":
    main()
