"""Retracing is visible and bounded."""

from __future__ import annotations

import warnings

import pytest

import vitrify as paddle
from vitrify.jit.program_cache import MAX_PROGRAMS
from vitrify.jit.retrace import NoSourceWarning, RetraceWarning

from .models import counted


def test_the_argument_that_varies_is_named_once():
    f = paddle.jit.to_static(lambda x, step: x * step, full_graph=True)
    x = paddle.ones([2])
    with pytest.warns(RetraceWarning, match=r"argument 'step' is now 63, and was 0.*oldest are forgotten") as told:
        for step in range(MAX_PROGRAMS + 5):
            assert f(x, step).tolist() == [step, step]
    assert len(told) == 1 and told[0].filename == __file__
    assert len(f.program_cache) == MAX_PROGRAMS
    assert f.cache_info().misses == MAX_PROGRAMS + 5


def test_a_function_that_is_never_met_again_runs_as_python():
    f, _ = counted(lambda x, step: x * step)
    with pytest.warns(RetraceWarning, match="runs as Python"):
        for step in range(40):
            assert f(paddle.ones([2]), step).tolist() == [step, step]
    assert len(f.program_cache) <= 16


def test_programs_in_use_are_kept():
    f = paddle.jit.to_static(lambda x, step: x * step, full_graph=True)
    x = paddle.ones([2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RetraceWarning)
        for step in range(1, 3 * MAX_PROGRAMS):
            f(x, step)
            f(x, 0)
    assert any(key.values[0][1] == 0 for key, _ in f.program_cache.entries())


def test_cache_info_counts_hits_and_misses():
    f = paddle.jit.to_static(lambda x: x + 1)
    for _ in range(5):
        f(paddle.ones([2]))
    f(paddle.ones([3]))
    info = f.cache_info()
    assert (info.hits, info.misses, info.currsize) == (4, 2, 2)


def test_without_source_it_runs_eagerly_and_says_so_once():
    namespace = {}
    exec("def f(x):\n    return x * 2 if x.sum() > 0 else x", namespace)
    static = paddle.jit.to_static(namespace["f"])
    with pytest.warns(NoSourceWarning, match="(?s)source of function `f`.*runs eagerly") as told:
        assert static(paddle.ones([2])).tolist() == [2, 2]
        assert static(-paddle.ones([3])).tolist() == [-1, -1, -1]
    assert len(told) == 1
