"""Which global variables a function reads and which it stores."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType

from ...core.cache import BoundedCache
from ...core.identity import ById

_GLOBALS: BoundedCache[ById, tuple[frozenset[str], frozenset[str]]] = BoundedCache("global_names", 4096)


def global_names(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The globals that a function reads, and those it assigns or deletes, nested functions included."""

    def build() -> tuple[frozenset[str], frozenset[str]]:
        read: set[str] = set()
        stored: set[str] = set()
        for part in _nested(code):
            for instruction in dis.get_instructions(part):
                if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                    read.add(instruction.argval)
                elif instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                    stored.add(instruction.argval)
        return frozenset(read), frozenset(stored)

    return _GLOBALS.get_or_build(ById(code), build)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _nested(const)
