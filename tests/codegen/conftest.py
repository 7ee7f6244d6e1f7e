"""Tests of generated code leave the user's cache of kernels alone."""

import pytest

from vitrify.core.config import flags_guard


@pytest.fixture(autouse=True)
def nothing_on_disk():
    with flags_guard({"cache_mb": 0}):
        yield
