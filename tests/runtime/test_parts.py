"""Kernels cut into parts and shared by threads."""

import threading

import numpy as np
import pytest

from tests.codegen.test_pointwise import block_of, numbers
from vitrify.core.config import flags_guard
from vitrify.runtime import fused
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions
from vitrify.runtime.parts import cut, share

SHAPES = [((40,),), ((3, 50), (50,)), ((100, 1), (1, 7)), ((2, 3, 64), (3, 1)), ((1, 1), (1,))]


@pytest.mark.parametrize("shapes", SHAPES)
def test_parts_cover_each_element_once(shapes):
    arrays = [numbers(*s, seed=i) for i, s in enumerate(shapes)]
    shape = np.broadcast_shapes(*shapes)
    out, seen = np.empty(shape, "float32"), np.zeros(shape, int)
    for inputs, (result, marks) in cut(arrays, [out, seen], 3):
        np.copyto(result, sum(inputs))
        marks += 1
    assert np.array_equal(out, sum(arrays)) and (seen == 1).all()


def test_work_is_done_once_each():
    done = []
    share(done.append, 37, 3)
    assert sorted(done) == list(range(37))


def test_what_a_thread_raises_is_raised_here():
    def work(number):
        if number == 5:
            raise ValueError("five")

    with pytest.raises(ValueError, match="five"):
        share(work, 16, 3)


def test_nobody_waits_for_threads_that_are_busy():
    """Each thread of the pool shares work of its own, so that there is no other to help."""
    done, ends = [], threading.Barrier(4)

    def outer(number):
        share(lambda inner: done.append((number, inner)), 8, 4)

    threads = [threading.Thread(target=lambda i=i: (ends.wait(), outer(i))) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    share(outer, 4, 4)
    assert len(done) == 64


@pytest.mark.parametrize("layout", [lambda a: a, lambda a: a.T])
def test_several_threads_give_the_same_bits(monkeypatch, layout):
    monkeypatch.setattr(fused, "_SHARED", 1)

    def fn(x, y):
        z = x * y + x.tanh()
        return z, z > 0

    arrays = [layout(numbers(65, 65)), numbers(65)]
    found = []
    for threads in (1, 3):
        core = lower(block_of(fn, ((-1, -1), "float32"), ([-1], "float32")), options=ExecutionOptions(native="always"))
        with flags_guard({"num_threads": threads, "cache_mb": 0}):
            found.append(core(*arrays))
    assert all(np.array_equal(a, b) for a, b in zip(*found))
