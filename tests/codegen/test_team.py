"""Threads that native code shares work with: every part runs once, whoever calls, in forked processes as well."""

import ctypes
import os
import threading
import time

import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_pointwise import guarded
from tests.codegen.test_whole import check, numbers, program_of
from vitrify.codegen import whole
from vitrify.codegen.native import loaded
from vitrify.codegen.sharing import bounds
from vitrify.codegen.team import Team, team
from vitrify.codegen.writer import Writer
from vitrify.core.config import flags_guard

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="members sleep in a futex of Linux")


@pytest.fixture(autouse=True)
def two_threads():
    with flags_guard({"num_threads": 2}):
        if team() is None:
            pytest.skip("native code has one thread on this system")
        yield


def counting():
    """A function that counts how often each part runs, and one that shares it again and again."""
    work = Writer("void", "work", ("ptr %context", "i64 %part", "i64 %member"))
    work.value(f"atomicrmw add ptr {work.at('%context', '%part')}, i64 1 seq_cst")
    work.line("ret void")
    many = Writer("void", "many", ("ptr %share", "ptr %team", "ptr %context", "i64 %parts", "i64 %times"))
    with many.loop("%times"):
        many.call("void", "%share", "ptr %team", "ptr @work", "ptr %context", "i64 %parts")
    many.line("ret void")
    address = loaded(f"{work.text}\n{many.text}", ("many",)).addresses["many"]
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2)(address)


def shared(found: Team, many, parts, times=1):
    counts = np.zeros(1000, np.int64)
    many(found.share, found.address, counts.ctypes.data, parts, times)
    return counts


@pytest.mark.parametrize("parts", [0, 1, 2, 3, 7, 64, 1000])
def test_each_part_runs_once(parts):
    counts = shared(team(), counting(), parts, 50)
    assert (counts[:parts] == 50).all() and not counts[parts:].any()


def test_members_sleep_and_wake():
    found, many = team(), counting()
    for _ in range(20):
        assert (shared(found, many, 5)[:5] == 1).all()
        time.sleep(2e-3)
    before = time.process_time()
    time.sleep(0.2)
    assert time.process_time() - before < 0.1


def test_several_callers_at_a_time():
    found, many = team(), counting()
    counts = []
    callers = [threading.Thread(target=lambda: counts.append(shared(found, many, 5, 200))) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(counts) == 4 and all((c[:5] == 200).all() for c in counts)


def test_a_caller_that_waited_long_goes_on_by_itself():
    """Who loses its processor in the middle of a part holds its caller up; the next calls do without, for a while."""
    found = Team(2)
    found.start()
    work = Writer("void", "work", ("ptr %context", "i64 %part", "i64 %member"))
    work.store(work.add("%member", 1), "%context", "%part")
    with work.when(work.value("icmp eq i64 %member, 1")):
        work.value(f"call i32 {work.load('%context', 8, 'ptr')}(i32 20000)")
    work.line("ret void")
    once = Writer("void", "once", ("ptr %share", "ptr %team", "ptr %context", "i64 %parts"))
    once.call("void", "%share", "ptr %team", "ptr @work", "ptr %context", "i64 %parts")
    once.line("ret void")
    address = loaded(f"{work.text}\n{once.text}", ("once",)).addresses["once"]
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64)(address)
    context = np.zeros(9, np.int64)
    context[8] = ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p).value

    def who():
        call(found.share, found.address, context.ctypes.data, 8)
        return set(context[:8] - 1)

    held_up = next(i for i in range(10_000) if 1 in who())
    assert [who() for _ in range(64)] == [{0}] * 64, held_up
    for _ in range(2):  # and tries again later, each time
        time.sleep(0.2)
        assert any(1 in who() for _ in range(10_000))


def test_a_forked_process_has_a_team_of_its_own():
    found, many = team(), counting()
    shared(found, many, 5)
    child = os.fork()
    if not child:
        is_right = all((shared(found, many, 9, 10)[:9] == 10).all() for _ in range(2) if team() is found)
        os._exit(0 if is_right else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("count", [0, 1, 5, 64, 65, 1000])
@pytest.mark.parametrize("grain", [1, 64])
def test_bounds(count, grain):
    for parts in (1, 2, 3, 7):
        found = bounds(count, parts, grain)
        assert found[0][0] == 0 and found[-1][1] == count and len(found) <= parts
        assert all(a[1] == b[0] and b[0] % grain == 0 for a, b in zip(found, found[1:]))


def test_large_steps_in_parts(monkeypatch):
    monkeypatch.setattr(whole, "LARGE_STEP", 1 << 30)

    def steps(x, y, z):
        return paddle.tanh(x * y + z), (x + y).sum(1), paddle.transpose(x, [1, 0]) * 2, (x * 1).max(0)

    for rows, columns in ((401, 500), (3, 70001), (70001, 3), (1, 200003)):
        check(steps, numbers(rows, columns), numbers(rows, columns), numbers(1, columns), rtol=2e-5)


@pytest.mark.parametrize("sizes", [(128, 257, 300), (257, 64, 211), (31, 1009, 97), (1, 2003, 1031), (2003, 1, 1031)])
def test_products_in_parts(sizes):
    m, n, k = sizes
    x, y = numbers(m, k), numbers(k, n)
    for given in ((x, y), (np.asfortranarray(x), y), (x, np.asfortranarray(y))):
        (found,) = program_of(lambda x, y: paddle.matmul(x, y) * 1, *[(a.shape, "float32") for a in given])(given)
        np.testing.assert_allclose(found, x.astype("float64") @ y, rtol=2e-5, atol=5e-4)
    stack = numbers(6, 40, 200), numbers(6, 200, 50)
    (found,) = program_of(lambda x, y: paddle.matmul(x, y) * 1, *[(a.shape, "float32") for a in stack])(stack)
    np.testing.assert_allclose(found, stack[0] @ stack[1], rtol=2e-5, atol=5e-4)


def test_nothing_beside_the_arrays_is_touched(monkeypatch):
    monkeypatch.setattr(whole, "LARGE_STEP", 1 << 30)
    (x, kept_x), (y, kept_y) = guarded(301 * 500, "float32"), guarded(500 * 203, "float32")
    x[:], y[:] = numbers(301 * 500), numbers(500 * 203)
    given = [x.reshape(301, 500), y.reshape(500, 203)]
    program = program_of(lambda x, y: (paddle.matmul(x, y) * 1, x * 2), *[(a.shape, "float32") for a in given])
    found = program(given)
    np.testing.assert_allclose(found[0], given[0] @ given[1], rtol=2e-5, atol=5e-4)
    assert np.array_equal(found[1], given[0] * 2)
    del kept_x, kept_y
