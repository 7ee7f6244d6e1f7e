"""A checksum behind a library: a damaged one is refused before the system maps it and runs what it finds."""

from __future__ import annotations

import mmap
import os
import struct
import zlib

from ..core.errors import FileFormatError

# Behind the last byte that the system reads: a mark, how many bytes come before it, their CRC-32.
_SEAL = struct.Struct("<8sQI")
_MARK = b"\x93VTNATIV"
_REMAINS = 256  # more bytes than are left of a seal that was damaged, fewer than anybody appends
# An ELF file for 64 bits: where its table of sections lies, how large an entry is, how many there are.
_ELF = struct.Struct("<4sB35xQ10xHH")
_ELF_MAGIC, _WIDE = b"\x7fELF", 2


def sealed(library: bytes) -> bytes:
    """The library with its seal; one of another kind than ELF, which may be signed, as it is."""
    if library[:4] != _ELF_MAGIC:
        return library
    return library + _SEAL.pack(_MARK, len(library), zlib.crc32(library))


def check_seal(file: str) -> None:
    """Raise FileFormatError where a library is not what was written.

    One without a seal was linked by somebody else: of that no more is known than whether its end is there, and that a
    few bytes behind it are a seal that was damaged, too.
    """
    with open(file, "rb") as stream:
        if os.fstat(stream.fileno()).st_size < _ELF.size:
            raise _damaged(file, "it is too short for a library")
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data, memoryview(data) as view:
            reason = _wrong(view)
    if reason is not None:
        raise _damaged(file, reason)


def _damaged(file: str, reason: str) -> FileFormatError:
    return FileFormatError(
        f"{file} is no native program of vitrify: {reason}",
        hint="copy it again from where it was made, or save it again",
    )


def _wrong(data: memoryview) -> str | None:
    magic, width, table, entry, count = _ELF.unpack_from(data)
    mark, length, checksum = _SEAL.unpack_from(data, len(data) - _SEAL.size)
    if mark == _MARK:
        sound = length == len(data) - _SEAL.size and zlib.crc32(data[:length]) == checksum
        return None if sound else "its checksum is not that of its content"
    return _wrong_end(table + entry * count, len(data)) if magic == _ELF_MAGIC and width == _WIDE else None


def _wrong_end(end: int, size: int) -> str | None:
    """What is wrong with a library without a seal, whose table of sections ends at a byte."""
    if end <= _ELF.size:
        return "it has no sections"
    if end > size:
        return f"it is cut short: its sections end at byte {end}, it has {size}"
    # Linkers write the table of sections last, tools that change libraries append pages: so few bytes were a seal.
    return f"behind its sections lie {size - end} bytes, which are no seal" if 0 < size - end < _REMAINS else None
