"""As much of CuPy as counting its memory needs: a pool whose memory is numbers."""

from __future__ import annotations

from types import SimpleNamespace


class Memory:
    def __init__(self, pool, device, size):
        self.pool, self.device, self.size = pool, device, size
        pool.used[device] += size
        pool.total[device] = max(pool.total[device], pool.used[device])

    def __del__(self):
        self.pool.used[self.device] -= self.size


class Pool:
    def __init__(self, library):
        self.library, self.used, self.total, self.next = library, [0, 0], [0, 0], 512

    def malloc(self, size):
        device = self.library.current
        if size == 0:
            return SimpleNamespace(ptr=0, mem=None, device_id=device)
        self.next += 512
        return SimpleNamespace(ptr=self.next, mem=Memory(self, device, -(-size // 512) * 512), device_id=device)

    def used_bytes(self):
        return self.used[self.library.current]

    def total_bytes(self):
        return self.total[self.library.current]

    def free_all_blocks(self):
        device = self.library.current
        self.total[device] = self.used[device]


class Device:
    def __init__(self, library, index):
        self.library, self.index = library, index

    def __enter__(self):
        self.outer, self.library.current = self.library.current, self.index

    def __exit__(self, *_):
        self.library.current = self.outer

    @property
    def mem_info(self):
        return (1 << 30) - self.library.pool.total[self.index], 1 << 30


class FakeCupy:
    """`alloc(size)` is what making an array does; dropping what it gives is dropping the array."""

    def __init__(self):
        self.current = 0
        self.pool = Pool(self)
        self.alloc = self.pool.malloc
        self.cuda = SimpleNamespace(
            Device=lambda index: Device(self, index), set_allocator=lambda made: setattr(self, "alloc", made),
            UnownedMemory=lambda ptr, size, owner, device_id: SimpleNamespace(ptr=ptr, size=size, owner=owner),
            MemoryPointer=lambda mem, offset: SimpleNamespace(mem=mem, ptr=mem.ptr + offset),
        )  # fmt: skip

    def get_default_memory_pool(self):
        return self.pool
