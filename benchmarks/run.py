"""Time vitrify, and other frameworks where their Python is given, on the workloads of this folder.

    python -m benchmarks.run --torch ~/torch/bin/python --jax ~/jax/bin/python --paddle ~/paddle/bin/python
    python -m benchmarks.run --only mlp_small,gpt_tiny --without torch.compile --rounds 5 --plot ratios.svg

Each contender runs in its own process and environment. All stay alive and take their rounds in turn; a result is the
median of its rounds. Besides the tables, every result is added to a file of JSON lines.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from benchmarks.contenders import CONTENDERS, Contender, pythons
from benchmarks.measure import ROOT, Result, contest
from benchmarks.plot import plot
from benchmarks.report import Run, json_lines, load, summary, table, this_run

# Frameworks whose threads wait by spinning (OpenMP's default) lose whole time slices to other processes.
BUSY = 0.7
ADVICE = "times of multi-threaded frameworks may be far off; OMP_WAIT_POLICY=passive makes them less so"


def workloads() -> list[str]:
    """Return the names of all workloads."""
    return sorted(path.stem for path in (ROOT / "benchmarks" / "workloads").glob("[!_]*.py"))


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.run", description=(__doc__ or "").splitlines()[0])
    for peer in ("torch", "jax", "paddle"):
        parser.add_argument(f"--{peer}", metavar="PYTHON", help=f"interpreter of an environment with {peer}")
    parser.add_argument("--only", type=names, default=workloads(), help="workloads to run, comma-separated")
    parser.add_argument("--without", type=names, default=[], help="contenders to leave out, such as torch.compile")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each contender (default 9)")
    parser.add_argument("--seconds", type=float, default=0.3, help="length of a round (default 0.3)")
    parser.add_argument("--threads", type=int, help="threads that each framework may use (default: its own choice)")
    parser.add_argument("--out", type=Path, help="file that JSON lines are added to")
    parser.add_argument("--plot", type=Path, help="where to write a picture (SVG or PNG), which needs matplotlib")
    chosen = parser.parse_args(argv)
    unknown = set(chosen.only) - set(workloads())
    if unknown:
        parser.error(f"no workload {', '.join(sorted(unknown))}; there are {', '.join(workloads())}")
    return chosen


def names(text: str) -> list[str]:
    """Return the parts of a comma-separated list."""
    return [part.strip() for part in text.split(",") if part.strip()]


def contenders(workload: str, chosen: argparse.Namespace) -> dict[Contender, str]:
    """Return who runs this workload, each with its interpreter."""
    module = import_module(f"benchmarks.workloads.{workload}")
    modes = getattr(module, "MODES", ("eager", "compiled"))
    interpreters = pythons(chosen.torch, chosen.jax, chosen.paddle)
    return {
        c: interpreters[c.peer]
        for c in CONTENDERS
        if c.peer in interpreters and c.name not in chosen.without and c.mode in modes and hasattr(module, c.function)
    }


def show_progress(text: str) -> None:
    """Show what is going on, on one line that the next one overwrites; nothing where nobody looks."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def write(path: Path, workload: str, results: list[Result], run: Run) -> None:
    """Add the results to the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in json_lines(workload, results, run))


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; return 1 if a contender failed."""
    chosen = arguments(argv)
    if load() > BUSY:
        print(f"the machine is busy (load {load():.1f}): {ADVICE}", file=sys.stderr)
    run = this_run(chosen.threads)
    out = chosen.out or ROOT / "benchmarks" / "results" / f"{run.date[:10]}.jsonl"
    found: dict[str, list[Result]] = {}
    for name in chosen.only:
        results = contest(name, contenders(name, chosen), chosen.rounds, chosen.seconds, chosen.threads, show_progress)
        show_progress("")
        print(table(import_module(f"benchmarks.workloads.{name}").TITLE, results), end="\n\n", flush=True)
        write(out, name, results, run)
        found[name] = results
    print(summary(found), f"written to {out}", sep="\n\n")
    if chosen.plot:
        plot(found, chosen.plot)
    return int(any(result.error for results in found.values() for result in results))


if __name__ == "__main__":
    sys.exit(main())
