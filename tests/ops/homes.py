"""Writes the tables of homes: `python -m tests.ops.homes --write`; without it, prints which are not true."""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from pkgutil import iter_modules
from types import FrameType

from vitrify.core.lazy import read_homes
from vitrify.ops import registry

SOURCE = Path(registry.__file__).parent.parent
START, END = '_HOMES = """\n', '"""\n'
"""What stands around a table in its file."""
Homes = dict[str, list[str]]


def homes_of_ops() -> Homes:
    """The ops that each module defines, in a process that has imported no other of ours than the registry."""
    homes: Homes = {}
    add = registry._REGISTRY.add

    def noted(op: registry.OpDef) -> None:
        homes.setdefault(_home(sys._getframe(1)), []).append(op.name)
        add(op)

    registry._REGISTRY.add = noted  # type: ignore[method-assign]
    registry.all_ops()
    return homes


def _home(frame: FrameType | None) -> str:
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    assert frame is not None, "an op is defined outside of a module's own code"
    return str(frame.f_globals["__name__"]).removeprefix("vitrify.")


def homes_of_functions() -> Homes:
    """The public functions that modules of ops define, but for names that mean two."""
    homes: Homes = {}
    for public in ("tensor", "nn.functional"):
        for name, value in vars(import_module(f"vitrify.{public}")).items():
            package, _, home = getattr(value, "__module__", "").rpartition(".")
            is_there = package == "vitrify.ops" and getattr(import_module(f"{package}.{home}"), name, None) is value
            if isfunction(value) and is_there and name not in homes.get(home, ()):
                homes.setdefault(home, []).append(name)
    everywhere = [name for names in homes.values() for name in names]
    return {home: [name for name in names if everywhere.count(name) == 1] for home, names in homes.items()}


def homes_of_readers() -> Homes:
    """The operators of Paddle's that each module enters in the table of those that are read."""
    homes: Homes = {}
    package = import_module("vitrify.paddle_program")
    reads = import_module("vitrify.paddle_program.operator_table").reads
    enter = reads.enter

    def noted(name: str, *rest: object) -> None:
        home = _home(sys._getframe(1)).removeprefix("paddle_program.")
        others = [other for other, names in homes.items() if name in names and other != home]
        assert not others, f"{name} is read in {others[0]} and in {home}"
        homes.setdefault(home, []).append(name)
        enter(name, *rest)

    reads.enter = noted
    for module in iter_modules(package.__path__):
        if module.name.endswith(("operators", "layers", "losses")):
            import_module(f"vitrify.paddle_program.{module.name}")
    return homes


def homes_of_onnx() -> Homes:
    """The ONNX operator that an op of ours is."""
    same = [op for op in registry.all_ops() if op.elementwise and not op.attrs and "onnx" in op.maps]
    return {op.name: [op.maps["onnx"]] for op in same}


TABLES = {
    "ops/homes.py": homes_of_ops,
    "ops/functions.py": homes_of_functions,
    "paddle_program/reader_homes.py": homes_of_readers,
    "onnx/same_ops.py": homes_of_onnx,
}
"""What finds the table of each file."""
MAY_LACK = ("ops/functions.py",)
"""Tables that need not have everything: who asks for what they lack is told so at once."""


def text(file: str, homes: Homes) -> str:
    """The file with the table as it should be."""
    rows = []
    for home in sorted(homes):
        line = f"{home}:"
        for name in sorted(homes[home]):
            if len(line) + 1 + len(name) > 116:
                rows.append(line)
                line = "   "
            line += f" {name}"
        rows.append(line)
    before, _, rest = (SOURCE / file).read_text(encoding="utf-8").partition(START)
    return before + START + "".join(f"{row}\n" for row in rows) + END + rest.partition(END)[2]


def _in_new_process(file: str) -> str:
    """The file as it should be, found where nothing was imported before."""
    command = [sys.executable, "-m", "tests.ops.homes", "--print", file]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Write the files, or print the names of those that differ."""
    parser = argparse.ArgumentParser(prog="tests.ops.homes", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the tables")
    parser.add_argument("--print", choices=list(TABLES), help="print this file as it should be")
    chosen = parser.parse_args()
    if chosen.print:
        print(text(chosen.print, TABLES[chosen.print]()), end="")
        return
    for file in TABLES:
        content = _in_new_process(file)
        if chosen.write:
            (SOURCE / file).write_text(content, encoding="utf-8")
        elif not _is_true((SOURCE / file).read_text(encoding="utf-8"), content, file in MAY_LACK):
            print(file)


def _is_true(found: str, wanted: str, may_lack: bool) -> bool:
    """Whether a file is as it should be, or says nothing else at least."""
    tables = [read_homes(content.partition(START)[2].partition(END)[0]) for content in (found, wanted)]
    return tables[0].items() <= tables[1].items() if may_lack else found == wanted


if __name__ == "__main__":
    main()
