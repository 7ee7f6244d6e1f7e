"""Tests of generated code leave the user's cache of kernels alone, and are not run where there is none."""

from pathlib import Path

import pytest

from vitrify.core.config import flags_guard

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)  # before those that are marked are looked for
def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.native)


@pytest.fixture(autouse=True)
def nothing_on_disk():
    with flags_guard({"cache_mb": 0}):
        yield
