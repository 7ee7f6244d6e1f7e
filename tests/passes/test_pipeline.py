"""All passes on the programs of converted functions: alone and in any order they change nothing that can be seen."""

from __future__ import annotations

import random

import numpy as np
import pytest

import vitrify as paddle
from tests.end_to_end.differential import run
from tests.end_to_end.functions import CASES as FUNCTIONS
from tests.end_to_end.recursion import CASES as RECURSION
from tests.passes.programs import ran, same, specials, traced
from tests.runtime import graphs
from vitrify.core.config import flags_guard
from vitrify.ir.ssa import Graph, Op, Value
from vitrify.ir.ssa_blocks import graph_of
from vitrify.ir.ssa_verify import VerifyError, graph_text, parse_graph, verify_graph
from vitrify.jit import segment
from vitrify.ops.elementwise import add_op
from vitrify.passes.pipeline import PASSES, differences, optimized, steps_of
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions

CASES = [*FUNCTIONS, *RECURSION][::2]
PLAIN = ExecutionOptions(passes=False)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_results_are_the_same_in_any_order(number, monkeypatch):
    """Forward and backward against the program as it was recorded, to the bit."""
    fn, calls = CASES[number]
    order = random.Random(number).sample(PASSES, len(PASSES))
    monkeypatch.setattr("vitrify.passes.pipeline.optimized", lambda graph, label: steps_of(graph, order)[-1].graph)
    found = {}
    for options in (PLAIN, ExecutionOptions()):

        def lowered(block, *args, options=options, **kwargs):
            return lower(block, *args, **{**kwargs, "options": options})

        monkeypatch.setattr(segment, "lower", lowered)
        static = paddle.jit.to_static(getattr(fn, "dygraph_function", fn))
        paddle.seed(number)
        found[options] = [repr(run(static, args)) for args in calls]
    assert found[PLAIN] == found[ExecutionOptions()]


@pytest.mark.parametrize("one", PASSES, ids=lambda one: one.name)
def test_each_pass_alone(one):
    for seed in range(12):
        main, inputs, outputs = graphs.program(seed, 30)
        graph = graph_of(main.global_block(), inputs, outputs)
        before = graph_text(graph)
        result = steps_of(graph, [one])[0].graph
        verify_graph(result)
        assert graph_text(graph) == before  # it is left as it was
        given = graphs.arrays(seed)
        paddle.seed(1)
        wanted = ran(graph, given)
        paddle.seed(1)
        assert same(ran(result, given), wanted)


def test_twice_is_once():
    for seed in range(8):
        main, inputs, outputs = graphs.program(seed, 30)
        once = optimized(graph_of(main.global_block(), inputs, outputs))
        assert optimized(once) is once


def test_a_graph_that_nothing_changes_is_itself():
    graph = traced(lambda x: paddle.matmul(x, x), [3, 3])
    assert optimized(graph) is graph


def test_what_passes_did_is_shown(tmp_path):
    graph = traced(lambda x: paddle.tanh(x * 1) + paddle.exp(x), [3])
    with flags_guard({"dump": "ssa,passes", "dump_dir": str(tmp_path)}):
        result = optimized(graph, "run_program forward")
    ssa, file = sorted(tmp_path.iterdir())
    assert ssa.name.endswith(".ssa.run_program_forward.txt") and ssa.read_text() == graph_text(graph)
    assert file.name.endswith(".passes.run_program_forward.diff")
    text = file.read_text()
    assert text.startswith(graph_text(graph))
    assert "--- simplify: " in text and "-  %multiply_0" in text and "+    body = block 1" in text
    assert text.count("no change") == 6
    assert differences(result, steps_of(result)).count("no change") == len(PASSES)


def test_debugging_verifies_each_pass():
    (x,) = traced(lambda x: x * 2, [2]).inputs
    broken = Graph((x,), (x,), (Op(add_op, (x, Value(x.meta)), (Value(x.meta),), {}),))
    with flags_guard({"debug": True}), pytest.raises(VerifyError, match="not defined before"):
        steps_of(broken, [PASSES[0]])


def test_a_value_is_defined_once():
    graph = traced(lambda x: paddle.tanh(x) * 2, [2])
    with pytest.raises(VerifyError, match="defined twice"):
        verify_graph(graph.with_(ops=[*graph.ops, graph.ops[0]]))
    with pytest.raises(VerifyError, match="not define"):
        verify_graph(graph.with_(ops=graph.ops[:1]))
    wrong = graph.ops[0].with_(inputs=(3.0,))
    with pytest.raises(VerifyError, match="among its operands"):
        verify_graph(graph.with_(ops=[wrong, *graph.ops[1:]]))


def test_parameters_written_twice_are_two_values():
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2])
        w = paddle.static.create_parameter([2], "float32", name="w")
        first = x + w
        paddle.assign(w * 2.0, output=w)
        second = x + w
    graph = graph_of(main.global_block(), [x, w], [first, second, w])
    given = [specials([2], "float32"), np.ones(2, "float32")]
    wanted = lower(main.global_block(), [x, w], [first, second, w], options=PLAIN)(*given)
    assert same(ran(graph, given), wanted)
    assert same(ran(parse_graph(graph_text(graph)), given), wanted)
