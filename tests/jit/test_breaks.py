"""Split functions do what they do eagerly, call after call, and settle."""

from __future__ import annotations

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare, run
from tests.jit.breaks import CASES
from vitrify.jit.program_builder import ProgramBuilder

ROUNDS = 5
NEVER_SETTLE = {"state_when_error", "error_in_segment", "in_default", "calls_higher"}
"""Erring calls are traced again, a nested function is a new one in each call."""


def name_of(case):
    return case[0].__name__


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_split_functions_equal_eager(case):
    function, calls = case
    compare(function, *calls, full_graph=False, strict=True, rounds=ROUNDS)


@pytest.fixture
def traces(monkeypatch):
    """Counts traces as they happen."""
    counted: list[str] = []
    trace = ProgramBuilder.trace

    def counting(self, *args, **kwargs):
        counted.append(self.eager.__name__)
        return trace(self, *args, **kwargs)

    monkeypatch.setattr(ProgramBuilder, "trace", counting)
    return counted


@pytest.mark.parametrize("case", [case for case in CASES if name_of(case) not in NEVER_SETTLE], ids=name_of)
def test_after_two_rounds_nothing_is_traced(case, traces):
    function, calls = case
    static = paddle.jit.to_static(function)
    for number in range(4):
        if number > 1:
            traces.clear()
        for args in calls:
            run(static, args)
    assert not traces
