"""Write every model of tests/models in every format, and print what the real consumers and our readers make of them.

python -m tests.interchange --paddle ~/paddle/bin/python [--write docs/interchange.md]

--write: put the table into the file, between the lines that mark where it stands.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

import onnxruntime

import vitrify
from tests.interchange.checking import in_native, in_onnxruntime, in_paddle, read_back
from tests.interchange.writer import ENDINGS, write_case
from tests.models.zoo import all_cases

LIMIT = 1e-4
BEGIN, END = "<!-- table of tests.interchange -->", "<!-- end of the table -->"
WAYS = ("inference", "jit", "static")


def cell(found: float | str | None) -> str:
    """Return what stands in the table: nothing for a format that was refused, a mark where all is well."""
    if found is None:
        return ""
    if isinstance(found, str):
        return "stops: " + " ".join(found.replace("|", "/").split())[:60]
    return "yes" if found < LIMIT else f"differs by {found:.2g}"


def main() -> int:
    """Print the table as Markdown, or write it."""
    parser = argparse.ArgumentParser(prog="tests.interchange", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--paddle", metavar="PYTHON", required=True, help="interpreter of an environment with Paddle")
    parser.add_argument("--only", default="", help="models to write, comma-separated (default: all)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="the file whose table to replace")
    given = parser.parse_args()
    only = [name for name in given.only.split(",") if name]
    with tempfile.TemporaryDirectory() as folder:
        cases = [case for case in all_cases() if not only or case.name in only]
        written = [w for n, case in enumerate(cases) for w in write_case(case, Path(folder) / str(n))]
        columns = {f"{kind}, read": read_back(written, kind) for kind in ENDINGS if kind != "native"}
        columns["native, called"] = in_native(written)
        one_size = {w.name for w in written if w.of_one_size}
        columns["onnx, ONNX Runtime"] = in_onnxruntime(written)
        for kind in ("paddle", "paddle3"):
            for way in WAYS:
                columns[f"{kind}, {way}"] = in_paddle(given.paddle, way, written, kind)
    text = table([w.name for w in written], columns, versions(given.paddle), one_size)
    if given.write is None:
        print(text)
    else:
        put(given.write, text)
    return 0


def table(
    names: list[str], columns: dict[str, dict[str, float | str]], consumers: str, one_size: Collection[str] = ()
) -> str:
    """Return the table as Markdown: a row for each program, and how many are well in all.

    one_size: programs that are native for the inputs' own sizes alone.
    """
    cells = {name: [cell(column.get(name)) for column in columns.values()] for name in names}
    well = [sum(row[i] == "yes" for row in cells.values()) for i in range(len(columns))]
    for name in one_size:
        cells[name] = [f"{c}, these sizes" if c and k.startswith("native") else c for c, k in zip(cells[name], columns)]
    lines = [f"{len(names)} programs, {consumers}.", "", f"| program | {' | '.join(columns)} |"]
    lines.append(f"|---|{'---|' * len(columns)}")
    lines += [f"| {name} | {' | '.join(row)} |" for name, row in cells.items()]
    return "\n".join([*lines, f"| all | {' | '.join(map(str, well))} |"])


def versions(python: str) -> str:
    """Return who reads the files, with versions."""
    code = "import paddle; print(paddle.__version__)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    own = f"vitrify {vitrify.__version__}"
    return f"{own}, PaddlePaddle {done.stdout.split()[-1]}, ONNX Runtime {onnxruntime.__version__}"


def put(file: Path, text: str) -> None:
    """Write the table into a file, in the place of the one that stands there."""
    before, mark, rest = file.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise SystemExit(f"{file} does not say where the table stands: {BEGIN} ... {END}")
    file.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
