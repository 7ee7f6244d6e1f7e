"""Every function of the tables: eager = static, values, gradients, prints, exceptions, first and cached call.

Then its programs run on the simulated device, too: they give the same, and nothing there is unordered. They are lowered
once more for that, not recorded: recording takes most of the time of a case.
"""

from collections import Counter

import pytest

from vitrify.core.place import SimulatedPlace
from vitrify.jit import segment

from .differential import compare
from .tables import all_cases

CASES = all_cases()


class Programs:
    """The programs that are compiled from now on, and where they run."""

    def __init__(self, monkeypatch):
        self.made = []
        self.monkeypatch = monkeypatch
        first = segment.CompiledSegment._lower_forward

        def noted(made):
            self.made.append(made)
            return first(made)

        monkeypatch.setattr(segment.CompiledSegment, "_lower_forward", noted)

    def move(self, seed):
        """Let them, and all that are made later, run on the simulated device with the delays of a seed."""
        lower = segment.lower

        def lowered(*args, place=None, **kwargs):
            return lower(*args, place=SimulatedPlace(seed), **kwargs)

        self.monkeypatch.setattr(segment, "lower", lowered)
        for made in list(self.made):
            made.forward_core = made._lower_forward()
            made.__dict__.pop("backward_core", None)
            made._fewer.clear()
            made._again.clear()


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: repr(CASES[number]))
def test_static_equals_eager(number, monkeypatch):
    case = CASES[number]
    programs = Programs(monkeypatch)
    static = compare(case.function, *case.calls, **case.options)
    programs.move(number)
    compare(case.function, *case.calls, **case.options, static=static)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_the_default_mode_equals_eager(case):
    options = {**case.options, "full_graph": False}
    compare(case.function, *case.calls, rounds=max(3, -(-4 // len(case.calls))), **options)


def test_cases_have_names_of_their_own():
    names = Counter(repr(case) for case in CASES)
    assert not [name for name, count in names.items() if count > 1]
