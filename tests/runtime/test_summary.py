"""What `explain` and `print` say of how a program runs."""

import re

import numpy as np

import vitrify as paddle
from tests.runtime import graphs
from vitrify.runtime.on_streams import stream_plan
from vitrify.runtime.summary import summary


def test_explain_tells_the_mode_and_what_the_analyses_found():
    def f(x):
        return (paddle.tanh(x) * 2 + x).sum()

    text = str(paddle.jit.explain(f, paddle.ones([64, 128])))
    wanted = r"runs in mode trace \(.*\): \d+ instructions, \d+ writes? in place, \d+ buffers? freed before the end"
    assert re.search(wanted, text), text


def test_each_mode_has_its_figures():
    made = graphs.program(1)
    for mode in ("trace", "threads", "streams"):
        text = summary(graphs.core(made, mode=mode, threads=2))
        assert text.startswith(f"runs in mode {mode} (asked for): ")
        assert (re.search(r"\d streams, \d+ events?, ", text) is not None) == (mode == "streams")
    assert summary(graphs.core(made, serial=True, gc="none")).endswith("0 buffers freed before the end")


def test_a_plan_prints_a_line_for_each_instruction():
    core = graphs.core(graphs.program(1), mode="streams")
    core(*graphs.arrays(1))
    lines = str(stream_plan(core)).splitlines()
    assert len(lines) == len(stream_plan(core).instructions)
    assert re.fullmatch(r" +\d+ h2d +copy in s\d+(; records an event)?", lines[0])
    assert any(re.search(r"compute\d +s\d+ = \w+\(.*; waits for \d+ \(", line) for line in lines)
    assert np.all([re.match(r" *\d+ (h2d|d2h|compute\d) ", line) for line in lines])
