"""Each corpus function, converted with plain Python helpers, does what the original does."""

from __future__ import annotations

import copy
import random

import pytest

from tests.transformers import (
    corpus_comprehensions,
    corpus_exceptions,
    corpus_generators,
    corpus_loops,
    corpus_match,
    corpus_objects,
    corpus_returns,
    corpus_scopes,
    corpus_walrus,
)
from tests.transformers.corpus import Case
from tests.transformers.python_helpers import PythonHelpers
from vitrify.transformers import convert_function, source_of, stage_sources

MODULES = (
    corpus_comprehensions,
    corpus_generators,
    corpus_loops,
    corpus_match,
    corpus_returns,
    corpus_scopes,
    corpus_walrus,
    corpus_exceptions,
    corpus_objects,
)
CASES = [case for module in MODULES for case in module.CORPUS]


def outcome(fn, args, capsys):
    args = copy.deepcopy(args)
    random.seed(0)
    try:
        result = ("value", plain(fn(*args)))
    except Exception as err:  # noqa: BLE001 - whatever it is, both must raise it
        kind = NameError if isinstance(err, NameError) else type(err)
        result = ("error", kind, [] if kind is NameError else [str(arg) for arg in err.args])
    return result, args, capsys.readouterr().out


def plain(value):
    return value if isinstance(value, (int, float, str, tuple, list, dict, set, type(None))) else repr(value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.fn.__name__)
def test_converted_equals_original(case: Case, capsys):
    converted = convert_function(case.fn, PythonHelpers())
    for call in case.calls:
        assert outcome(converted, call, capsys) == outcome(case.fn, call, capsys), source_of(converted)


def test_corpus_is_large():
    assert len(CASES) >= 150


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.fn.__name__)
def test_every_stage_is_valid_python(case: Case):
    for _, text in stage_sources(case.fn):
        compile(text, "<stage>", "exec") if not text.startswith("(lambda") else compile(text, "<stage>", "eval")
