"""Every case of the op tables, with its gradient, on the simulated device and on streams of the CPU: the same bits.

The simulated device draws how far its streams are when another looks, and reports each access that nothing orders.
"""

from __future__ import annotations

import importlib
import random
from pathlib import Path

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.place import CPUPlace, SimulatedPlace
from vitrify.ir.ssa_blocks import graph_of
from vitrify.ir.ssa_verify import graph_text, parse_graph, verify_graph
from vitrify.passes.pipeline import PASSES, steps_of
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions
from vitrify.testing.paths import Call, is_inexact, metas_of, record

FOLDER = Path(__file__).parents[1] / "ops"
TABLES = sorted(path.stem for path in FOLDER.glob("cases_*.py"))
COLLECTORS = ("fast", "event", "none")
FAST = 6
"""One of so many cases of a table runs each time; the others with the slow tests."""


def cases_of(table):
    return [case for case in importlib.import_module(f"tests.ops.{table}").CASES if case.static]


def programs_of(case):
    """The programs of a case (exact and unknown sizes), each with inputs, wanted outputs, and arrays to give."""
    call = Call(case)
    for unknown in {False, case.dynamic}:
        recorded = record(call.on, metas_of(call.arrays, unknown), case.grad)
        wanted = [*recorded.outputs, *[g for g in recorded.grads if g is not None]]
        yield recorded, [*recorded.inputs, *recorded.cts], wanted, call


def given_to(recorded, call):
    """The case's arrays, and ones for the cotangents. Backward may raise without those, so forward runs by itself."""
    forward = record(call.on, [v.meta for v in recorded.inputs], False)
    values = lower(forward.program.global_block(), forward.inputs, forward.outputs)(*call.arrays)
    flowing = [np.asarray(v) for v, var in zip(values, recorded.outputs) if is_inexact(var) and not var.stop_gradient]
    return [*call.arrays, *[np.ones_like(v) for v in flowing][: len(recorded.cts)]]


def bits(core, arrays):
    paddle.seed(5)
    return [np.asarray(v).tobytes() for v in core(*[a.copy() for a in arrays])]


def check_passes(block, inputs, wanted, number):
    """What passes in any order make of the program is well formed, and reads back from its text."""
    graph = graph_of(block, inputs, wanted)
    found = steps_of(graph, random.Random(number).sample(PASSES, len(PASSES)))[-1].graph
    verify_graph(found)
    text = graph_text(found)
    assert graph_text(parse_graph(text)) == text


def check(case, number):
    for recorded, inputs, wanted, call in programs_of(case):
        block = recorded.program.global_block()
        paddle.seed(5)
        arrays = given_to(recorded, call)
        expected = bits(lower(block, inputs, wanted, options=ExecutionOptions(serial=True, passes=False)), arrays)
        check_passes(block, inputs, wanted, number)
        optimized = bits(lower(block, inputs, wanted, options=ExecutionOptions(serial=True)), arrays)
        assert optimized == expected, f"{case.name}, optimized"
        collector = COLLECTORS[number % 3]
        for place in (SimulatedPlace(number), CPUPlace()):
            core = lower(block, inputs, wanted, place=place, options=ExecutionOptions(mode="streams", gc=collector))
            assert core.choice.mode == "streams" or core.suspends, core.choice
            for _ in range(2):
                assert bits(core, arrays) == expected, f"{case.name} on {place}"


@pytest.fixture(autouse=True)
def _small_arrays_are_overwritten(monkeypatch):
    monkeypatch.setattr("vitrify.runtime.inplace.LEAST_BYTES", 0)


def check_all(numbered):
    failures = []
    for number, case in numbered:
        try:
            check(case, number)
        except Exception as err:  # noqa: BLE001 - all failures of a table at once
            failures.append(f"{case.name}: {type(err).__name__}: {str(err)[:300]}")
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("table", TABLES)
def test_some_ops_on_streams(table):
    check_all([*enumerate(cases_of(table))][::FAST])


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_every_other_op_on_streams(table):
    check_all([(number, case) for number, case in enumerate(cases_of(table)) if number % FAST])
