"""Graphs for tests of passes: traced from functions, run as they are, compared bit by bit."""

from __future__ import annotations

import numpy as np

import vitrify as paddle
from vitrify.ir.ssa_blocks import block_of, graph_of
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions

PLAIN = ExecutionOptions(passes=False, mode="trace")


def traced(build, *specs):
    """The graph of `build` on inputs of these shapes, or (shape, dtype)."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        inputs = [
            paddle.static.data(f"x{i}", *spec) if isinstance(spec, tuple) else paddle.static.data(f"x{i}", spec)
            for i, spec in enumerate(specs)
        ]
        found = build(*inputs)
    return graph_of(main.global_block(), inputs, list(found) if isinstance(found, (list, tuple)) else [found])


def names(graph):
    """The operators' names."""
    return [op.op.name for op in graph.ops]


def ran(graph, arrays):
    """What the graph gives, its operators run as they are."""
    return lower(block_of(graph), options=PLAIN)(*[a.copy() for a in arrays])


def same(got, want):
    """Whether arrays have the same dtypes, shapes and bits; any NaN is like any other."""
    for a, b in zip(got, want, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if a.dtype.kind in "fV":
            nan = np.isnan(a.astype("float64"))
            if (nan != np.isnan(b.astype("float64"))).any():
                return False
            a, b = np.where(nan, a.dtype.type(0), a), np.where(nan, b.dtype.type(0), b)
        if a.tobytes() != b.tobytes():
            return False
    return True


def specials(shape, dtype, seed=0):
    """Random values of a dtype with its zeros, infinities, NaN and extremes among them."""
    dtype = np.dtype(dtype)
    made = np.random.default_rng(seed)
    count = int(np.prod(shape))
    if dtype.kind == "b":
        return made.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        edges = [0, 1, info.min, info.max, 2]
        values = made.integers(-100 if dtype.kind == "i" else 0, 100, count).astype(dtype)
    else:
        edges = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-45, 65504.0, 3e38]
        values = (made.standard_normal(count) * 10.0 ** made.integers(-3, 4, count)).astype(dtype)
    with np.errstate(over="ignore"):
        values[: len(edges)] = np.array(edges[:count]).astype(dtype)
    return values.reshape(shape)
