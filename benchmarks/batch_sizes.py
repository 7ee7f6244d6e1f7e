"""Time a compiled training step whose batch has another size at every call, against steps of one size each.

    python -m benchmarks.batch_sizes [--largest 64] [--rounds 15]

One function meets every size from 1 to the largest, in one mixed order; of its twins, each meets one size only. Both
do the same work in a round, by turns. Printed are the medians of a call, their ratio, and how many programs the one
function was traced to: the sizes themselves must not be part of any.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import vitrify as paddle
from benchmarks.data import floats, labels
from benchmarks.models import perceptron

SIZES, RATE = (784, 512, 256, 10), 1e-4
SETTLING_ROUNDS = 5
Step = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Timing:
    """Seconds a call: of the function whose batch changes, and of those with one size each; programs of the first."""

    changing: float
    fixed: float
    programs: int

    @property
    def ratio(self) -> float:
        """What a changing size costs: 1 is nothing."""
        return self.changing / self.fixed


def training_step() -> Any:
    """Return a compiled training step of its own model."""
    model = perceptron.perceptron(paddle, SIZES)
    adam = paddle.optimizer.Adam(learning_rate=RATE, parameters=model.parameters())

    @paddle.jit.to_static(full_graph=True)
    def step(x: Any, y: Any) -> Any:
        loss = model(x, y)
        loss.backward()
        adam.step()
        adam.clear_grad(set_to_zero=False)
        return loss

    return step


def batches(largest: int) -> list[tuple[Any, Any]]:
    """Return one batch of every size, in a mixed order."""
    sizes = np.random.default_rng(0).permutation(np.arange(1, largest + 1))
    return [(paddle.to_tensor(floats(n, SIZES[0])), paddle.to_tensor(labels(n, classes=SIZES[-1]))) for n in sizes]


def _seconds(steps: Sequence[Step], given: Sequence[tuple[Any, Any]]) -> float:
    start = perf_counter()
    for step, (x, y) in zip(steps, given, strict=True):
        step(x, y)
    return (perf_counter() - start) / len(given)


def time_sizes(largest: int, rounds: int) -> Timing:
    """Return the medians of interleaved rounds."""
    given = batches(largest)
    one = training_step()
    contenders = [one] * largest, [training_step() for _ in given]
    for _ in range(SETTLING_ROUNDS):
        for steps in contenders:
            _seconds(steps, given)
    taken: list[list[float]] = [[], []]
    for number in range(rounds):
        for place in range(2):  # the other one first in each round
            index = (place + number) % 2
            taken[index].append(_seconds(contenders[index], given))
    return Timing(median(taken[0]), median(taken[1]), len(one.program_cache))


def main(argv: Sequence[str] | None = None) -> Timing:
    """Print the times; return them."""
    parser = argparse.ArgumentParser(prog="benchmarks.batch_sizes", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--largest", type=int, default=64, help="the largest batch (default 64)")
    parser.add_argument("--rounds", type=int, default=15, help="rounds to take the medians of (default 15)")
    chosen = parser.parse_args(argv)
    t = time_sizes(chosen.largest, chosen.rounds)
    print(f"a call, batches of 1 to {chosen.largest} in mixed order: {1e6 * t.changing:.0f} us, {t.programs} programs")
    print(f"the same batches, a function for each size: {1e6 * t.fixed:.0f} us; ratio {t.ratio:.2f}")
    return t


if __name__ == "__main__":
    main()
