"""Writes src/vitrify/ops/homes.py: `python -m tests.ops.homes --write`; without it, the table as it should be."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import FrameType

from vitrify.ops import registry

PAGE = Path(registry.__file__).with_name("homes.py")


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
    """The file."""
    rows = []
    for home in sorted(homes):
        line = f"{home}:"
        for name in sorted(homes[home]):
            if len(line) + 1 + len(name) > 116:
                rows.append(line)
                line = "   "
            line += f" {name}"
        rows.append(line)
    return HEAD + "\n".join(rows) + TAIL


HEAD = '''"""Which module defines an op: a program that is read imports those of its own ops, and no others.

Made by `python -m tests.ops.homes --write`, and compared with the registry by a test.
"""

_HOMES = """
'''
TAIL = '''
"""


def _read() -> dict[str, str]:
    found: dict[str, str] = {}
    home = ""
    for word in _HOMES.split():
        if word.endswith(":"):
            home = f"vitrify.{word[:-1]}"
        else:
            found[word] = home
    return found


HOMES = _read()
"""Module by op."""
'''


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
