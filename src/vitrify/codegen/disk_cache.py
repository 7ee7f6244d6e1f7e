"""Machine code kept on disk between processes, by what it was made from.

A file's name is the hash of the IR, the CPU with its features, and the versions of the compiler: what differs in any of
them is another file, so nothing is ever stale. Each file says its own checksum, so one that is damaged is built anew.
Files are made under another name and renamed, so processes may share the folder.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..core.atomic_file import atomic_file
from ..core.config import CACHE_MB, cache_dir

_MAGIC = b"vitrify kernel 1\n"
_SUFFIX = ".o"
# What is left of the folder when it has grown too large: room for some time.
_KEPT_SHARE = 0.75


def cached_code(made_from: str, build: Callable[[], bytes]) -> bytes:
    """The machine code made from this text: found on disk, else built and put there.

    Where the folder cannot be used (no room, no permission, or others may write to it) it is built every time.
    """
    folder = _folder()
    if folder is None:
        return build()
    key = hashlib.sha256(made_from.encode())
    path = folder / (key.hexdigest() + _SUFFIX)
    found = _read(path, key.digest())
    if found is None:
        found = build()
        _write(path, key.digest(), found)
    return found


def _folder() -> Path | None:
    """The folder, made if need be; None where none may be used: who can write there could run code as us."""
    if CACHE_MB.value <= 0:
        return None
    folder = cache_dir() / "kernels"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = os.stat(folder)
    except OSError:
        return None
    is_ours = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return folder if is_ours and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else None


def _read(path: Path, key: bytes) -> bytes | None:
    """The code in a file; None where there is none or it is damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    start = len(_MAGIC) + 32
    code = content[start:]
    if content[: len(_MAGIC)] != _MAGIC or _checksum(key, code) != content[len(_MAGIC) : start]:
        return None
    with suppress(OSError):
        os.utime(path)  # used now: the last to go
    return code


def _checksum(key: bytes, code: bytes) -> bytes:
    """Tells whether these bytes were written under this key: LLVM would end the process on others."""
    return hashlib.sha256(key + code).digest()


def _write(path: Path, key: bytes, code: bytes) -> None:
    try:
        with atomic_file(path, durable=False) as out:
            out.write(_MAGIC + _checksum(key, code) + code)
        _note_written(path.parent, os.path.getsize(path))
    except OSError:
        return  # a full disk or a folder that cannot be written costs time, not results


_room: dict[tuple[Path, int], int] = {}
"""By folder and limit: how much this process may write there before it looks again how large it is."""


def _note_written(folder: Path, size: int) -> None:
    """Make room once it may be gone: a look at thousands of files for each one written would cost more than those."""
    limit = CACHE_MB.value << 20
    left = _room.get((folder, limit), 0) - size
    # Other processes write, too: each takes half of what there is.
    _room[folder, limit] = left if left >= 0 else _make_room(folder, limit) // 2


def _make_room(folder: Path, limit: int) -> int:
    """Remove what was not used for longest once all files together exceed the limit; how much may be added then."""
    files = []
    for entry in os.scandir(folder):
        with suppress(OSError):  # another process may have removed it
            found = entry.stat(follow_symlinks=False)
            files.append((found.st_mtime_ns, found.st_size, entry.path))
    total = sum(size for _, size, _ in files)
    if total <= limit:
        return limit - total
    for _, size, path in sorted(files):
        with suppress(OSError):
            os.unlink(path)
        total -= size
        if total <= limit * _KEPT_SHARE:
            break
    return max(limit - total, 0)
