"""One file with a JSON header and raw blocks of bytes, every byte of it checked before use (D14).

    offset  size  content
    0       8     magic: which kind of file this is
    8       4     version of the layout, little-endian as all numbers here
    12      4     CRC-32 of bytes 16 to 32 and of the header
    16      8     length of the header in bytes
    24      8     length of the whole file in bytes
    32      ...   header: UTF-8 JSON {"content": ..., "blocks": [[length, CRC-32], ...]}
            ...   the blocks in that order, each starting at a multiple of 64, zeros in between

A block's place follows from the lengths before it, so a header cannot make two blocks overlap or point outside.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from .atomic_file import atomic_file
from .errors import FileFormatError
from .mapped_file import mapped_file

ALIGN = 64
_HEAD = struct.Struct("<8sIIQQ")
_LENGTHS = struct.Struct("<QQ")
Source = str | os.PathLike[str] | BinaryIO
Bytes = bytes | bytearray | memoryview


@dataclass(frozen=True)
class Kind:
    """A kind of file: its eight magic bytes, the newest version that this package writes, and what to call it."""

    magic: bytes
    version: int
    what: str


@dataclass(frozen=True)
class Container:
    """A file that passed all checks: the header's content, and the blocks as read-only views.

    `digest` (hexadecimal SHA-256 of the header, which holds every block's checksum) names this exact content.
    """

    content: Any
    blocks: tuple[memoryview, ...]
    digest: str


def _aligned(offset: int) -> int:
    return -(-offset // ALIGN) * ALIGN


def _offsets(start: int, lengths: Sequence[int]) -> tuple[list[int], int]:
    """Where each block starts, and where the file ends."""
    offsets = []
    for length in lengths:
        start = _aligned(start)
        offsets.append(start)
        start += length
    return offsets, start


# --- writing ---------------------------------------------------------------------------------------------------------


def write_container(target: Source, kind: Kind, content: Any, blocks: Sequence[Bytes]) -> str:
    """Write one file (atomically, when `target` is a path) and return its digest.

    `content` is JSON data; `blocks` are C-contiguous buffers of bytes. Raises OSError.
    """
    views = [memoryview(block) for block in blocks]
    table = [[view.nbytes, zlib.crc32(view)] for view in views]
    header = json.dumps({"content": content, "blocks": table}, separators=(",", ":"), allow_nan=False).encode()
    if isinstance(target, (str, os.PathLike)):
        with atomic_file(target) as out:
            _write(out, kind, header, views)
    else:
        _write(target, kind, header, views)
    return hashlib.sha256(header).hexdigest()


def _write(out: BinaryIO, kind: Kind, header: bytes, views: Sequence[memoryview]) -> None:
    offsets, end = _offsets(_HEAD.size + len(header), [view.nbytes for view in views])
    lengths = _LENGTHS.pack(len(header), end)
    out.write(_HEAD.pack(kind.magic, kind.version, zlib.crc32(header, zlib.crc32(lengths)), len(header), end))
    out.write(header)
    at = _HEAD.size + len(header)
    for offset, view in zip(offsets, views):
        out.write(bytes(offset - at))
        out.write(view)
        at = offset + view.nbytes


# --- reading ---------------------------------------------------------------------------------------------------------


def read_container(source: Source, kind: Kind, *, private: bool = False) -> Container:
    """The checked content of a file or of a binary stream's rest.

    Nothing is allocated for the blocks: a path is mapped into memory and `blocks` are views of that mapping, read-only
    unless `private`: then what is written into them stays in this process, and copies just the pages written.
    Raises FileFormatError when the file is cut short, changed, or of another kind or a newer version.
    """
    name, data = _open(source, private)
    return _Reader(kind, name, data).read()


def starts_with(source: Source, kind: Kind) -> bool:
    """Whether the file, or the stream from where it stands, claims to be of that kind."""
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            return file.read(len(kind.magic)) == kind.magic
    start = source.tell()
    found = source.read(len(kind.magic))
    source.seek(start)
    return found == kind.magic


def _open(source: Source, private: bool) -> tuple[str, memoryview]:
    if not isinstance(source, (str, os.PathLike)):
        return "the stream", memoryview(source.read())
    return str(source), mapped_file(source, private)


@dataclass(frozen=True)
class _Reader:
    """The checks, in the order in which the next one may rely on the last."""

    kind: Kind
    name: str
    data: memoryview

    def read(self) -> Container:
        header = self._header()
        content, table = self._parse(header)
        start = _HEAD.size + len(header)
        offsets, end = _offsets(start, [length for length, _ in table])
        if end != self.data.nbytes:
            raise self.error(f"its blocks end at byte {end}, the file at {self.data.nbytes}")
        blocks = tuple(self._blocks(start, offsets, table))
        return Container(content, blocks, hashlib.sha256(header).hexdigest())

    def error(self, reason: str) -> FileFormatError:
        return FileFormatError(
            f"{self.name} is not a usable {self.kind.what}: {reason}",
            hint="copy it again from where it was made, or save it again",
        )

    def _header(self) -> memoryview:
        if self.data.nbytes < _HEAD.size:
            raise self.error(f"it has {self.data.nbytes} bytes, fewer than any such file")
        magic, version, crc, length, total = _HEAD.unpack_from(self.data)
        if magic != self.kind.magic:
            raise self.error(f"it starts with {magic!r}, expected {self.kind.magic!r}")
        if not 1 <= version <= self.kind.version:
            raise self.error(f"it has version {version}, this vitrify reads 1 to {self.kind.version}")
        if total != self.data.nbytes:
            raise self.error(f"it was written with {total} bytes and has {self.data.nbytes}")
        header = self.data[_HEAD.size : _HEAD.size + length]
        if header.nbytes != length or zlib.crc32(header, zlib.crc32(self.data[16:32])) != crc:
            raise self.error("its header was changed or cut (checksum)")
        return header

    def _parse(self, header: memoryview) -> tuple[Any, list[tuple[int, int]]]:
        try:
            parsed = json.loads(bytes(header))
        except (ValueError, RecursionError) as err:
            raise self.error(f"its header is not JSON ({type(err).__name__})") from None
        if not isinstance(parsed, dict) or set(parsed) != {"content", "blocks"} or not _is_table(parsed["blocks"]):
            raise self.error("its header has no list of blocks")
        return parsed["content"], [(length, crc) for length, crc in parsed["blocks"]]

    def _blocks(self, at: int, offsets: Sequence[int], table: Sequence[tuple[int, int]]) -> Iterator[memoryview]:
        for number, (offset, (length, crc)) in enumerate(zip(offsets, table)):
            block = self.data[offset : offset + length]
            if zlib.crc32(block) != crc or any(self.data[at:offset]):
                raise self.error(f"block {number} was changed (checksum)")
            yield block
            at = offset + length


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(row, list) and len(row) == 2 and all(type(n) is int and n >= 0 for n in row) for row in value
    )
