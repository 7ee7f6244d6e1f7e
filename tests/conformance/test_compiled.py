"""A sample of the tables' cases gives compiled, for sizes that only a run knows, what it gives eagerly."""

import pytest

import vitrify as paddle
from tests.conformance.__main__ import chosen_cases
from tests.conformance.compiled import UNDECIDED, differences, main
from tests.conformance.generated import TABLE, generated_cases
from tests.conformance.tables import NAMES

SAMPLE = 90
GENERATED = 900


@pytest.fixture(autouse=True, scope="module")
def nothing_kept():
    """The cases made by rule are 650,000 objects, which later tests that search for cycles would go over."""
    yield
    generated_cases.cache_clear()


@pytest.mark.parametrize("table", NAMES)
def test_compiled_code_is_eager_code(table):
    cases = list(chosen_cases("", table))[SAMPLE // 2 :: SAMPLE]
    assert not [(case.text, kind, why) for case, kind, why in differences(cases)]


@pytest.mark.slow
@pytest.mark.parametrize("fixed", [False, True], ids=["unknown", "known"])
def test_compiled_code_of_generated_cases_is_eager_code(fixed):
    cases = list(chosen_cases("", TABLE))[GENERATED // 2 :: GENERATED]
    assert not [(case.text, kind, why) for case, kind, why in differences(cases, fixed)]


def test_the_command_line_prints_what_differs(capsys, monkeypatch):
    assert main(["--only", "paddle.roll", "--every", "5"]) == 0
    monkeypatch.setattr(paddle, "roll", lambda x, *args, **kwargs: x * int(paddle.in_dynamic_mode()))
    assert main(["--only", "paddle.roll", "--every", "5"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("0 cases differ") and "values: paddle.roll(float32" in said


def test_reasons_are_given():
    assert all(UNDECIDED.values())
