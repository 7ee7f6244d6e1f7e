"""What data sets of text share: members of archives, and numbers for words."""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ...core.errors import FileFormatError

UNKNOWN = "<unk>"


def members(path: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the archive's files whose names match, in the archive's order.

    Raises FileFormatError for what is no tar archive.
    """
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                file = archive.extractfile(member) if re.search(pattern, member.name) else None
                if file is not None:
                    yield member.name, file.read()
    except tarfile.TarError as err:
        raise FileFormatError(f"{path} is not a tar archive, or it is cut short") from err


def lines_of(path: Path, name: str) -> list[bytes]:
    """The lines of the archive's file of which the name ends so; raises FileFormatError if there is none."""
    for _, content in members(path, rf"(^|/){re.escape(name)}$"):
        return content.splitlines()
    raise FileFormatError(f"{path} has no file {name}")


def numbered(counts: Counter[bytes | str], more_than: int) -> dict[bytes | str, int]:
    """The words that come more often than that, the most frequent first, then `<unk>` for all others."""
    words = [word for word, count in counts.items() if count > more_than]
    words.sort(key=lambda word: (-counts[word], word if isinstance(word, bytes) else word.encode()))
    found: dict[bytes | str, int] = {word: i for i, word in enumerate(words)}
    found[UNKNOWN] = len(found)
    return found
