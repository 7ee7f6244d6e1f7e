"""What a person at a terminal is told while a command works: on stderr, and only where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stage(text: str) -> Iterator[None]:
    """Show `text` while the block runs."""
    shown = sys.stderr.isatty()
    if shown:
        print(f"\r{text} ...\033[K", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def counted(count: int, what: str) -> Iterator[int]:
    """The numbers below `count`, each shown as it comes."""
    shown = sys.stderr.isatty()
    for number in range(count):
        if shown:
            print(f"\r{what} {number + 1}/{count}\033[K", end="", file=sys.stderr, flush=True)
        yield number
    if shown:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
