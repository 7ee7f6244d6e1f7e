"""Every case of every table `cases_*.py`, through the one mechanism."""

import importlib
from pathlib import Path

import pytest

from vitrify.testing import check_case, check_dtypes

TABLES = sorted(path.stem for path in Path(__file__).parent.glob("cases_*.py"))
CASES = [case for table in TABLES for case in importlib.import_module(f"tests.ops.{table}").CASES]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case):
    check_case(case)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("table", TABLES)
def test_programs_take_the_dtypes_that_eager_code_takes(table):
    for case in importlib.import_module(f"tests.ops.{table}").CASES:
        check_dtypes(case)
