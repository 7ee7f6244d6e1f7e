"""Write random programs, run each eagerly and compiled, count how they go, and shrink those that differ.

python -m tests.fuzz --count 20000 --jobs 2 --seed 0
python -m tests.fuzz --seed 17 --count 1 --show
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from .grammar import WIDE_FROM
from .program import Program, write_program
from .shrink import shrink
from .verdict import Verdict, judge

CHUNK = 25


@dataclass(frozen=True)
class Report:
    """One program's seed, its verdicts on the way there, and what was used to write it."""

    seed: int
    verdict: Verdict
    used: dict[str, int]


def examine(seed: int, full_graph: bool = True) -> Report:
    """Return the report on the program of a seed."""
    program = write_program(seed)
    return Report(seed, judge(program.source, program.shared, full_graph), program.used)


def examine_many(task: tuple[range, bool]) -> list[Report]:
    """Return the reports of a chunk of seeds: what a worker process does at a time."""
    seeds, full_graph = task
    return [examine(seed, full_graph) for seed in seeds]


def smallest(program: Program, verdict: Verdict, full_graph: bool = True, seconds: float = 60) -> str:
    """Return the program shrunk as far as it goes with a verdict of that word and kind."""

    def alike(source: str) -> bool:
        found = judge(source, program.shared, full_graph)
        return (found.word, found.kind) == (verdict.word, verdict.kind)

    return shrink(program.source, alike, seconds)


def described(program: Program, verdict: Verdict, full_graph: bool = True, seconds: float = 60) -> str:
    """Return the shrunk program with what happens, for people."""
    source = smallest(program, verdict, full_graph, seconds)
    again = judge(source, program.shared, full_graph)
    shared = ", one set of arguments for repeated calls" if program.shared else ""
    return f"seed {program.seed}, full_graph={full_graph}{shared}: {again.kind}\n{again.detail}\n{source}\n"


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(prog="tests.fuzz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="programs to write (default 1000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first; the next has the next (default 0)")
    parser.add_argument("--wide", action="store_true", help="seeds that use the whole grammar (1000000 and up)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--segments", action="store_true", help="full_graph=False: nothing may be refused then")
    parser.add_argument("--shrink", type=int, default=5, help="how many differing programs to shrink (default 5)")
    parser.add_argument("--refused", action="store_true", help="shrink refused programs as well, one a reason")
    parser.add_argument("--grammar", action="store_true", help="print how often each rule was used")
    parser.add_argument("--show", action="store_true", help="print the programs as well")
    chosen = parser.parse_args(argv)
    chosen.seed += WIDE_FROM if chosen.wide else 0
    return chosen


def reports(chosen: argparse.Namespace) -> Iterator[Report]:
    """Yield the report of every seed, chunk by chunk."""
    end = chosen.seed + chosen.count
    tasks = [(range(s, min(s + CHUNK, end)), not chosen.segments) for s in range(chosen.seed, end, CHUNK)]
    if chosen.jobs == 1:
        for task in tasks:
            yield from examine_many(task)
        return
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for found in pool.map(examine_many, tasks):
            yield from found


def summary(found: Sequence[Report], seconds: float) -> str:
    """Return the counts of verdicts, and of the kinds of all that did not agree."""
    words = Counter(report.verdict.word for report in found)
    lines = [f"{len(found)} programs in {seconds:.0f} s: " + ", ".join(f"{n} {word}" for word, n in words.items())]
    for word in ("invalid", "refused", "differ"):
        kinds: dict[str, list[int]] = {}
        for report in found:
            if report.verdict.word == word:
                kinds.setdefault(report.verdict.kind, []).append(report.seed)
        ranked = sorted(kinds.items(), key=lambda item: -len(item[1]))
        lines += [f"{word} {len(s):5} {kind}  (seeds {', '.join(map(str, s[:6]))})" for kind, s in ranked]
    return "\n".join(lines)


def grammar(found: Sequence[Report]) -> str:
    """Return how many programs each rule was used in."""
    used = Counter(name for report in found for name in report.used)
    return "\n".join(f"{n:6} {name}" for name, n in used.most_common())


def worst(found: Sequence[Report], chosen: argparse.Namespace) -> list[Report]:
    """Return the reports to shrink: differing ones, kinds in turn, then refused ones if asked for."""
    differing = [report for report in found if report.verdict.word == "differ"]
    met: Counter[str] = Counter()
    ranked = []
    for report in differing:
        met[report.verdict.kind] += 1
        ranked.append((met[report.verdict.kind], report.seed, report))
    chosen_ones = [report for _, _, report in sorted(ranked, key=lambda r: r[:2])[: chosen.shrink]]
    if chosen.refused:
        refused = {r.verdict.kind: r for r in reversed(found) if r.verdict.word == "refused"}
        chosen_ones += refused.values()
    return chosen_ones


def progress(found: Sequence[Report], total: int) -> None:
    """Show how far it is, on one line that the next one overwrites; nothing where nobody looks."""
    if sys.stderr.isatty():
        differ = sum(report.verdict.word == "differ" for report in found)
        print(f"\r\033[K{len(found)}/{total}, {differ} differ", end="", file=sys.stderr, flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; return 1 if a program differed."""
    chosen = arguments(argv)
    start = time.monotonic()
    found: list[Report] = []
    for report in reports(chosen):
        found.append(report)
        if chosen.show:
            print(write_program(report.seed).source, report.verdict, sep="\n")
        progress(found, chosen.count)
    print(summary(found, time.monotonic() - start), flush=True)
    if chosen.grammar:
        print(grammar(found))
    for report in worst(found, chosen):
        print(f"\n{described(write_program(report.seed), report.verdict, not chosen.segments)}", flush=True)
    return int(any(report.verdict.word == "differ" for report in found))


if __name__ == "__main__":
    sys.exit(main())
