"""Peak memory of forward and backward: compiled, eager, and the least that the order of instructions allows.

    python -m benchmarks.memory [--plot docs/pictures/peak_memory.svg]

Counted are the bytes that NumPy and Python ask for (`tracemalloc`), beyond parameters and batch, there before. Compiled
programs run their instructions in order, and then on two threads.
The bound is the sum of the buffers that are live at each instruction of the lowered programs, its largest value.
"""

import argparse
import gc
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import vitrify as paddle
from benchmarks.data import floats, labels
from benchmarks.models import perceptron, transformer
from vitrify.runtime.footprint import Footprint, footprint
from vitrify.runtime.interpreter import InterpreterCore

MIB = float(1 << 20)
SIZE = transformer.Size(layers=4, width=128, heads=4, length=64, batch=8, vocabulary=256)
SIZES = (256,) * 25 + (10,)


@dataclass(frozen=True)
class Peaks:
    """Peak bytes of one model: measured eagerly and compiled, and the bound; `timeline` is measured while it ran.

    `threads`: the most of several runs on two threads, which take their instructions in another order each time.
    """

    eager: int
    compiled: int
    threads: int
    bound: Footprint
    timeline: tuple[int, ...]

    @property
    def over_bound(self) -> float:
        """Compiled over the bound."""
        return self.compiled / self.bound.peak

    @property
    def over_eager(self) -> float:
        """Compiled over eager."""
        return self.compiled / self.eager


def mlp24(batch: int = 512) -> tuple[Any, list[Any]]:
    """Return a perceptron of 24 hidden layers and a batch."""
    return perceptron.perceptron(paddle, SIZES), [floats(batch, SIZES[0]), labels(batch, classes=SIZES[-1])]


def small_transformer() -> tuple[Any, list[Any]]:
    """Return a language model of four blocks and a batch."""
    return transformer.gpt(paddle, SIZE), list(transformer.batch(SIZE))


MODELS: dict[str, Callable[[], tuple[Any, list[Any]]]] = {
    "MLP, 24 hidden layers": mlp24,
    "transformer, 4 blocks": small_transformer,
}


def step(forward: Callable[..., Any], parameters: Sequence[Any], inputs: Sequence[Any]) -> None:
    """Compute the gradients of all parameters and forget them."""
    forward(*inputs).backward()
    for parameter in parameters:
        parameter.clear_gradient(False)


def peak_of(run: Callable[[], Any]) -> int:
    """Return the most bytes in use while `run` runs a third time, beyond those in use before."""
    run()
    run()
    gc.collect()
    tracemalloc.start()
    try:
        run()  # what a first call under tracemalloc leaves behind counts as there before
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        run()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def segment_of(compiled: Any) -> Any:
    """Return the forward and backward programs of a compiled layer, which ran for one signature."""
    (program,) = compiled.forward.program_cache.programs()
    return program.segment


def _watch(core: InterpreterCore, seen: list[int]) -> list[Any]:
    """Have `core` note what is in use behind each instruction; returns its own steps."""
    steps = core._steps

    def looking(run: Callable[[Any], None]) -> Callable[[Any], None]:
        def look(frame: Any) -> None:
            run(frame)
            seen.append(tracemalloc.get_traced_memory()[0])

        return look

    core._steps = [looking(run) for run in steps]
    return steps


def timeline_of(segment: Any, run: Callable[[], Any]) -> tuple[int, ...]:
    """Return the bytes in use behind each instruction of forward and backward, beyond those before."""
    seen: list[int] = []
    cores = (segment.forward_core, segment.backward_core)
    own = [_watch(core, seen) for core in cores]
    tracemalloc.start()
    try:
        run()
        seen.clear()
        before, _ = tracemalloc.get_traced_memory()
        run()
    finally:
        tracemalloc.stop()
        for core, steps in zip(cores, own, strict=True):
            core._steps = steps
    return tuple(bytes_ - before for bytes_ in seen)


def peak_on_threads(segment: Any, run: Callable[[], Any], rounds: int = 2) -> int:
    """Return the most bytes in use in several runs on two threads."""
    own = segment.forward_core, segment.backward_core
    try:
        segment.forward_core, segment.backward_core = (
            core.variant(replace(core.options, mode="threads", threads=2, serial=False)) for core in own
        )
        return max(peak_of(run) for _ in range(rounds))
    finally:
        segment.forward_core, segment.backward_core = own


def measure(build: Callable[[], tuple[Any, list[Any]]]) -> Peaks:
    """Return the peaks of one model."""
    model, arrays = build()
    inputs = [paddle.to_tensor(a) for a in arrays]
    parameters = model.parameters()
    eager = peak_of(lambda: step(model, parameters, inputs))
    strategy = paddle.static.BuildStrategy()
    strategy.sequential_run = True
    compiled = paddle.jit.to_static(model, build_strategy=strategy, full_graph=True)
    peak = peak_of(lambda: step(compiled, parameters, inputs))
    segment = segment_of(compiled)
    bound = footprint(segment.forward_core, segment.backward_core, segment.n_outputs)
    threads = peak_on_threads(segment, lambda: step(compiled, parameters, inputs))
    return Peaks(eager, peak, threads, bound, timeline_of(segment, lambda: step(compiled, parameters, inputs)))


def plot(found: dict[str, Peaks], file: Path) -> None:
    """Write a picture of what was in use at each instruction, beside the bound and eager's peak."""
    from matplotlib import pyplot

    pyplot.rcParams.update({"svg.hashsalt": "vitrify", "svg.fonttype": "none"})
    figure, axes = pyplot.subplots(1, len(found), figsize=(5 * len(found), 3.2), squeeze=False)
    for axis, (name, peaks) in zip(axes[0], found.items(), strict=True):
        axis.plot([b / MIB for b in peaks.bound.live], label="live at the instruction (bound)", color="#999999", lw=3)
        axis.plot([b / MIB for b in peaks.timeline], label="compiled, behind it", color="#2060c0", lw=1)
        axis.axhline(peaks.compiled / MIB, label="compiled, peak", color="#2060c0", ls=":")
        axis.axhline(peaks.eager / MIB, label="eager, peak", color="#c04020", ls="--")
        axis.set_title(name)
        axis.set_xlabel("instruction")
        axis.set_ylim(0, 1.1 * max(peaks.compiled, peaks.eager) / MIB)
    axes[0][0].set_ylabel("MiB beyond parameters and batch")
    axes[0][0].legend(fontsize=8, loc="lower center")
    figure.tight_layout()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Date": None})


def main(argv: Sequence[str] | None = None) -> dict[str, Peaks]:
    """Print the table; return the peaks by model."""
    parser = argparse.ArgumentParser(prog="benchmarks.memory", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--plot", type=Path, help="where to write a picture (SVG or PNG), which needs matplotlib")
    chosen = parser.parse_args(argv)
    found = {}
    head = f"{'peak, MiB':28}{'eager':>9}{'compiled':>10}{'threads':>9}{'bound':>9}"
    print(f"{head}{'/eager':>9}{'/bound':>9}", file=sys.stdout)
    for name, build in MODELS.items():
        peaks = found[name] = measure(build)
        sizes = f"{peaks.eager / MIB:9.2f}{peaks.compiled / MIB:10.2f}{peaks.threads / MIB:9.2f}"
        sizes += f"{peaks.bound.peak / MIB:9.2f}"
        print(f"{name:28}{sizes}{peaks.over_eager:9.3f}{peaks.over_bound:9.3f}", file=sys.stdout)
    if chosen.plot:
        plot(found, chosen.plot)
    return found


if __name__ == "__main__":
    main()
