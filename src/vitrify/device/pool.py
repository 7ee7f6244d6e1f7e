"""Memory for arrays on streams: blocks belong to a stream, which may have one again as soon as it is freed.

A stream does what it is given in order, so whatever it writes into a freed block comes behind all that it did there
before. A block that other streams used as well is free only when those have passed that: its `free` records an event on
each of them. Blocks are cut from segments that the device reserves, best fit first, and grow together again when
neighbours are free; a segment that is free as a whole can be given back.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from ..core.errors import InternalError, OutOfMemoryError
from .late_frees import LateFrees, Timeline
from .usage import Usage

ALIGNMENT = 512
SEGMENT = 1 << 21
"""Small arrays share segments of this many bytes; sizes of segments are multiples of it."""


class Source(Protocol):
    """Where segments come from."""

    def reserve(self, size: int) -> int:
        """The address of so many bytes; raises MemoryError if there are none."""

    def release(self, address: int, size: int) -> None:
        """Take bytes back that were reserved as one."""


class VirtualMemory:
    """Addresses without memory behind them, up to a capacity; none is given out twice."""

    def __init__(self, capacity: int = 1 << 40) -> None:
        self.left = capacity
        self._next = SEGMENT

    def reserve(self, size: int) -> int:
        """Addresses that were never used before; raises MemoryError when the capacity is exceeded."""
        if size > self.left:
            raise MemoryError
        address, self._next, self.left = self._next, self._next + size, self.left - size
        return address

    def release(self, address: int, size: int) -> None:
        """Let so much be reserved elsewhere."""
        self.left += size


@dataclass(eq=False)
class Block:
    """A piece of a segment.

    `taken`: not to be had; `freed`: given back, which other streams that use it may have yet to pass. `before` and
    `after` are its neighbours in the segment, `users` the other streams that used it.
    """

    address: int
    size: int
    stream: Hashable
    taken: bool = False
    freed: bool = False
    before: Block | None = None
    after: Block | None = None
    users: set[Hashable] = field(default_factory=set)

    @property
    def is_segment(self) -> bool:
        """Whether it is a segment as a whole."""
        return self.before is None and self.after is None


class _FreeList:
    """The free blocks of one stream, by size and address."""

    def __init__(self) -> None:
        self.keys: list[tuple[int, int]] = []
        self.blocks: dict[tuple[int, int], Block] = {}

    def add(self, block: Block) -> None:
        key = (block.size, block.address)
        insort(self.keys, key)
        self.blocks[key] = block

    def remove(self, block: Block) -> None:
        key = (block.size, block.address)
        del self.keys[bisect_left(self.keys, key)], self.blocks[key]

    def take(self, size: int) -> Block | None:
        """The smallest block that has this size, the first of those; it is no longer in the list."""
        at = bisect_left(self.keys, (size, 0))
        return self.blocks.pop(self.keys.pop(at)) if at < len(self.keys) else None


class StreamPool:
    """The allocator of one device. Not for several threads at once.

    >>> from vitrify.device.simulated import SimulatedDevice
    >>> pool = StreamPool(SimulatedDevice(seed=0), VirtualMemory())
    >>> block = pool.allocate(1000, "a")
    >>> pool.use(block, "b")
    >>> pool.free(block)  # "a" gets it again when "b" has done what it was given so far
    >>> pool.usage.allocated
    Gauge(now=0, peak=1024, total=1024)
    """

    def __init__(self, timeline: Timeline, source: Source) -> None:
        self.usage = Usage()
        self.by_stream: dict[Hashable, Usage] = defaultdict(Usage)
        self._source = source
        self._free: dict[Hashable, _FreeList] = defaultdict(_FreeList)
        self._late: LateFrees[Block] = LateFrees(timeline, self._reclaim)

    def allocate(self, size: int, stream: Hashable) -> Block:
        """A block of at least `size` bytes for arrays made on `stream`; raises OutOfMemoryError."""
        self._late.poll()
        wanted = _rounded(max(size, 1), ALIGNMENT)
        block = self._free[stream].take(wanted) or self._reserve(wanted, stream)
        self._split(block, wanted)
        block.taken, block.freed = True, False
        for usage in (self.usage, self.by_stream[stream]):
            usage.allocated.add(block.size)
            usage.arrays.add(1)
        return block

    def use(self, block: Block, stream: Hashable) -> None:
        """Note that `stream` uses a live block."""
        if stream != block.stream:
            block.users.add(stream)

    def free(self, block: Block) -> None:
        """Give a block back: its own stream may have it at once, or when the others that used it have passed that."""
        if block.freed or not block.taken:
            raise InternalError(f"the block at {block.address:#x} is freed twice")
        block.freed = True
        for usage in (self.usage, self.by_stream[block.stream]):
            usage.allocated.add(-block.size)
            usage.arrays.add(-1)
        users, block.users = block.users, set()
        self._late.add(block, users)

    def empty_cache(self) -> int:
        """Give all segments back that no array uses; returns how many bytes those were."""
        self._late.poll()
        found = 0
        for blocks in self._free.values():
            for block in [b for b in blocks.blocks.values() if b.is_segment]:
                blocks.remove(block)
                self._source.release(block.address, block.size)
                self._count_reserved(block.stream, -block.size)
                found += block.size
        return found

    def synchronize(self) -> None:
        """Wait until all that was freed is free."""
        self._late.drain()

    def reset_peaks(self) -> None:
        """Let all peaks be what is in use now."""
        for usage in (self.usage, *self.by_stream.values()):
            usage.reset_peaks()

    def free_blocks(self) -> Iterator[Block]:
        """All blocks that can be had again."""
        for blocks in self._free.values():
            yield from blocks.blocks.values()

    def _reclaim(self, block: Block) -> None:
        block.taken = False
        for other in (block.before, block.after):
            if other is not None and not other.taken:
                self._free[block.stream].remove(other)
                block = _joined(*sorted((block, other), key=lambda b: b.address))
        self._free[block.stream].add(block)

    def _split(self, block: Block, size: int) -> None:
        """Cut off what is more than `size`."""
        if block.size == size:
            return
        rest = Block(block.address + size, block.size - size, block.stream, before=block, after=block.after)
        if block.after is not None:
            block.after.before = rest
        block.size, block.after = size, rest
        self._free[block.stream].add(rest)

    def _reserve(self, size: int, stream: Hashable) -> Block:
        """A new segment; what is kept goes back first if there is no memory for it."""
        size = _rounded(size, SEGMENT)
        for make_room in (self.empty_cache, self._empty_all):
            try:
                return self._segment(size, stream)
            except MemoryError:
                make_room()
        try:
            return self._segment(size, stream)
        except MemoryError:
            raise OutOfMemoryError(
                f"no memory for {size} bytes more: arrays use {self.usage.allocated.now} bytes, "
                f"reserved are {self.usage.reserved.now}",
                hint="free tensors, or use a smaller batch",
            ) from None

    def _empty_all(self) -> None:
        self.synchronize()
        self.empty_cache()

    def _segment(self, size: int, stream: Hashable) -> Block:
        block = Block(self._source.reserve(size), size, stream)
        self._count_reserved(stream, size)
        return block

    def _count_reserved(self, stream: Hashable, size: int) -> None:
        self.usage.reserved.add(size)
        self.by_stream[stream].reserved.add(size)


def _rounded(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def _joined(first: Block, second: Block) -> Block:
    """`first`, grown by its neighbour."""
    first.size += second.size
    first.after = second.after
    if second.after is not None:
        second.after.before = first
    return first
