"""Writing a file so that readers see the old one or the new one, never a part."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import BinaryIO

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None

_MARK = ".tmp-"
_TEMPORARY = re.compile(r"\.tmp-[0-9]+-[0-9a-f]{8}")


@contextmanager
def atomic_file(path: str | os.PathLike[str], durable: bool = True) -> Iterator[BinaryIO]:
    """A binary file to write into, which takes the place of `path` when the block ends well.

    It is written beside `path` under a temporary name, flushed to the disk and renamed. When the block raises,
    the temporary file is removed and `path` is as it was. Not `durable`: a power cut may leave an empty or partial
    file, which readers must notice. What writers of `path` that were killed have left is removed: their files are not
    locked any more. Raises OSError where the folder cannot be written.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with atomic_file(folder + "/a.bin") as out:
    ...     _ = out.write(b"all or nothing")
    >>> os.listdir(folder)
    ['a.bin']
    """
    target = os.path.realpath(path)  # a link keeps pointing where it did
    _remove_left(target)
    with _names_target(target):
        temporary, handle = _locked_file(target)
    try:
        with _names_target(target), os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            if durable:
                os.fsync(out.fileno())
            if fcntl is not None:
                os.replace(temporary, target)  # as long as it is locked
        if fcntl is None:
            with _names_target(target):
                os.replace(temporary, target)  # Windows renames no open files
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    if durable:
        _sync_folder(os.path.dirname(target))


@contextmanager
def _names_target(target: str) -> Iterator[None]:
    """Errors of the temporary file inside name the target, which is the one that the caller knows."""
    try:
        yield
    except OSError as err:
        if isinstance(err.filename, str) and _TEMPORARY.fullmatch(err.filename[len(target) :]):
            raise OSError(err.errno, err.strerror, target) from err
        raise


def _locked_file(target: str) -> tuple[str, int]:
    """A new file beside the target, and its handle, which locks it until it is closed or the process ends."""
    while True:
        temporary = f"{target}{_MARK}{os.getpid()}-{os.urandom(4).hex()}"
        # Not tempfile: its files are private to the owner, and the mode survives the rename.
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        _lock(handle)
        if os.fstat(handle).st_nlink:
            return temporary, handle
        os.close(handle)  # another writer took it for one left behind, before it was locked


def _lock(handle: int) -> bool:
    """Whether the file is ours alone now; where a file system has no locks nobody knows, and nothing is removed."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_left(target: str) -> None:
    """Remove the temporary files of this target that nobody writes any more."""
    folder, file = os.path.split(target)
    for name in os.listdir(folder) if fcntl is not None else ():
        if name.startswith(file + _MARK) and _TEMPORARY.fullmatch(name[len(file) :]):
            with suppress(OSError):  # gone, or another user's
                _remove_unlocked(os.path.join(folder, name))


def _remove_unlocked(path: str) -> None:
    handle = os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        if _lock(handle):
            os.unlink(path)
    finally:
        os.close(handle)


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
