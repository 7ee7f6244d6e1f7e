"""Steps leave nothing behind: neither resident memory nor Python's objects grow."""

from __future__ import annotations

import sys

import pytest

from benchmarks import leaks


@pytest.mark.parametrize("name", leaks.STEPS)
def test_a_few_hundred_steps_leave_no_objects(name):
    assert leaks.growth(leaks.STEPS[name](), 200).traced < 16 << 10


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", leaks.STEPS)
def test_twenty_thousand_steps_leave_no_memory(name):
    step = leaks.STEPS[name]()
    # What steps leave grows each time; the process takes a page more, once, when its own compiler has come to an end.
    found = [leaks.growth(step, 20_000) for _ in range(2)]
    assert min(growth.resident for growth in found) < 1 << 20
    assert max(growth.traced for growth in found) < 64 << 10
