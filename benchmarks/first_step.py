"""Time the first step of a workload in a fresh process: with nothing compiled before, and with what the disk kept.

    python -m benchmarks.first_step --torch ~/torch/bin/python --jax ~/jax/bin/python [--only mlp_small,gpt]

The first step traces, compiles and runs; imports and the model's construction come before it. `cold` starts with an
empty cache folder, `warm` in the folder that the cold process left (frameworks without a cache on disk take the same
time twice). `settled` is a step after some more. Medians of several fresh processes, contenders by turns.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from statistics import median

from benchmarks.contenders import Contender
from benchmarks.measure import Worker, WorkerError
from benchmarks.run import contenders, names

WORKLOADS = ["mlp_small", "lstm_loop", "gpt", "resnet_training"]
_COLUMNS = "{:16} {:>10} {:>10} {:>12}"


def cache_folders(folder: Path) -> dict[str, str]:
    """Return the settings with which every framework keeps compiled code in this folder."""
    jax = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
    caches = {"VITRIFY_CACHE_DIR": "vitrify", "TORCHINDUCTOR_CACHE_DIR": "torch", "JAX_COMPILATION_CACHE_DIR": "jax"}
    return {**jax, **{name: str(folder / part) for name, part in caches.items()}}


def first_and_later(python: str, workload: str, contender: Contender, folder: Path) -> tuple[float, float]:
    """Return the seconds of the first step and of a later one, in a process of its own."""
    with Worker(python, workload, contender, None, cache_folders(folder)) as worker:
        first: float = worker.ask(0.05)["first_call"]
        return first, worker.ask(0.05)["seconds"]


def one_round(python: str, workload: str, contender: Contender) -> tuple[float, float, float]:
    """Return the seconds of a cold first step, a warm one, and a settled step."""
    with tempfile.TemporaryDirectory() as folder:
        cold, _ = first_and_later(python, workload, contender, Path(folder))
        warm, settled = first_and_later(python, workload, contender, Path(folder))
    return cold, warm, settled


def table(workload: str, found: dict[Contender, list[tuple[float, float, float]]], failed: dict[Contender, str]) -> str:
    """Return the medians as text, in milliseconds."""
    title = import_module(f"benchmarks.workloads.{workload}").TITLE
    lines = [title, _COLUMNS.format("first step, ms", "cold", "warm", "settled")]
    for contender, rounds in found.items():
        if contender in failed:
            lines.append(f"{contender.name:16} failed: {failed[contender].splitlines()[0][:100]}")
        else:
            lines.append(_COLUMNS.format(contender.name, *(f"{1e3 * median(column):.1f}" for column in zip(*rounds))))
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; return 1 if a contender failed."""
    parser = argparse.ArgumentParser(prog="benchmarks.first_step", description=(__doc__ or "").splitlines()[0])
    for peer in ("torch", "jax", "paddle"):
        parser.add_argument(f"--{peer}", metavar="PYTHON", help=f"interpreter of an environment with {peer}")
    parser.add_argument("--only", type=names, default=WORKLOADS, help="workloads to run, comma-separated")
    parser.add_argument("--without", type=names, default=[], help="contenders to leave out, such as torch.compile")
    parser.add_argument("--rounds", type=int, default=3, help="fresh processes of each kind (default 3)")
    chosen = parser.parse_args(argv)
    status = 0
    for workload in chosen.only:
        pythons = contenders(workload, chosen)
        found: dict[Contender, list[tuple[float, float, float]]] = {contender: [] for contender in pythons}
        failed: dict[Contender, str] = {}
        for _ in range(chosen.rounds):
            for contender in [c for c in pythons if c not in failed]:
                try:
                    found[contender].append(one_round(pythons[contender], workload, contender))
                except WorkerError as error:
                    failed[contender], status = str(error), 1
        print(table(workload, found, failed), end="\n\n", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
