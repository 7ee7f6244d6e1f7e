"""Paddle's public names exist here, and can be called as Paddle's signatures say.

tests/data/paddle_names.tsv: the names of PaddlePaddle 3.3.1 and paths that its layer suites call, how many files of
four large model repositories use each, and the parameters as `inspect` tells them: name=default, * and ** as in Python,
! for those that are given by name only.
"""

import csv
import enum
import importlib
import inspect
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import vitrify
from tests.conformance.absent import ABSENT as REASONS

README = Path(__file__).parents[2] / "README.md"
DATA = Path(__file__).parents[1] / "data" / "paddle_names.tsv"
# Pattern of names -> why they need not exist, though somebody uses them.
ABSENT = {}
# Pattern of names -> why their parameters differ.
DIFFERENT = {
    r"paddle\.onnx\.export": "the forms of operators are those of opset 17 and later",
    r"paddle\.jit\.to_static": "there is no CINN behind it",
    r"paddle\.static\.Variable|paddle\.jit\.TranslatedLayer": "objects that users are handed, not make",
    r"Tensor\.__\w+__": "operators are called by Python, with one operand",
    r"paddle\.distributed\.(irecv|new_group)": "there is nobody to wait for",
}


@dataclass(frozen=True)
class Row:
    """A name of Paddle's, and its parameters or None where Paddle does not tell them."""

    name: str
    kind: str
    used: int
    parameters: str | None


@cache
def rows() -> tuple[Row, ...]:
    with DATA.open(encoding="utf-8", newline="") as file:
        read = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return tuple(Row(r["name"], r["kind"], int(r["used"]), told(r["parameters"])) for r in read)


def told(text: str) -> str | None:
    return None if text == "-" else "" if text == "()" else text


def excepted(name: str, table: dict[str, str]) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in table)


def resolve(name: str):
    """What `name` leads to here; AttributeError if nothing."""
    root, *parts = name.split(".")
    found, path = (vitrify.Tensor, "vitrify.Tensor") if root == "Tensor" else (vitrify, "vitrify")
    for part in parts:
        path += f".{part}"
        if not hasattr(found, part) and inspect.ismodule(found):
            try:
                importlib.import_module(path)
            except ModuleNotFoundError:
                pass
        found = getattr(found, part)
    return found


def missing(names) -> list[str]:
    absent = []
    for name in names:
        try:
            resolve(name)
        except AttributeError:
            absent.append(name)
    return absent


def test_every_used_name_exists():
    assert not missing(r.name for r in rows() if r.used and not excepted(r.name, ABSENT))


def test_the_exceptions_are_needed():
    gone = missing(r.name for r in rows() if r.used)
    for pattern in ABSENT:
        assert any(re.fullmatch(pattern, name) for name in gone), pattern


def test_differing_parameters_are_still_needed():
    found = differences()
    for pattern in DIFFERENT:
        assert any(re.fullmatch(pattern, name) for name in found), pattern


def test_most_other_names_exist():
    names = [r.name for r in rows()]
    assert len(missing(names)) < EXPECTED_MISSING


EXPECTED_MISSING = 103


def test_the_page_says_why_the_others_do_not():
    """docs/paddle-compatibility.md, whose list this is, and README.md, which says how many."""
    absent = missing(r.name for r in rows())
    assert set(absent) <= set(" ".join(REASONS.values()).split())
    assert f"2,324 public names and methods {len(absent)} are missing" in README.read_text(encoding="utf-8")
    assert len(rows()) == 2324


@pytest.mark.parametrize(
    ("package", "brought", "left"),
    [
        ("vitrify", ["Model", "DataParallel", "summary", "float", "to_tensor"], ["int", "long", "nn", "core"]),
        ("vitrify.base", ["Executor"], []),
        ("vitrify.vision", ["image_load", "set_image_backend"], []),
    ],
)
def test_import_of_everything(package, brought, left):
    found = {}
    exec(f"from {package} import *", found)
    assert not set(brought) - found.keys() and not found.keys() & set(left)


def test_names_that_only_paddle_itself_has():
    """They are on no list, but in model code."""
    x = vitrify.to_tensor([3.0, 4.0])
    assert vitrify.norm(x).item() == 5.0 and vitrify.sigmoid(x * 0).tolist() == [0.5, 0.5]
    assert vitrify.cholesky(vitrify.eye(2) * 4).tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert vitrify.int is vitrify.int32 and vitrify.long is vitrify.int64 and x[vitrify.newaxis].shape == [1, 2]
    assert not vitrify.is_compiled_with_xpu() and not vitrify.is_compiled_with_rocm()


# -- parameters -------------------------------------------------------------------------------------------------------


def split(text: str) -> list[tuple[str, str, str | None]]:
    """(mark, name, default) of each parameter."""
    found = []
    for part in re.findall(r"(?:[^\s\"']|\"[^\"]*\"|'[^']*')+", text):
        mark, rest = re.fullmatch(r"(\*\*|[*!/]?)(.*)", part).groups()
        name, equals, default = rest.partition("=")
        found.append((mark, name, default if equals else None))
    return found


def own_parameters(target, bound: bool) -> list[inspect.Parameter]:
    found = list(inspect.signature(target).parameters.values())
    return found[1:] if bound else found


def same(default: str | None, parameter: inspect.Parameter) -> bool:
    """Whether a parameter has Paddle's default, or any where Paddle has none; a tuple is as good as a list."""
    if default is None or parameter.default is parameter.empty:
        return default is None
    plain = str.maketrans("()", "[]", " ")
    return repr(parameter.default).translate(plain).replace(",]", "]") == default.translate(plain).replace(",]", "]")


def difference(theirs: list[tuple[str, str, str | None]], ours: list[inspect.Parameter]) -> str | None:
    """Why a call that Paddle's parameters allow would mean something else here, or None."""
    positional = [p for p in ours if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    named = {p.name: p for p in ours if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    kinds = {p.kind for p in ours}
    for place, (mark, name, default) in enumerate(theirs):
        if mark in ("*", "**"):
            continue
        if mark != "!" and inspect.Parameter.VAR_POSITIONAL in kinds:
            continue
        if mark != "!" and (place >= len(positional) or positional[place].name != name):
            return f"{name} is not at position {place}"
        if name in named:
            if not same(default, named[name]):
                return f"{name}={named[name].default!r}, not {default}"
        elif inspect.Parameter.VAR_KEYWORD not in kinds and mark != "/":
            return f"no {name}"
    return None


def differences() -> dict[str, str]:
    found = {}
    for row in rows():
        if row.parameters is None or row.kind not in ("function", "method", "class") or missing([row.name]):
            continue
        target = resolve(row.name)
        if isinstance(target, enum.EnumMeta):  # nobody calls it but Python's own ways, which differ by version
            continue
        try:
            ours = own_parameters(target, bound=row.name.startswith("Tensor.") and not inspect.ismethod(target))
        except ValueError:  # written in C
            continue
        reason = difference(split(row.parameters), ours)
        if reason:
            found[row.name] = reason
    return found


def test_parameters_are_paddles():
    found = {name: reason for name, reason in differences().items() if not excepted(name, DIFFERENT)}
    assert not found


@pytest.mark.parametrize("theirs", ["x axis=None !out=None", "x axis=None name=None", "x axis=0", "y axis=None"])
def test_the_comparison_sees_differences(theirs):
    def ours(x, axis=None, *, out=None): ...

    same_call = theirs == "x axis=None !out=None"
    assert (difference(split(theirs), own_parameters(ours, bound=False)) is None) is same_call
