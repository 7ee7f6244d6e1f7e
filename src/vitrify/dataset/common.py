"""paddle.dataset.common: sums of files."""

from __future__ import annotations

import hashlib
from os import PathLike

_CHUNK = 1 << 20  # bytes


def md5file(fname: str | PathLike[str]) -> str:
    """The MD5 sum of a file's content, 32 hexadecimal digits. Source: paddle.dataset.common.md5file.

    Raises OSError where the file cannot be read.

    Example:
        >>> import os, tempfile
        >>> import vitrify as paddle
        >>> from vitrify.dataset.common import md5file
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "empty.txt")
        ...     open(path, "wb").close()
        ...     md5file(path)
        'd41d8cd98f00b204e9800998ecf8427e'
    """
    found = hashlib.md5(usedforsecurity=False)
    with open(fname, "rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()


__all__ = ["md5file"]
