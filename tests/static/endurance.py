"""Print by how many bytes a process of its own grows over 100,000 training steps: `endurance.py kernels|native`.

What other tests leave to threads, caches and the allocator would be counted as well where they ran before.
"""

import gc
import os
import sys
from pathlib import Path

import vitrify as paddle
from tests.static.regression import batch, regression
from vitrify import static
from vitrify.core.config import set_flags


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def growth(native_after_ms: float) -> int:
    set_flags({"native_after_ms": native_after_ms})
    exe = static.Executor(paddle.CPUPlace())
    main, startup, _, loss, _ = regression()
    exe.run(startup)
    data = batch(0)

    def steps(count: int) -> int:
        for _ in range(count):
            exe.run(main, data, [loss])
        gc.collect()
        return resident_bytes()

    return -steps(2000) + steps(100_000)


if __name__ == "__main__":
    print(growth({"kernels": 1e9, "native": 0}[sys.argv[1]]))
