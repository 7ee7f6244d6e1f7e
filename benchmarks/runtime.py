"""What a run costs beside its kernels, by mode, and what two threads bring.

    python -m benchmarks.runtime [--rounds 15] [--sizes 768,1024,1536]

1. An instruction: programs of empty kernels, one instruction after the other (a chain) and independent ones (a fan), in
   each mode; what a Python loop over the same kernels takes is subtracted. In mode "threads" with one and two threads.
2. A call: a program without instructions, by the interpreter, a static function (like the call before, and as if it
   were not) and an Executor.
3. Two independent chains of matrix products, serial and on two threads, with one BLAS thread each (set
   OPENBLAS_NUM_THREADS=1 before starting). What the machine itself gives is measured beside: the same products by two
   plain threads, and by one.

Contenders take turns in each round; printed are medians of the rounds.
"""

import argparse
import os
import threading
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import vitrify as paddle
from vitrify.ops.registry import NoGradient, define_op
from vitrify.runtime.interpreter import InterpreterCore
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions

Step = Callable[[], object]
LENGTH = 200
CHAIN = 4
SECONDS = 0.02


def _nothing(xp: Any, x: Any) -> Any:
    return x


def _neither(xp: Any, x: Any, y: Any) -> Any:
    return x


nothing = define_op("nothing_for_tests", kernel=_nothing, meta=lambda x: x, vjp=NoGradient("a benchmark"))
neither = define_op("neither_for_tests", kernel=_neither, meta=lambda x, y: x, vjp=NoGradient("a benchmark"))


def chain(x: Any, length: int = LENGTH) -> list[Any]:
    """Return the end of a chain of empty kernels that take one array."""
    for _ in range(length):
        x = nothing(x)
    return [x]


def pairs(x: Any, length: int = LENGTH) -> list[Any]:
    """Return the end of a chain of empty kernels that take two arrays."""
    y = x
    for _ in range(length):
        x, y = neither(x, y), x
    return [x]


def fan(x: Any, length: int = LENGTH) -> list[Any]:
    """Return the results of empty kernels that do not depend on each other."""
    return [nothing(x) for _ in range(length)]


def lowered(build: Callable[[Any], list[Any]], shape: Sequence[int], **options: Any) -> InterpreterCore:
    """Return a program of one input as a function."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", list(shape))
        outputs = build(x)
    return lower(main.global_block(), [x], outputs, options=ExecutionOptions(**options))


def medians(steps: dict[str, Step], rounds: int) -> dict[str, float]:
    """Return the seconds that each step takes, by name: medians of rounds in which all take turns."""
    counts = {name: max(1, int(SECONDS / max(_seconds(step, 2), 1e-9))) for name, step in steps.items()}
    taken: dict[str, list[float]] = {name: [] for name in steps}
    names = list(steps)
    for number in range(rounds):
        for place in range(len(names)):  # another one first in each round
            name = names[(place + number) % len(names)]
            taken[name].append(_seconds(steps[name], counts[name]))
    return {name: median(times) for name, times in taken.items()}


def _seconds(step: Step, count: int) -> float:
    start = perf_counter()
    for _ in range(count):
        step()
    return (perf_counter() - start) / count


def instructions(rounds: int) -> dict[str, float]:
    """Return the microseconds that an instruction takes beside its kernel, by mode and program."""
    x = np.ones(2, "float32")
    modes: dict[str, dict[str, Any]] = {
        "trace": {"serial": True},
        "threads, 1": {"mode": "threads", "threads": 1},
        "threads, 2": {"mode": "threads", "threads": 2},
        "streams": {"mode": "streams"},
    }
    found = {}
    for build in (chain, pairs, fan):
        cores = {mode: lowered(build, [2], **options) for mode, options in modes.items()}
        steps: dict[str, Step] = {mode: lambda core=core: core(x) for mode, core in cores.items()}
        computes = [i.compute for i in cores["trace"].instructions]
        arguments = (x,) * len(cores["trace"].instructions[0].reads)
        steps["kernels alone"] = lambda computes=computes, given=arguments: [compute(*given) for compute in computes]
        times = medians(steps, rounds)
        for mode in modes:
            found[f"{mode}: {build.__name__}"] = 1e6 * (times[mode] - times["kernels alone"]) / LENGTH
    return found


def calls(rounds: int) -> dict[str, float]:
    """Return the microseconds that a call of a program without work takes, by way of calling."""
    x = np.ones(2, "float32")
    tensor = paddle.to_tensor(x)
    core = lowered(lambda v: [nothing(v)], [2], serial=True)
    static = paddle.jit.to_static(lambda v: nothing(v), full_graph=True)
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        y = nothing(paddle.static.data("x", [2]))
    exe = paddle.static.Executor(paddle.CPUPlace())

    times = medians(
        {
            "the interpreter": lambda: core(x),
            "a static function": lambda: static(tensor),
            "by its signature": lambda: static._call((tensor,), {}),
            "Executor.run": lambda: exe.run(main, feed={"x": x}, fetch_list=[y]),
        },
        rounds,
    )
    return {name: 1e6 * seconds for name, seconds in times.items()}


def branches(size: int, rounds: int) -> dict[str, float]:
    """Return the milliseconds of two independent chains of products of square matrices, by way of running them."""

    def build(x: Any) -> list[Any]:
        found = []
        for scale in (1.0, 2.0):
            y = x * scale
            for _ in range(CHAIN):
                y = paddle.matmul(y, x)
            found.append(y)
        return found

    x = np.random.default_rng(0).standard_normal((size, size)).astype("float32") / np.sqrt(size).astype("float32")
    serial = lowered(build, x.shape, serial=True)
    threads = lowered(build, x.shape, mode="threads", threads=2)
    streams = lowered(build, x.shape, mode="streams")

    def products() -> None:
        y = x
        for _ in range(CHAIN):
            y = np.matmul(y, x)

    def twice() -> None:
        products()
        products()

    def at_once() -> None:
        other = threading.Thread(target=products)
        other.start()
        products()
        other.join()

    steps: dict[str, Step] = {
        "serial": lambda: serial(x),
        "threads": lambda: threads(x),
        "streams": lambda: streams(x),
        "NumPy, one thread": twice,
        "NumPy, two threads": at_once,
    }
    return {name: 1e3 * seconds for name, seconds in medians(steps, rounds).items()}


def main(argv: Sequence[str] | None = None) -> dict[str, dict[str, float]]:
    """Print the figures; return them by table."""
    parser = argparse.ArgumentParser(prog="benchmarks.runtime", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="rounds to take the medians of (default 15)")
    parser.add_argument("--sizes", default="768,1024,1536", help="sizes of the matrices (default 768,1024,1536)")
    chosen = parser.parse_args(argv)
    found = {"instruction": instructions(chosen.rounds), "call": calls(chosen.rounds)}
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    for table, what in (("instruction", "us an instruction beside its kernel"), ("call", "us a call")):
        print(what)
        for name, figure in found[table].items():
            print(f"  {name:24}{figure:9.2f}", flush=True)
    for size in map(int, chosen.sizes.split(",")):
        times = found[f"branches of {size}"] = branches(size, chosen.rounds)
        ratio, possible = times["threads"] / times["serial"], times["NumPy, two threads"] / times["NumPy, one thread"]
        print(f"two chains of {CHAIN} products of {size} x {size}: {ratio:.2f} of serial; NumPy alone {possible:.2f}")
        print("  " + ", ".join(f"{name} {ms:.1f} ms" for name, ms in times.items()), flush=True)
    return found


if __name__ == "__main__":
    main()
