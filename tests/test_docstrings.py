"""Every example in a docstring runs and prints what it says."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def modules_with_examples() -> list[str]:
    """Return the names of the modules whose text has an example; the others are not imported for nothing."""
    begins = re.compile(r"^ *>>> ", re.MULTILINE)
    paths = [path for path in sorted(SOURCE.rglob("*.py")) if begins.search(path.read_text(encoding="utf-8"))]
    return [".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__") for path in paths]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_print_what_they_say(name):
    failed, attempted = doctest.testmod(import_module(name), optionflags=FLAGS)
    assert attempted and not failed
