"""Stages written out for reading: `VITRIFY_DUMP=passes,kernels` and so on."""

from __future__ import annotations

import itertools
from pathlib import Path

from .config import DUMP, DUMP_DIR, words_of

_numbers = itertools.count()


def is_dumped(stage: str) -> bool:
    """Say whether files of this stage are asked for here."""
    return bool(DUMP.value) and stage in words_of(DUMP.value)


def dump(stage: str, name: str, text: str) -> Path:
    """Write `text` into the folder of dumps, as `<number>.<stage>.<name>`, and return the file's path.

    The numbers count the files of the process in the order in which they are made.
    """
    folder = Path(DUMP_DIR.value)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{next(_numbers):04d}.{stage}.{name}"
    path.write_text(text, encoding="utf-8")
    return path
