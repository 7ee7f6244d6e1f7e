"""Write every model of tests/models in every format, and print what the real consumers and our readers make of them.

python -m tests.interchange --paddle ~/paddle/bin/python
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.interchange.checking import in_onnxruntime, in_paddle, read_back
from tests.interchange.writer import ENDINGS, write_case
from tests.models.zoo import all_cases

LIMIT = 1e-4
WAYS = ("inference", "jit", "static")


def cell(found: float | str | None) -> str:
    """Return what stands in the table: nothing for a format that was refused, a mark where all is well."""
    if found is None:
        return ""
    return "yes" if not isinstance(found, str) and found < LIMIT else f"{found}"[:40]


def main() -> int:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(prog="tests.interchange", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--paddle", metavar="PYTHON", required=True, help="interpreter of an environment with Paddle")
    parser.add_argument("--only", default="", help="models to write, comma-separated (default: all)")
    given = parser.parse_args()
    only = [name for name in given.only.split(",") if name]
    with tempfile.TemporaryDirectory() as folder:
        cases = [case for case in all_cases() if not only or case.name in only]
        written = [w for n, case in enumerate(cases) for w in write_case(case, Path(folder) / str(n))]
        columns = {f"{kind}, read": read_back(written, kind) for kind in ENDINGS}
        columns["onnx, ONNX Runtime"] = in_onnxruntime(written)
        for kind in ("paddle", "paddle3"):
            for way in WAYS:
                columns[f"{kind}, {way}"] = in_paddle(given.paddle, way, written, kind)
    print(f"| model | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for w in written:
        print(f"| {w.name} | {' | '.join(cell(column.get(w.name)) for column in columns.values())} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
