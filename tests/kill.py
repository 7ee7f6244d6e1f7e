"""Processes that are killed before some call of the system, in the middle of writing files."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import vitrify

START = """
import os, sys
sys.path[:0] = [{source!r}, {root!r}]
from vitrify.core import atomic_file
left = {calls}

def counted(function):
    def call(*args):
        global left
        if left == 0:
            os.kill(os.getpid(), 9)
        left -= 1
        return function(*args)
    return call

def count():
    for name in ("open", "replace", "fsync", "fdopen", "unlink"):
        setattr(atomic_file.os, name, counted(getattr(os, name)))
"""


def killed_and_whole(code: str, *arguments: str, most: int = 40) -> Iterator[bool]:
    """Run `code`, which calls `count()` before it writes files, killed before its first call of the system, its second,
    and so on; yields False after each, and True after the run that came to its end, which must happen within `most`."""
    source, root = str(Path(vitrify.__file__).parents[1]), str(Path(__file__).parents[1])
    for calls in range(most):
        text = START.format(source=source, root=root, calls=calls) + code
        done = subprocess.run([sys.executable, "-c", text, *arguments], check=False).returncode
        yield done == 0
        if done == 0:
            assert calls > 5
            return
        assert done == -signal.SIGKILL
    raise AssertionError("the save never came to its end")
