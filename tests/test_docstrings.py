"""Every example in a docstring runs and prints what it says."""

import doctest
import inspect
import re
import types
from importlib import import_module
from pathlib import Path

import pytest

import vitrify
from tests.tensor.test_names import missing, resolve, rows

SOURCE = Path(__file__).parent.parent / "src"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def modules_with_examples() -> list[str]:
    """Return the names of the modules whose text has an example; the others are not imported for nothing."""
    begins = re.compile(r"^ *>>> ", re.MULTILINE)
    paths = [path for path in sorted(SOURCE.rglob("*.py")) if begins.search(path.read_text(encoding="utf-8"))]
    return [".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__") for path in paths]


def text_of(name: str) -> str:
    """The docstring of a public name, of a property's getter, and of a class its own."""
    found = inspect.getattr_static(vitrify.Tensor, name[7:]) if name.startswith("Tensor.") else resolve(name)
    found = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
    return (callable(found) and found.__doc__) or ""


def is_documented(name: str) -> bool:
    """Whether it is something to be called, and not one of Python's own methods, which operators call."""
    if "__" in name or missing([name]):
        return False
    found = resolve(name)
    return callable(found) and not isinstance(found, types.ModuleType) and bool(text_of(name))


def test_every_public_name_has_an_example():
    """PaddlePaddle's public names: whoever looks one up sees it used."""
    names = [row.name for row in rows() if is_documented(row.name)]
    assert len(names) > 1500
    assert [name for name in names if ">>> " not in text_of(name)] == []


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_print_what_they_say(name):
    failed, attempted = doctest.testmod(import_module(name), optionflags=FLAGS)
    assert attempted and not failed
