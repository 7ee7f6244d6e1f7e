"""Tests of generated code leave the user's cache of kernels alone, and are not run where there is none."""

from pathlib import Path

import pytest

from vitrify.codegen.whole import WholeProgram
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


class Runs:
    """How often native programs ran, or raised."""

    def __init__(self, monkeypatch):
        self.count = 0
        call = WholeProgram.__call__

        def counted(program, *given):
            self.count += 1
            found = call(program, *given)
            self.count -= found is None
            return found

        monkeypatch.setattr(WholeProgram, "__call__", counted)


@pytest.fixture
def runs(monkeypatch):
    """What compiled functions do as native programs, from the first run on that was optimized."""
    with flags_guard({"native_after_ms": 0}):
        yield Runs(monkeypatch)
