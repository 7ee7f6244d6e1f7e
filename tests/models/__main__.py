"""Run every model with vitrify and with PaddlePaddle from the same weights, and write docs/models.md.

python -m tests.models --paddle ~/paddle/bin/python
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.models.report import page
from tests.models.zoo import all_cases

ROOT = Path(__file__).parent.parent.parent
PEER = "paddle"
PAGE = ROOT / "docs" / "models.md"


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(prog="tests.models", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--paddle", metavar="PYTHON", required=True, help="interpreter of an environment with Paddle")
    parser.add_argument("--only", default="", help="models to run, comma-separated (default: all)")
    parser.add_argument("--out", type=Path, default=PAGE, help="page to write (default docs/models.md)")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the command line asks for and write the page."""
    chosen = arguments(argv)
    only = [name for name in chosen.only.split(",") if name]
    names = [case.name for case in all_cases() if not only or case.name in only]
    with tempfile.TemporaryDirectory() as folder:
        states = f"{folder}/states.npz"
        found = []
        for python, framework in ((sys.executable, "vitrify"), (chosen.paddle, PEER)):
            out = f"{folder}/{len(found)}.npz"
            command = [python, "-m", "tests.models.worker", framework, out, states, *only]
            subprocess.run(command, cwd=ROOT, check=True)
            found.append(dict(np.load(out)))
    chosen.out.write_text(page(names, *found), encoding="utf-8")
    print(f"{len(names)} models; written to {chosen.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
