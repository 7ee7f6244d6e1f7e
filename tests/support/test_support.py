"""Each construct's row of docs/python-support.md is what running it shows. `--update-golden` rewrites the page."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.support.constructs import CONSTRUCTS, Construct
from tests.support.harness import page, status

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "python-support.md"
FOUND: dict[str, str] = {}


def documented() -> dict[str, str]:
    """The status of each construct on the page."""
    rows = dict(re.findall(r"^\| (.+) \| ([a-z ]+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    return {construct.name: rows[construct.name] for construct in CONSTRUCTS}


def test_the_table_is_large_and_its_names_differ():
    assert len({construct.name for construct in CONSTRUCTS}) == len(CONSTRUCTS) >= 90


# Which of several subscripts in a line asks is known by its column, from Python 3.11 on.
NEEDS_COLUMNS = {"`defaultdict`, `Counter`, `OrderedDict` changed on one path"}


@pytest.mark.parametrize("construct", CONSTRUCTS, ids=lambda c: c.name)
def test_construct(construct: Construct, request):
    FOUND[construct.name] = status(construct)
    if not request.config.getoption("--update-golden"):
        is_split = construct.name in NEEDS_COLUMNS and sys.version_info < (3, 11)
        assert FOUND[construct.name] == ("segment" if is_split else documented()[construct.name])


def test_the_page_is_current(request):
    """The rest of the page, for its rows are compared one by one above."""
    if request.config.getoption("--update-golden"):
        assert len(FOUND) == len(CONSTRUCTS), "the page is written from all constructs, run in one process: without -n"
        PAGE.write_text(page(FOUND), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page(documented())
