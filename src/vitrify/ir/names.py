"""Names of variables in a Program that was read, not built."""

from __future__ import annotations

import re

from .program import Program

_NUMBERED = re.compile(r"(?s)(.+)_(0|[1-9]\d{0,8})")


def resume_names(program: Program) -> None:
    """Let `program.fresh_name` go on after the numbered names that the program has: after `add_3` comes `add_4`."""
    for block in program.blocks:
        for name in block.vars:
            match = _NUMBERED.fullmatch(name)
            if match is not None:
                prefix, number = match[1], int(match[2])
                program._names[prefix] = max(program._names.get(prefix, 0), number + 1)
