"""Each error of the catalogue is raised as told, its cure works, and the page is what the errors really say."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import vitrify as paddle
from tests.end_to_end.differential import run, same
from tests.errors.catalogue import ELSEWHERE, ENTRIES, GROUPS, Entry
from vitrify.core.errors import VitrifyError

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
FILE = "model.py"


def load(text: str, folder: Path) -> ModuleType:
    """The program as a module, from a file."""
    path = folder / FILE
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("model", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.paddle = paddle  # type: ignore[attr-defined]
    spec.loader.exec_module(module)
    return module


def arguments(entry: Entry) -> tuple[Any, ...]:
    return tuple(eval(arg, {"paddle": paddle}) for arg in entry.args)


def failure(entry: Entry, folder: Path) -> BaseException:
    """What converting and calling the entry's program raises; names that are given out start from the beginning."""
    with paddle.utils.unique_name.guard(), pytest.raises(Exception) as caught:
        module = load(entry.program, folder)
        paddle.jit.to_static(module.f, full_graph=True)(*arguments(entry))
    return caught.value


def message(entry: Entry, folder: Path) -> str:
    """What the error says; of one of Python's own its notes, too, without the frames of these tests."""
    err = failure(entry, folder)
    told = () if isinstance(err, VitrifyError) else getattr(err, "__notes__", ())
    notes = [note.partition("\ncalled from")[0] for note in told]
    return "\n".join([str(err), *notes]).replace(str(folder / FILE), FILE)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.name)
def test_the_error_is_as_told(entry: Entry, tmp_path):
    err = failure(entry, tmp_path)
    assert entry.error in [cls.__name__ for cls in type(err).__mro__], type(err).__mro__
    assert entry.says in str(err)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.name)
def test_the_cure_works(entry: Entry, tmp_path):
    f = load(entry.cure, tmp_path).f
    static = paddle.jit.to_static(f, full_graph=True)
    for _ in range(2):
        expected = run(f, arguments(entry))
        assert expected.error is None
        same(expected, run(static, arguments(entry)))


HEAD = """# Errors of conversion

Every error that converting a function can raise, with a program that raises it and one that does not. All of them are
raised while the function is converted or first traced, unless the text says that they come when the program runs; all
name the user's own line. `full_graph=True` is what asks for them: without it, a function that cannot be one program
runs as compiled segments around the statement that cannot be converted (`explain` tells which and why).

Error classes also inherit the builtin that plain Python would raise: `ShapeError` and `ArgumentError` are
`ValueError`s, `DTypeError` is a `TypeError`, the error of an unset variable is an `UnboundLocalError`.
`UnsupportedError` means: valid Python that cannot be converted. `VITRIFY_DEBUG=1` shows the frames inside vitrify, too.

This page is generated from `tests/errors/catalogue.py` by running every program in it.
"""


def page(folder: Path) -> str:
    """The text of docs/errors.md."""
    parts = [HEAD]
    for group, entries in GROUPS.items():
        parts.append(f"## {group}\n")
        for entry in entries:
            err = f"{entry.error}: {message(entry, folder)}"
            parts.append(f"### {entry.name}\n\n{entry.why}\n")
            parts.append(f"```python\n{entry.program}```\n\n```text\n{err}\n```\n\nInstead:\n")
            parts.append(f"```python\n{entry.cure}```\n")
    return "\n".join(parts)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="columns are known from Python 3.11 on")
def test_the_page_shows_what_is_raised(tmp_path, request):
    text = page(tmp_path)
    if request.config.getoption("--update-golden"):
        PAGE.write_text(text, encoding="utf-8")
    assert settled(PAGE.read_text(encoding="utf-8")) == settled(text)


def settled(text: str) -> str:
    """The page without the columns of endless recursion: how deep the stack was decides where it is noticed."""
    return re.sub(r"(RecursionError: (?:.*\n){3}) +\^+\n", r"\1", text)


SOURCES = ("transformers", "convert", "jit", "ir/graph_tensor.py", "eager/callback.py")
CLASSES = ("Error", "Refusal")
OTHER_FILES = {"loading.py", "files.py", "saving.py", "collecting.py"}  # errors of saved files, not of conversion


def raised() -> Iterator[tuple[str, str]]:
    """File and fixed text of every error of ours that conversion makes."""
    root = Path(paddle.__file__).parent
    for path in sorted(
        path
        for source in SOURCES
        for path in ([root / source] if source.endswith(".py") else (root / source).rglob("*.py"))
    ):
        if path.name in OTHER_FILES:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(getattr(node, "func", None), "id", "")
            if isinstance(node, ast.Call) and name.endswith(CLASSES) and name not in PLAIN and node.args:
                fixed = [
                    n.value for n in ast.walk(node.args[0]) if isinstance(n, ast.Constant) and isinstance(n.value, str)
                ]
                if fixed:
                    yield f"{path.relative_to(root)}", max(fixed, key=len)


PLAIN = {"TypeError", "ValueError", "AttributeError", "AssertionError", "InternalError", "KeyError", "IndexError"}


def test_every_error_is_in_the_catalogue(tmp_path):
    said = "\n".join(str(failure(entry, tmp_path)) for entry in ENTRIES)
    missing = [(path, text) for path, text in raised() if text.strip() not in said and text not in ELSEWHERE]
    assert not missing, missing


def test_nothing_is_excused_in_vain():
    assert not set(ELSEWHERE) - {text for _, text in raised()}
