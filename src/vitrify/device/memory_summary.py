"""What the memory of a GPU is used for, as text: `paddle.device.cuda.memory_summary`."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.size_text import size_text
from .cuda_memory import CudaMemory
from .usage import Usage


def summary_of(name: str, memory: CudaMemory) -> str:
    """The device's memory, what is taken of it, and the live arrays by size."""
    free, total = memory.free_and_all
    head = f"{name}: {size_text(total)}, {size_text(total - free)} of it in use by all processes"
    return "\n".join([head, *_usage_lines(memory.usage), *_size_lines(memory.sizes)])


def _usage_lines(usage: Usage) -> list[str]:
    rows = [("", "now", "peak", "in all")]
    for name, gauge in (("arrays take", usage.allocated), ("the pool holds", usage.reserved)):
        rows.append((name, size_text(gauge.now), size_text(gauge.peak), size_text(gauge.total)))
    arrays = usage.arrays
    rows.append(("number of arrays", str(arrays.now), str(arrays.peak), str(arrays.total)))
    kept = usage.reserved.now - usage.allocated.now
    share = kept / usage.reserved.now if usage.reserved.now else 0.0
    return [
        *(f"  {name:16} {now:>12} {peak:>12} {total:>12}" for name, now, peak, total in rows),
        f"  kept for later arrays: {size_text(kept)}, {share:.0%} of what the pool holds",
    ]


def _size_lines(sizes: Mapping[int, int]) -> list[str]:
    """Live arrays by powers of two, in bytes."""
    classes: dict[int, tuple[int, int]] = {}
    for size, number in sizes.items():
        limit = 1 << (size - 1).bit_length()
        arrays, taken = classes.get(limit, (0, 0))
        classes[limit] = arrays + number, taken + number * size
    lines = [f"  {'up to ' + size_text(k):16} {n:>12} {size_text(b):>12}" for k, (n, b) in sorted(classes.items())]
    return [f"  {'arrays':16} {'number':>12} {'they take':>12}", *lines] if lines else []
