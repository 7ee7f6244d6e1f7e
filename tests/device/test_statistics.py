"""What arrays take of a device's memory, by Paddle's functions: the host while it is counted, GPUs by CuPy's pool."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import vitrify as paddle
from tests.device.fake_pool import FakeCupy
from vitrify.core.errors import ArgumentError
from vitrify.device import cuda_memory

MEGABYTE = 1 << 20


@pytest.fixture
def library(monkeypatch):
    """A CuPy that is none."""
    made = FakeCupy()
    monkeypatch.setattr(cuda_memory, "require", lambda *_: made)
    return made


def test_the_host_is_counted_inside_the_block_only():
    with pytest.raises(ArgumentError, match="not counted now"):
        paddle.device.memory_allocated("cpu")
    with paddle.device.count_host_memory():
        before = paddle.device.memory_allocated()
        x = paddle.zeros([512, 512])
        assert MEGABYTE <= paddle.device.memory_allocated() - before < 1.1 * MEGABYTE
        y = x + 1
        del x, y
        assert paddle.device.memory_allocated(paddle.CPUPlace()) - before < 0.1 * MEGABYTE
        assert paddle.device.max_memory_allocated("cpu") - before > 2 * MEGABYTE
        paddle.device.reset_peak_memory_stats()
        assert paddle.device.max_memory_allocated() - before < 0.1 * MEGABYTE
        assert paddle.device.memory_stats()["allocated_bytes.peak"] <= paddle.device.max_memory_reserved()
    with pytest.raises(ArgumentError, match="count_host_memory"):
        paddle.device.max_memory_allocated()


def test_blocks_nest():
    with paddle.device.count_host_memory():
        with paddle.device.count_host_memory():
            pass
        assert paddle.device.memory_allocated("cpu") >= 0


def test_a_gpu_is_counted(library):
    assert paddle.device.memory_allocated("gpu:0") == 0
    first, second = library.alloc(1000), library.alloc(3000)
    assert library.alloc(0).ptr == 0
    assert paddle.device.memory_allocated("gpu:0") == 1024 + 3072
    assert paddle.device.memory_stats("gpu")["arrays.current"] == 2
    del first
    gc.collect()
    assert paddle.device.cuda.memory_allocated(0) == 3072
    assert paddle.device.cuda.max_memory_allocated(paddle.CUDAPlace(0)) == 4096
    paddle.device.cuda.reset_max_memory_allocated()
    assert paddle.device.max_memory_allocated(0) == 3072
    assert paddle.device.memory_reserved(0) == paddle.device.cuda.max_memory_reserved() == 4096
    assert second.mem.size == 3072


def test_arrays_made_before_anyone_asked_count_as_well(library):
    before = library.alloc(2048)
    assert paddle.device.memory_allocated("gpu:0") == paddle.device.max_memory_allocated("gpu:0") == 2048
    during = library.alloc(1024)
    del before
    assert paddle.device.memory_allocated("gpu:0") == during.mem.size == 1024
    assert paddle.device.max_memory_allocated("gpu:0") == 3072


def test_each_gpu_has_its_own(library):
    assert paddle.device.memory_stats("gpu:1")["arrays.total"] == 0
    with library.cuda.Device(1):
        held = library.alloc(512)
    assert paddle.device.memory_allocated("gpu:1") == held.mem.size == 512
    assert paddle.device.memory_allocated("gpu:0") == 0


def test_a_pool_gives_back_what_it_keeps(library):
    memory = cuda_memory.CudaMemory(0)
    held = library.alloc(512)
    dropped = library.alloc(5120)
    del dropped
    assert memory.usage.reserved.now == 5632
    memory.empty_cache()
    assert memory.usage.reserved.now == held.mem.size
    assert memory.usage.reserved.peak == 5632


def test_the_summary_of_a_gpu(library, capsys):
    paddle.device.cuda.reset_peak_memory_stats()
    held = [library.alloc(size) for size in (1000, 1000, 3 * MEGABYTE)]
    del held[0]
    paddle.device.cuda.memory_summary(0)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "gpu:0: 1.0 GiB, 3.0 MiB of it in use by all processes"
    assert [line.split() for line in lines[1:5]] == [
        ["now", "peak", "in", "all"],
        ["arrays", "take", "3.0", "MiB", "3.0", "MiB", "3.0", "MiB"],
        ["the", "pool", "holds", "3.0", "MiB", "3.0", "MiB", "3.0", "MiB"],
        ["number", "of", "arrays", "2", "3", "3"],
    ]
    assert lines[5] == "  kept for later arrays: 1.0 KiB, 0% of what the pool holds"
    assert lines[7].split() == ["up", "to", "1.0", "KiB", "1", "1.0", "KiB"]
    assert lines[8].split() == ["up", "to", "4.0", "MiB", "1", "3.0", "MiB"]
    assert paddle.device.cuda.mem_get_info(0) == ((1 << 30) - 3 * MEGABYTE - 2048, 1 << 30)
    assert paddle.device.cuda.memory_stats()["arrays.current"] == 2


def test_what_is_no_gpu_is_refused(library):
    with pytest.raises(ArgumentError, match=r"expects a GPU, such as 'gpu:0', but received 'cpu'"):
        paddle.device.cuda.memory_allocated("cpu")
    with pytest.raises(ArgumentError, match="not counted for all programs"):
        paddle.device.memory_allocated("simulated:0")


def test_emptying_the_cache_of_the_host_keeps_arrays():
    x = paddle.ones([100])
    paddle.device.empty_cache()
    paddle.device.cuda.empty_cache()
    np.testing.assert_array_equal(x.numpy(), np.ones(100, "float32"))
