"""Eager operators in machine code from the start: `pytest -p tests.jit.operators_in_code tests/eager`."""

from vitrify.jit.eager_operators import OPERATORS_IN_CODE


def pytest_configure() -> None:
    OPERATORS_IN_CODE.install()
