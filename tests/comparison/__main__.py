"""Run the differential cases with vitrify and with PaddlePaddle's AST mode, and write docs/paddle-comparison.md.

    python -m tests.comparison --paddle ~/paddle/bin/python

A case passes if outputs, gradients, mutated arguments, prints and exceptions of the compiled function equal those of
the eager one of the same framework, on the first and the repeated call.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.comparison.report import page
from tests.comparison.runner import Runner, Verdict
from tests.end_to_end.tables import all_cases

ROOT = Path(__file__).parent.parent.parent
PEER = "paddle"
PAGE = ROOT / "docs" / "paddle-comparison.md"


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(prog="tests.comparison", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--paddle", metavar="PYTHON", required=True, help="interpreter of an environment with Paddle")
    parser.add_argument("--only", default="", help="areas to run, comma-separated (default: all)")
    parser.add_argument("--timeout", type=float, default=15.0, help="seconds a case may take (default 15)")
    parser.add_argument("--out", type=Path, default=PAGE, help="page to write (default docs/paddle-comparison.md)")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the command line asks for and write the page."""
    chosen = arguments(argv)
    areas = {area for area in chosen.only.split(",") if area}
    cases = [case for case in all_cases() if not areas or case.area in areas]
    ours, theirs = Runner(sys.executable, "vitrify", chosen.timeout), Runner(chosen.paddle, PEER, chosen.timeout)
    found: list[tuple[str, str, Verdict, Verdict]] = []
    with ours, theirs:
        version = theirs.version()
        for case in cases:
            found.append((case.area, case.name, ours.ask(case.table, case.name), theirs.ask(case.table, case.name)))
            if len(found) % 20 == 0:
                print(f"{len(found)} of {len(cases)} cases", file=sys.stderr, flush=True)
    chosen.out.write_text(page(found, version), encoding="utf-8")
    print(f"{len(found)} cases; written to {chosen.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
