"""Composite operators in simpler ones: the same values, dtypes and shapes, on every case of the tables."""

import functools
import importlib

import numpy as np
import pytest

from tests.passes.programs import ran, traced
from vitrify.core.dtype import as_dtype
from vitrify.ir.decompose import decomposed, expanded
from vitrify.ir.ssa_blocks import graph_of
from vitrify.ops.dropout import masked_scale_op
from vitrify.ops.registry import all_ops
from vitrify.testing.paths import Call, metas_of, record

COMPOSITE = {op.name for op in all_ops() if op.decompose is not None}
TABLES = (
    "cases_activation", "cases_gather", "cases_layers", "cases_norm", "cases_reduce", "cases_structured_losses",
    "cases_vision",
)  # fmt: skip
CLOSE = {8: (1e-10, 1e-12), 4: (2e-5, 2e-6), 2: (2e-2, 1e-2)}


def test_softmax_in_simpler_operators():
    import vitrify as paddle

    graph = expanded(traced(lambda x: paddle.nn.functional.softmax(x), [2, 3]))
    assert [op.op.name for op in graph.ops] == ["max", "subtract", "exp", "sum", "divide"]


def check(case, dtype):
    """The composite ops among a case's operators, in this dtype, once they were compared."""
    call = Call(case)
    arrays = [a.astype(as_dtype(dtype).np) if a.dtype == np.float64 else a for a in call.arrays]
    recorded = record(call.on, metas_of(arrays), case.grad)
    cts = [v for v in recorded.cts if v.meta.is_static]
    if len(cts) < len(recorded.cts):
        return set()
    arrays += [np.random.default_rng(0).uniform(-1, 1, v.meta.shape).astype(v.meta.dtype.np) for v in cts]
    wanted = [*recorded.outputs, *[g for g in recorded.grads if g is not None]]
    graph = graph_of(recorded.program.global_block(), [*recorded.inputs, *cts], wanted)
    reached = {op.op.name for op in graph.ops if decomposed(op) is not None}
    if not reached:
        return reached
    with np.errstate(all="ignore"):
        for a, b in zip(*[ran(g, arrays) for g in (expanded(graph), graph)], strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape, case
            np.testing.assert_allclose(a.astype(float), b.astype(float), *CLOSE[a.itemsize], err_msg=str(case))
    return reached


@functools.cache
def reached(dtype):
    found = set()
    for table in TABLES:
        for case in importlib.import_module(f"tests.ops.{table}").CASES:
            if case.static and (dtype == "float64" or dtype in case.dtypes):
                found |= check(case, dtype)
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_cases_of_the_tables(dtype):
    reached(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_a_mask_that_a_dropout_drew(dtype):
    """The tables draw nothing at random, so dropout's gradient has its own case."""
    graph = traced(lambda x, mask: masked_scale_op(x, mask, factor=1.25), ([4], dtype), ([4], "bool"))
    arrays = [np.array([1.5, -0.0, np.inf, np.nan]).astype(as_dtype(dtype).np), np.array([True, False, True, False])]
    assert [op.op for op in graph.ops] == [masked_scale_op] != [op.op for op in expanded(graph).ops]
    (a,), (b,) = ran(expanded(graph), arrays), ran(graph, arrays)
    assert a.dtype == b.dtype
    np.testing.assert_array_equal(a.astype(float), b.astype(float))


def test_every_composite_op_is_reached():
    assert reached("float64") == COMPOSITE - {masked_scale_op.name}
