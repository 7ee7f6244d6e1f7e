"""Memory of the host: what becomes of it when an array is freed."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from pathlib import Path

from ..core.config import KEEP_FREED_MB

# Parameters of glibc's mallopt, and the largest size it lets out of mmap's hands.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_LARGEST = 32 << 20


def keep_freed(megabytes: int) -> bool:
    """Have the process keep up to this much freed memory for its next arrays; returns whether the system can.

    By default glibc gives the memory of each large array back when it is freed, so that every operation on arrays of
    some hundred kilobytes and more first waits for fresh, zeroed pages: that takes longer than most operations do.
    Threads share what is kept: by default each would keep its own, and a program on two threads twice as much.
    0 changes nothing. Elsewhere than on glibc nothing happens.
    """
    if not megabytes or sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    trim = min(megabytes << 20, 2**31 - 1)
    wanted = ((_MMAP_THRESHOLD, min(_LARGEST, trim)), (_TRIM_THRESHOLD, trim), (_ARENA_MAX, 1))
    return all(mallopt(parameter, value) for parameter, value in wanted)


def give_back() -> bool:
    """Give memory that the process keeps to the system; returns whether there was any (glibc knows)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    return trim is not None and bool(trim(0))


@functools.lru_cache(maxsize=1)
def installed() -> int | None:
    """The bytes of memory that this process can ever have: the machine's, or its control group's limit."""
    try:
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a POSIX system, or one that does not tell
        return None
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
    except OSError:
        return found
    return min(found, int(limit)) if limit.isdigit() else found


keep_freed(KEEP_FREED_MB.value)
