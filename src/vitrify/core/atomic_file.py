"""Writing a file so that readers see the old one or the new one, never a part."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


@contextmanager
def atomic_file(path: str | os.PathLike[str], durable: bool = True) -> Iterator[BinaryIO]:
    """A binary file to write into, which takes the place of `path` when the block ends well.

    It is written beside `path` under a temporary name, flushed to the disk and renamed. When the block raises,
    the temporary file is removed and `path` is as it was. Not `durable`: a power cut may leave an empty or partial
    file, which readers must notice. Raises OSError where the folder cannot be written.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with atomic_file(folder + "/a.bin") as out:
    ...     _ = out.write(b"all or nothing")
    >>> os.listdir(folder)
    ['a.bin']
    """
    target = os.path.realpath(path)  # a link keeps pointing where it did
    temporary = f"{target}.tmp-{os.getpid()}-{os.urandom(4).hex()}"
    # Not tempfile: its files are private to the owner, and the mode survives the rename.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            if durable:
                os.fsync(out.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    if durable:
        _sync_folder(os.path.dirname(target))


def replace_file(old: str, new: str) -> None:
    """Give the file `old` the name `new`, in the place of the file that has it, so that a power cut undoes nothing."""
    target = os.path.realpath(new)
    os.replace(old, target)
    _sync_folder(os.path.dirname(target))


def _sync_folder(folder: str) -> None:
    """Make the rename itself survive a power cut, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems refuse to sync folders
            os.fsync(handle)
    finally:
        os.close(handle)
