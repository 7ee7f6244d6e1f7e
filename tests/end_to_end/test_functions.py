"""Every function of the tables: eager = static, values, gradients, prints, exceptions, first and cached call."""

import pytest

from . import failing, flow, functions, inplace, objects, statements
from .differential import compare

CASES = [case for table in (functions, flow, objects, inplace, failing, statements) for case in table.CASES]


@pytest.mark.parametrize(("fn", "calls"), CASES, ids=[f"{f.__name__}-{i}" for i, (f, _) in enumerate(CASES)])
def test_static_equals_eager(fn, calls):
    compare(fn, *calls)
