"""How much memory arrays on GPUs take: CuPy's pool, with a count of what is in use and was at most."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from threading import RLock
from typing import Any

from ..core.lazy import require
from .usage import Usage


class _Counted:
    """The pool's memory of one array; CuPy drops it with the array."""

    __slots__ = ("_counter", "_device", "_pointer", "_size")

    def __init__(self, counter: CountingAllocator, pointer: Any) -> None:
        self._counter = counter
        self._pointer = pointer
        self._device = int(pointer.device_id)
        self._size = int(pointer.mem.size)
        counter.count(self._device, self._size)

    def __del__(self) -> None:
        self._counter.count(self._device, -self._size)


class CountingAllocator:
    """CuPy's allocator: memory from its pool, counted for each device while an array holds it."""

    def __init__(self, xp: Any) -> None:
        self.pool = xp.get_default_memory_pool()
        self.usage: dict[int, Usage] = defaultdict(Usage)
        self.sizes: dict[int, Counter[int]] = defaultdict(Counter)
        """How many live arrays of each size a device has."""
        self._cuda = xp.cuda
        self._lock = RLock()  # an array may go, and be counted, while another one is

    def __call__(self, size: int) -> Any:
        """Memory for an array on the current device."""
        pointer = self.pool.malloc(size)
        if not pointer.ptr:
            return pointer
        counted = _Counted(self, pointer)
        held = self._cuda.UnownedMemory(pointer.ptr, pointer.mem.size, counted, pointer.device_id)
        return self._cuda.MemoryPointer(held, 0)

    def count(self, device: int, size: int) -> None:
        """Note that an array of so many bytes was made, or with a negative size that one is gone."""
        with self._lock:
            usage = self.usage[device]
            usage.allocated.add(size)
            usage.arrays.add(1 if size > 0 else -1)
            self.sizes[device][abs(size)] += 1 if size > 0 else -1
            if size > 0:
                self._note_reserved(usage)

    def note(self, device: int) -> None:
        """Take over what the pool of the current device, which is this one, says: it knows earlier arrays as well."""
        with self._lock:
            usage = self.usage[device]
            usage.allocated.add(int(self.pool.used_bytes()) - usage.allocated.now)
            self._note_reserved(usage)

    def _note_reserved(self, usage: Usage) -> None:
        usage.reserved.add(int(self.pool.total_bytes()) - usage.reserved.now)


@cache
def counting(xp: Any) -> CountingAllocator:
    """The allocator that CuPy uses from the first call on: who never asks pays nothing."""
    made = CountingAllocator(xp)
    xp.cuda.set_allocator(made)
    return made


def cupy() -> Any:
    """CuPy; raises MissingPackageError naming the extra to install."""
    return require("cupy", "cuda12", "arrays on a GPU")


class CudaMemory:
    """The memory of GPU number `index`."""

    def __init__(self, index: int) -> None:
        xp = cupy()
        self._device = xp.cuda.Device(index)
        self._counter = counting(xp)
        self._index = index

    @property
    def usage(self) -> Usage:
        """What is in use now and was at most."""
        with self._device:
            self._counter.note(self._index)
        return self._counter.usage[self._index]

    @property
    def free_and_all(self) -> tuple[int, int]:
        """The bytes of the GPU that nobody has, and all that it has."""
        free, total = self._device.mem_info
        return int(free), int(total)

    @property
    def sizes(self) -> dict[int, int]:
        """How many live arrays there are of each size in bytes, of those that are counted."""
        return dict(+self._counter.sizes[self._index])

    def reset_peaks(self) -> None:
        """Let the peaks be what is in use now."""
        self.usage.reset_peaks()

    def empty_cache(self) -> None:
        """Give back what CuPy's pool keeps for later arrays."""
        with self._device:
            self._counter.pool.free_all_blocks()
            self._counter.note(self._index)
