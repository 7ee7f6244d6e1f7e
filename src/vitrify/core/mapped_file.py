"""Files as bytes that come into memory when they are touched."""

from __future__ import annotations

import mmap
import os

LARGE = 1 << 30  # tensors of files from here on are not copied into memory


def mapped_file(path: str | os.PathLike[str], private: bool = False) -> memoryview:
    """The content of a file, read-only unless `private`: then what is written into it stays in this process, and copies
    just the pages written. Raises OSError.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"content")
    ...     file.flush()
    ...     bytes(mapped_file(file.name))
    b'content'
    """
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:  # an empty file cannot be mapped
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY if private else mmap.ACCESS_READ))


def mapped_tensors(path: str | os.PathLike[str]) -> memoryview:
    """The content of a file of tensors: read-only, to be copied, but for large files, whose tensors are one's own where
    they lie (private, as above). Raises OSError."""
    return mapped_file(path, private=os.path.getsize(path) >= LARGE)
