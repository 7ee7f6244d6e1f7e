"""Writes src/vitrify/ops/homes.py: `python -m tests.ops.homes --write`; without it, the table as it should be."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import FrameType

from vitrify.ops import registry

PAGE = Path(registry.__file__).with_name("homes.py")
START, END = '_HOMES = """\n', '\n"""\n'
"""What stands around the table in it."""


def found() -> dict[str, list[str]]:
    """The ops that each module defines, in a process that has imported no other of ours than the registry."""
    homes: dict[str, list[str]] = {}
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


def text(homes: dict[str, list[str]]) -> str:
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
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    return before + START + "\n".join(rows) + END + rest.partition(END)[2]


def main() -> None:
    """Print the file, or write it."""
    parser = argparse.ArgumentParser(prog="tests.ops.homes", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    content = text(found())
    if parser.parse_args().write:
        PAGE.write_text(content, encoding="utf-8")
    else:
        print(content, end="")


if __name__ == "__main__":
    main()
