"""Every case of every table `cases_*.py`, through the one mechanism."""

import importlib
from pathlib import Path

import pytest

from vitrify.testing import check_case

TABLES = sorted(path.stem for path in Path(__file__).parent.glob("cases_*.py"))
CASES = [case for table in TABLES for case in importlib.import_module(f"tests.ops.{table}").CASES]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case):
    check_case(case)
