"""Every function of the tables with its programs on the simulated device: eager = static, and nothing unordered."""

from __future__ import annotations

import pytest

from vitrify.core.place import SimulatedPlace
from vitrify.jit import segment

from .differential import compare
from .tables import all_cases

CASES = all_cases()
FAST = 24
"""One of so many cases runs each time; the others with the slow tests."""


@pytest.fixture
def simulated(monkeypatch):
    """Lets programs run on the simulated device from now on, with the delays of a seed."""
    lower = segment.lower

    def on(seed):
        def lowered(*args, place=None, **kwargs):
            return lower(*args, place=SimulatedPlace(seed), **kwargs)

        monkeypatch.setattr(segment, "lower", lowered)

    return on


def check(case, seed, simulated):
    simulated(seed)
    compare(case.function, *case.calls, **case.options)


@pytest.mark.parametrize("number", range(0, len(CASES), FAST), ids=lambda number: repr(CASES[number]))
def test_some_functions(number, simulated):
    check(CASES[number], number, simulated)


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [n for n in range(len(CASES)) if n % FAST], ids=lambda number: repr(CASES[number])
)
def test_every_other_function(number, simulated):
    check(CASES[number], number, simulated)
