"""What a run costs beside its kernels, counted in calls: the same on any machine, however busy."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import vitrify as paddle
from benchmarks.runtime import chain, fan, lowered, pairs

LENGTH = 50
X = np.ones(2, "float32")


def calls_of(run):
    """How many functions, Python's and C's, are called while `run` runs."""
    found = []

    def note(frame, event, arg):
        if event in ("call", "c_call"):
            found.append(frame.f_code.co_name if event == "call" else arg)

    run()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return len(found) - 1  # `setprofile` itself


def a_run(core):
    return lambda: core(X)


@pytest.mark.parametrize("build", [chain, pairs, fan])
def test_an_instruction_is_two_calls(build):
    """The step and the kernel (empty ones of two functions here): no lock, no lookup, no account."""
    short, long = (lowered(lambda x, n=n: build(x, n), [2], serial=True) for n in (LENGTH, 2 * LENGTH))
    more = calls_of(a_run(long)) - calls_of(a_run(short))
    assert more <= 2 * LENGTH


def test_a_run_without_instructions_is_a_few_calls():
    core = lowered(lambda x: chain(x, 1), [2], serial=True)
    assert calls_of(a_run(core)) <= 6


def test_a_static_call_is_few_calls():
    fn = paddle.jit.to_static(lambda x: x + 1, full_graph=True)
    x = paddle.to_tensor(X)
    fn(x)
    again = calls_of(lambda: fn(x))
    changed = calls_of(lambda: fn._call((x,), {}))
    assert again <= 14
    assert again < changed
