"""What data sets share: local files that must be there, and modes."""

from __future__ import annotations

from pathlib import Path

from ..core.errors import ArgumentError, UnsupportedError


def local(owner: str, name: str, path: str | Path | None) -> Path:
    """The file at `path`; raises UnsupportedError if none is named, FileNotFoundError if it is not there."""
    if path is None:
        raise UnsupportedError(
            f"{owner}: {name} is None, which asks for a download; vitrify reads local files only",
            hint=f"download the data set yourself and pass {name}=<its path>",
        )
    found = Path(path)
    if not found.exists():
        raise FileNotFoundError(f"{owner}: {name} {found} does not exist")
    return found


def mode_of(owner: str, mode: str, known: tuple[str, ...]) -> str:
    """The mode in lower case; raises ArgumentError for one that is not known."""
    lower = mode.lower()
    if lower not in known:
        raise ArgumentError(f"{owner}: mode must be one of {', '.join(known)}, got {mode!r}")
    return lower
