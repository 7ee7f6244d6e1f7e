"""The pages for people are true: what they link to and name is there, and the code on those that no other test runs."""

from __future__ import annotations

import linecache
import re
import types
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import vitrify as paddle
from tests.conformance.absent import ABSENT

ROOT = Path(__file__).parent.parent
PAGES = [*sorted((ROOT / "docs").glob("*.md")), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))]
CODE = re.compile(r"```.*?```", re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")
IN_WORDS = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w/.-]+\.(py|proto)")
NAME = re.compile(r"(?:paddle|vitrify)((?:\.\w+)+)(?:\(\))?")


def words(page: Path) -> str:
    """A page without its blocks of code."""
    return CODE.sub("", page.read_text(encoding="utf-8"))


@cache
def headings(page: Path) -> set[str]:
    """The anchors that a page has, as GitHub names them."""
    found = re.findall(r"^#+ (.*)$", words(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in found}


@cache
def ours() -> list[str]:
    """The files of the repository, each with a slash in front."""
    folders = [ROOT / name for name in ("src", "tests", "benchmarks", "examples")]
    return [f"/{path.relative_to(ROOT).as_posix()}" for folder in folders for path in folder.rglob("*.*")]


@cache
def said_to_be_absent() -> set[str]:
    """PaddlePaddle's names that a page lists because they are not here."""
    return set(" ".join(ABSENT.values()).split())


def is_there(name: str) -> bool:
    """Whether `.nn.Linear` is a module or an attribute of one."""
    found = paddle
    parts = name.removeprefix(".").split(".")
    for number, part in enumerate(parts, 1):
        if not hasattr(found, part):
            try:
                import_module(".".join(["vitrify", *parts[:number]]))
            except ImportError:
                return False
        found = getattr(found, part)
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = IN_WORDS.sub("", words(page))
    targets = [((page.parent / path if path else page), anchor) for path, anchor in LINK.findall(text)]
    assert [str(target) for target, _ in targets if not target.exists()] == []
    assert [f"{target}#{anchor}" for target, anchor in targets if anchor and anchor not in headings(target)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_and_names_are_there(page):
    found = IN_WORDS.findall(words(page))
    files = [word for word in found if FILE.fullmatch(word)]
    assert [word for word in files if not any(path.endswith(f"/{word}") for path in ours())] == []
    names = [match[1] for word in found if (match := NAME.fullmatch(word)) and word not in said_to_be_absent()]
    assert [name for name in names if not is_there(name)] == []


def run(page: str, names: dict[str, object]) -> None:
    """Run the blocks of a page one after the other; `names` are known to the first one."""
    module = types.ModuleType("page")
    module.__dict__.update(names)
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    for number, block in enumerate(blocks):
        name = f"{page}, block {number}"
        linecache.cache[name] = (len(block), None, block.splitlines(keepends=True), name)  # to_static reads the source
        exec(compile(block, name, "exec"), module.__dict__)


def images(channels: int = 3) -> paddle.nn.Layer:
    """A network of images of any size."""
    return paddle.nn.Sequential(paddle.nn.Conv2D(channels, 2, 3), paddle.nn.AdaptiveAvgPool2D(1), paddle.nn.Flatten())


def test_the_code_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run("README.md", {})
    assert "step is compiled as a whole" in capsys.readouterr().out
    assert (tmp_path / "refine.vtmodel").exists()


def test_the_code_about_onnx_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("docs/onnx.md", {"paddle": paddle, "net": images()})
    assert (tmp_path / "model.onnx").exists()


def test_the_code_about_other_files_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spec = [paddle.static.InputSpec([None, 3, 8, 8], "float32", "image")]
    for form in ("vitrify", "paddle3"):
        paddle.jit.save(images(), "resnet18", input_spec=spec, format=form)
    run("docs/interchange.md", {"paddle": paddle})


def test_the_code_about_compiled_functions_runs():
    run("docs/to-static.md", {"paddle": paddle})


def test_the_first_call_of_the_map_runs():
    run("docs/architecture.md", {"paddle": paddle, "F": paddle.nn.functional})
