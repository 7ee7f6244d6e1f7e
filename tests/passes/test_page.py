"""The examples of docs/compiler.md run and print what the page shows."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "compiler.md"


def test_the_page():
    found = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 15 and not found.failed
