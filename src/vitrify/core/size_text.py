"""Numbers of bytes, for people."""

from __future__ import annotations

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB")


def size_text(size: float) -> str:
    """A number of bytes, in the largest unit of which it has one.

    >>> size_text(1536), size_text(100)
    ('1.5 KiB', '100 B')
    """
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.1f} {_UNITS[unit]}" if unit else f"{size:.0f} B"


__all__ = ["size_text"]
