"""Settings: one process-wide value, and scopes that override it."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from vitrify.core.setting import Setting


def test_a_scope_overrides_and_restores():
    width = Setting("width", 80)
    with width.scope(40) as value:
        assert value == width.get() == 40
    assert width.get() == 80


def test_set_inside_a_scope_ends_with_it():
    width = Setting("width", 80)
    width.set(100)
    with width.scope(40):
        width.set(20)
        assert width.get() == 20
    assert width.get() == 100


def test_a_scope_ends_when_its_block_raises():
    width = Setting("width", 80)
    with pytest.raises(ZeroDivisionError), width.scope(40), width.scope(20):
        raise ZeroDivisionError
    assert width.get() == 80


def test_none_is_an_ordinary_value():
    name = Setting("name", "x")
    with name.scope(None):
        assert name.get() is None


def test_eight_threads_each_see_their_own_scope():
    width, together = Setting("width", 0), Barrier(8)

    def work(mine):
        with width.scope(mine):
            for _ in range(50):
                together.wait()
                if width.get() != mine:
                    return False
        return width.get() == 0

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(1, 9)))


def test_tasks_of_one_thread_each_see_their_own_scope():
    width = Setting("width", 0)

    async def work(mine):
        with width.scope(mine):
            await asyncio.sleep(0)
            return width.get() == mine

    async def all_at_once():
        return await asyncio.gather(*map(work, range(5)))

    assert all(asyncio.run(all_at_once()))
