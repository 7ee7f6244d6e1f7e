"""Every function of the table: eager = static, values, gradients, prints, exceptions, first and cached call."""

import pytest

from .differential import compare
from .functions import CASES


@pytest.mark.parametrize(("fn", "calls"), CASES, ids=[f"{f.__name__}-{i}" for i, (f, _) in enumerate(CASES)])
def test_static_equals_eager(fn, calls):
    compare(fn, *calls)
