"""Constants of all programs and parts in a file, each stored once however many of them read it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .layout import Layout

_ALIGNED = 64


@dataclass(frozen=True)
class Shared:
    """What lies where in the file's data, and the layouts that read it there."""

    contents: list[tuple[int, Any]]
    layouts: list[Layout]
    bytes: int

    def write(self, path: Path) -> None:
        """The data, as a file."""
        with path.open("wb") as out:
            for at, content in self.contents:
                out.write(b"\0" * (at - out.tell()))
                out.write(_raw(content))
            out.write(b"\0" * _ALIGNED)


def shared(layouts: Sequence[Layout]) -> Shared:
    """Layouts that read constants from one place, where equal ones lie once."""
    contents: list[tuple[int, Any]] = []
    found: dict[Any, int] = {}
    moved, end = [], 0
    for layout in layouts:
        places: dict[int, int] = {}
        for at, content in layout.data:
            raw = _raw(content)
            key = (raw.nbytes, hashlib.blake2b(raw).digest())
            if key not in found:
                found[key] = -(-end // _ALIGNED) * _ALIGNED if raw.nbytes > 8 else -(-end // 8) * 8
                contents.append((found[key], content))
                end = found[key] + raw.nbytes
            places[at] = found[key]
        moved.append(_moved(layout, places))
    return Shared(contents, moved, end)


def _moved(layout: Layout, places: dict[int, int]) -> Layout:
    """The layout whose constants lie at other places."""
    words, patches = [*layout.words], dict(layout.patches)
    for word, place in layout.constants:
        old, more = words[word], places[place] - place
        assert isinstance(old, int)
        words[word] = old + more
        if word in patches:
            patches[word] = (patches[word][0] + more, *patches[word][1:])
    return replace(layout, words=words, patches=patches, data=[])


def _raw(content: Any) -> memoryview:
    """The bytes of a constant."""
    if isinstance(content, bytes):
        return memoryview(content)
    return np.ascontiguousarray(content).reshape(-1).view(np.uint8).data
