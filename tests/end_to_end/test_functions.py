"""Every function of the tables: eager = static, values, gradients, prints, exceptions, first and cached call."""

from collections import Counter

import pytest

from .differential import compare
from .tables import all_cases

CASES = all_cases()


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_static_equals_eager(case):
    compare(case.function, *case.calls, **case.options)


def test_cases_have_names_of_their_own():
    names = Counter(repr(case) for case in CASES)
    assert not [name for name, count in names.items() if count > 1]
