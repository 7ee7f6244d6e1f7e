"""Stream-safe allocation: blocks never overlap, none is had again too early, and everything comes back."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vitrify.core.errors import InternalError, OutOfMemoryError
from vitrify.device.pool import ALIGNMENT, SEGMENT, StreamPool, VirtualMemory

STREAMS = "abc"


class Streams:
    """Streams that go on only when told to."""

    def __init__(self):
        self.queued = defaultdict(int)
        self.done = defaultdict(int)

    def record(self, stream):
        return stream, self.queued[stream]

    def passed(self, event):
        return self.done[event[0]] >= event[1]

    def synchronize(self, event):
        self.done[event[0]] = max(self.done[event[0]], event[1])


class World:
    """A pool in use, with all that streams did to memory so far."""

    def __init__(self, capacity=1 << 40):
        self.streams = Streams()
        self.source = VirtualMemory(capacity)
        self.capacity = capacity
        self.pool = StreamPool(self.streams, self.source)
        self.live = []
        self.uses = []  # (first, last, stream, position) of all accesses ever queued

    def allocate(self, size, stream):
        block = self.pool.allocate(size, stream)
        first, last = block.address, block.address + block.size
        assert block.size >= size and block.address % ALIGNMENT == 0
        for other in self.live:
            assert last <= other.address or other.address + other.size <= first
        for start, end, user, position in self.uses:
            if start < last and first < end and user != stream:
                assert self.streams.done[user] >= position, f"{user} still uses what {stream} gets"
        self.live.append(block)
        self.use(block, stream)

    def use(self, block, stream):
        self.streams.queued[stream] += 1
        self.uses.append((block.address, block.address + block.size, stream, self.streams.queued[stream]))
        self.pool.use(block, stream)

    def free(self, block):
        self.live.remove(block)
        self.pool.free(block)

    def step(self, action, stream, size):
        if action == "allocate":
            self.allocate(size, stream)
        elif action == "go on":
            self.streams.done[stream] = min(self.streams.done[stream] + 1 + size % 3, self.streams.queued[stream])
        elif action == "empty":
            self.pool.empty_cache()
        elif self.live:
            block = self.live[size % len(self.live)]
            self.use(block, stream) if action == "use" else self.free(block)


ACTIONS = st.sampled_from(["allocate"] * 4 + ["use"] * 3 + ["free"] * 3 + ["go on"] * 2 + ["empty"])
SIZES = st.one_of(st.integers(0, 5000), st.integers(0, 3 * SEGMENT))


@given(st.lists(st.tuples(ACTIONS, st.sampled_from(STREAMS), SIZES), max_size=60))
def test_any_use_is_safe_and_everything_comes_back(actions):
    world = World()
    for step in actions:
        world.step(*step)
        assert world.pool.usage.allocated.now == sum(block.size for block in world.live)
    for block in list(world.live):
        world.free(block)
    world.pool.synchronize()
    assert all(block.is_segment for block in world.pool.free_blocks())  # neighbours have grown together
    left = world.source.left
    assert world.pool.empty_cache() == world.capacity - left
    assert world.source.left == world.capacity
    assert world.pool.usage.reserved.now == world.pool.usage.allocated.now == world.pool.usage.arrays.now == 0


def test_the_own_stream_has_a_block_again_at_once():
    world = World()
    world.allocate(1000, "a")
    address = world.live[0].address
    world.free(world.live[0])
    world.allocate(900, "a")
    assert world.live[0].address == address
    assert world.pool.usage.reserved.now == SEGMENT


def test_what_another_stream_used_waits_for_it():
    world = World()
    world.allocate(SEGMENT, "a")
    address = world.live[0].address
    world.use(world.live[0], "b")
    world.free(world.live[0])
    world.allocate(SEGMENT, "a")
    assert world.live[0].address != address
    world.streams.done["b"] = 1
    world.allocate(SEGMENT, "a")
    assert world.live[1].address == address


def test_the_smallest_block_that_fits_is_taken():
    world = World()
    for size in (4096, 512, 1024, 512, 8192):
        world.allocate(size, "a")
    kept = world.live[1], world.live[3]
    small = world.live[2].address
    for block in [b for b in world.live if b not in kept]:
        world.free(block)
    world.allocate(700, "a")
    assert world.live[-1].address == small


def test_memory_that_is_kept_is_given_back_before_there_is_none():
    world = World(capacity=4 * SEGMENT)
    world.allocate(3 * SEGMENT, "a")
    world.use(world.live[0], "b")
    world.free(world.live[0])
    world.allocate(3 * SEGMENT, "c")  # waits for b, and takes what a kept
    with pytest.raises(OutOfMemoryError, match="no memory for 4194304 bytes more: arrays use 6291456 bytes"):
        world.allocate(2 * SEGMENT, "a")
    assert world.pool.usage.allocated.now == 3 * SEGMENT


def test_a_block_is_freed_once():
    world = World()
    block = world.pool.allocate(1, "a")
    world.pool.free(block)
    with pytest.raises(InternalError, match="is freed twice"):
        world.pool.free(block)


def test_streams_are_counted_apart():
    world = World()
    world.allocate(1000, "a")
    world.allocate(3000, "b")
    world.free(world.live[0])
    assert world.pool.by_stream["a"].allocated.peak == 1024
    assert world.pool.by_stream["b"].as_dict() == {
        "allocated_bytes.current": 3072, "allocated_bytes.peak": 3072, "allocated_bytes.total": 3072,
        "reserved_bytes.current": SEGMENT, "reserved_bytes.peak": SEGMENT, "reserved_bytes.total": SEGMENT,
        "arrays.current": 1, "arrays.peak": 1, "arrays.total": 1,
    }  # fmt: skip
    assert world.pool.usage.allocated.peak == 4096
    world.pool.reset_peaks()
    assert world.pool.usage.allocated.peak == world.pool.usage.allocated.now == 3072
