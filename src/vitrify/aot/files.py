"""How the files of native programs are called."""

from __future__ import annotations

import os
import sys


def library_suffix() -> str:
    """The ending of shared libraries."""
    return ".dylib" if sys.platform == "darwin" else ".so"


def native_file(path: str) -> str | None:
    """The library of a native program at this path, with or without its ending; None where there is none."""
    for file in (path, path + library_suffix()):
        if file.endswith(library_suffix()) and os.path.isfile(file):
            return file
    return None
