"""How much a process grows over many steps: programs run by Executor, and compiled functions with their backward.

    python -m benchmarks.leaks [--steps 100000]

Printed is the growth of the resident memory (RSS), and of what Python and NumPy hold, between the steps that warm up
and the last one.
"""

import argparse
import gc
import os
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import vitrify as paddle
from vitrify.core.config import flags_guard

Step = Callable[[], Any]
WARM_UP = 2000


@dataclass(frozen=True)
class Growth:
    """Bytes that were added: resident ones, and those that tracemalloc saw in `traced_steps` further steps."""

    resident: int
    traced: int


def resident() -> int:
    """Return the resident bytes of this process (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def executor() -> Step:
    """Return a training step of a static program: forward, backward and update."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 8], "float32")
        w = paddle.static.create_parameter([8, 4], "float32")
        loss = paddle.tanh(paddle.matmul(x, w)).mean()
        ((_, gradient),) = paddle.static.append_backward(loss)
        paddle.assign(w - 0.01 * gradient, output=w)
    exe = paddle.static.Executor(paddle.CPUPlace())
    scope = paddle.static.Scope()
    exe.run(startup, scope=scope)
    batch = np.ones((4, 8), "float32")
    return lambda: exe.run(main, feed={"x": batch}, fetch_list=[loss], scope=scope)


def static_function() -> Step:
    """Return forward and backward of a compiled function with a branch and a loop that tensors decide."""

    @paddle.jit.to_static(full_graph=True)
    def compute(x: Any, w: Any, n: Any) -> Any:
        y = paddle.tanh(paddle.matmul(x, w))
        y = y * 2 if y.sum() > 0 else y - 1
        i = paddle.zeros([], "int64")
        while i < n:
            y = y + x
            i = i + 1
        return y.mean()

    x, n = paddle.ones([4, 8]), paddle.to_tensor(2)
    w = paddle.to_tensor(np.eye(8, dtype="float32"), stop_gradient=False)

    def step() -> None:
        compute(x, w, n).backward()
        w.clear_gradient(False)

    return step


def in_flight() -> Step:
    """Return three calls of a compiled function before any backward, and backward in another order."""
    compute = paddle.jit.to_static(lambda x: paddle.tanh(x * 2).sum(), full_graph=True)
    x = paddle.to_tensor(np.ones(8, "float32"), stop_gradient=False)

    def step() -> None:
        first, second, third = compute(x), compute(x), compute(x)
        second.backward()
        third.backward(retain_graph=True)
        first.backward()
        x.clear_gradient(False)

    return step


STEPS: dict[str, Callable[[], Step]] = {
    "Executor, training": executor,
    "function and backward": static_function,
    "three calls in flight": in_flight,
}


def growth(step: Step, steps: int) -> Growth:
    """Return how much memory so many steps add. Machine code, and the compiler, are there before."""
    with flags_guard({"native_after_ms": 0.0}):
        for _ in range(min(WARM_UP, steps)):
            step()
    gc.collect()
    before = resident()
    for _ in range(steps):
        step()
    gc.collect()
    return Growth(resident() - before, _traced(step, max(steps // 20, 1)))


def _traced(step: Step, steps: int) -> int:
    tracemalloc.start()
    try:
        for _ in range(10):
            step()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(steps):
            step()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def main(argv: Sequence[str] | None = None) -> dict[str, Growth]:
    """Print the growth; return it by name."""
    parser = argparse.ArgumentParser(prog="benchmarks.leaks", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=100_000, help="how many steps of each (default 100000)")
    chosen = parser.parse_args(argv)
    found = {}
    for name, build in STEPS.items():
        grown = found[name] = growth(build(), chosen.steps)
        sizes = f"RSS {grown.resident / 1024:9.0f} KiB   traced {grown.traced / 1024:8.1f} KiB"
        print(f"{name:24}{chosen.steps:8} steps   {sizes}", file=sys.stdout)
    return found


if __name__ == "__main__":
    main()
