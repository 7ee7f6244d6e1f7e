"""Every function of the tables: eager = static, values, gradients, prints, exceptions, first and cached call."""

from collections import Counter

import pytest

from .differential import compare
from .tables import all_cases

CASES = all_cases()


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_static_equals_eager(case):
    compare(case.function, *case.calls, **case.options)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_the_default_mode_equals_eager(case):
    options = {**case.options, "full_graph": False}
    compare(case.function, *case.calls, rounds=max(3, -(-4 // len(case.calls))), **options)


def test_cases_have_names_of_their_own():
    names = Counter(repr(case) for case in CASES)
    assert not [name for name, count in names.items() if count > 1]
