"""Call vitrify and PaddlePaddle with the same arguments, compare, and write docs/paddle-compatibility.md.

    python -m tests.conformance --paddle ~/paddle/bin/python
    python -m tests.conformance --paddle ~/paddle/bin/python --only paddle.concat,Tensor.sum --show 20
    python -m tests.conformance --paddle ~/paddle/bin/python --tables linalg
    python -m tests.conformance --paddle ~/paddle/bin/python --tables generated --every 10

The page is written when everything runs, or where --out says. How to add an API: the docstring of `tests.conformance`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from tests.conformance.compare import compare
from tests.conformance.generated import TABLE, generated_cases
from tests.conformance.peer import Runner, question_of
from tests.conformance.report import Found, counts, page, stale
from tests.conformance.spec import Case
from tests.conformance.tables import NAMES, cases_in
from tests.peers import ROOT

PEER = "paddle"
AHEAD = 50  # questions on their way, so that no process waits for another
PAGE = ROOT / "docs" / "paddle-compatibility.md"


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(prog="tests.conformance", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--paddle", metavar="PYTHON", required=True, help="interpreter of an environment with Paddle")
    parser.add_argument("--only", default="", help="APIs to compare, comma-separated, * allowed (default: all)")
    parser.add_argument("--tables", default="", help="tables to run, comma-separated (default: all)")
    parser.add_argument("--every", type=int, default=1, help="run every Nth case only: a sample of each API")
    parser.add_argument("--offset", type=int, default=0, help="where such a sample begins, below N")
    parser.add_argument("--every-generated", type=int, default=0, help="run every Nth of the generated cases, too")
    parser.add_argument("--show", type=int, default=0, help="how many differences to print")
    parser.add_argument("--kind", default="*", help="kind of differences to print, * allowed")
    parser.add_argument("--each", type=int, default=1000, help="how many of one API and kind to print")
    parser.add_argument("--timeout", type=float, default=20.0, help="seconds a case may take (default 20)")
    parser.add_argument("--out", type=Path, default=None, help="page to write (default docs/paddle-compatibility.md)")
    return parser.parse_args(argv)


def chosen_cases(only: str, tables: str, every_generated: int = 0) -> Iterator[tuple[str, int, Case]]:
    """Yield what to run: table, number and case; of the generated ones every Nth, all where only they are asked for."""
    patterns = [pattern for pattern in only.split(",") if pattern] or ["*"]
    for table in [name for name in tables.split(",") if name] or [*NAMES, *[TABLE] * bool(every_generated)]:
        cases = generated_cases()[:: every_generated or 1] if table == TABLE else cases_in(table)
        for number, case in enumerate(cases):
            if any(fnmatchcase(name, pattern) for pattern in patterns for name in (case.api, case.row.api)):
                yield table, number, case


def judge(cases: Sequence[tuple[str, int, Case]], ours: Runner, theirs: Runner) -> Iterator[Found]:
    """Yield the verdicts on cases, both frameworks working at the same time."""
    questions = iter(cases)
    for done, (_, _, case) in enumerate(cases, 1):
        for table, number, each in islice(questions, AHEAD if done == 1 else 1):
            question = question_of(table, number, each)
            ours.ask(question)
            theirs.ask(question)
        yield Found(case.api, case.text, compare(ours.answer(), theirs.answer(), case.row.rtol))
        if done % 1000 == 0:
            print(f"{done} of {len(cases)} cases", file=sys.stderr, flush=True)


class Display:
    """Prints what differs and should not, as it is found."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.kind, self.each, self.left = chosen.kind, chosen.each, chosen.show
        self.seen: Counter[tuple[str, str]] = Counter()

    def show(self, one: Found) -> None:
        """Print a case, if it is one to print."""
        if not one.verdict.differs or one.deliberate or not fnmatchcase(one.verdict.kind, self.kind) or not self.left:
            return
        key = (one.api, one.verdict.kind)
        self.seen[key] += 1
        if self.seen[key] <= self.each:
            print(f"{one.verdict.kind}: {one.case}\n    {' '.join(one.verdict.why.split())[:400]}", flush=True)
            self.left -= 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 1 if anything differs that should not."""
    chosen = arguments(argv)
    cases = list(chosen_cases(chosen.only, chosen.tables, chosen.every_generated))[chosen.offset :: chosen.every]
    found: list[Found] = []
    display = Display(chosen)
    ours, theirs = Runner(sys.executable, "vitrify", chosen.timeout), Runner(chosen.paddle, PEER, chosen.timeout)
    with ours, theirs:
        version = theirs.version()
        for one in judge(cases, ours, theirs):
            display.show(one)
            found.append(one)
    out = chosen.out or (None if chosen.only or chosen.tables else PAGE)
    if out is not None:
        out.write_text(page(found, version, chosen.every, chosen.every_generated), encoding="utf-8")
        for entry in stale(found) if chosen.every == 1 else ():
            print(f"no case differs for this reason any more: {entry.reason}")
    agree, more, deliberate, differ = counts([one for one in found if one.verdict.counts])
    print(f"{len(cases)} cases: {agree} agree, {more} more, {deliberate} differ on purpose, {differ} differ otherwise")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
