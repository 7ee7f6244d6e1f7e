"""Batch norm and its gradient as steps of native programs: what NumPy's kernels give, however arrays lie."""

import numpy as np
import pytest

from tests.codegen.test_pointwise import block_of, guarded
from vitrify.codegen.llvm import why_not_here
from vitrify.codegen.whole import whole_program
from vitrify.core.config import flags_guard
from vitrify.ops.batch_norm import batch_norm_op
from vitrify.ops.normalization import group_norm_op, norm_grad_op

pytestmark = pytest.mark.skipif(bool(why_not_here()), reason="nothing can be compiled here")
F32 = np.dtype(np.float32)
GROUPED = [
    ((2, 6, 3, 5), 3),
    ((4, 8, 40, 41), 1),
    ((3, 32, 1000), 32),
    ((1, 4, 2, 3, 4), 2),
    ((8, 64, 28, 28), 8),
    ((5, 6), 2),
]
SHAPES = [
    (2, 1, 1, 1), (1, 3, 1, 5), (8, 5, 4, 4), (3, 17, 7, 5), (16, 4, 3), (37, 6), (2, 64, 30, 31), (5, 2, 3, 4, 2)
]  # fmt: skip


def lying(x, order):
    """The same array whose dimensions lie in memory in this order, between pages that nobody may touch."""
    memory, kept = guarded(x.size, F32)
    seen = memory.reshape([x.shape[d] for d in order]).transpose([order.index(d) for d in range(x.ndim)])
    seen[...] = x
    return seen, kept


def attributes(ndim, channel):
    return {"axes": tuple(d for d in range(ndim) if d != channel), "param_axes": (channel,), "groups": 0,
            "epsilon": 1e-5}  # fmt: skip


def results(op, given, attrs):
    """What the native form gives; it must have one."""
    there = [v for v in given if v is not None]

    def fn(*xs):
        rest = iter(xs)
        return op(*[None if v is None else next(rest) for v in given], **attrs)

    block = block_of(fn, *[(v.shape, v.dtype.name) for v in there])
    return whole_program(block.inputs, block.ops, block.outputs, is_part=True)(there)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", SHAPES)
def test_batch_norm_and_its_gradient(shape, threads):
    rng = np.random.default_rng([*shape, threads])
    orders = [list(rng.permutation(len(shape))) for _ in range(3)] + [list(range(len(shape)))]
    with flags_guard({"num_threads": threads}):
        for order in orders:
            channel = 1
            x, kept_x = lying(rng.standard_normal(shape).astype(F32) * 2 + 3, order)
            ct, kept_ct = lying(rng.standard_normal(shape).astype(F32), order if rng.integers(2) else orders[0])
            mean, var, weight, bias = (rng.random(shape[channel]).astype(F32) + 0.5 for _ in range(4))
            params = [None if rng.integers(3) == 0 else p for p in (weight, bias)]
            attrs = attributes(len(shape), channel)
            given = (x, mean, var, *params)
            found = results(batch_norm_op, given, {**attrs, "momentum": 0.9})
            expected = batch_norm_op.on_numpy(*given, **attrs, momentum=0.9)
            for one, other in zip(found, expected):
                np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-5)
            given = (ct, x, *params, expected[1], expected[2])
            found = results(norm_grad_op, given, {**attrs, "with_params": True})
            for one, other in zip(found, norm_grad_op.on_numpy(*given, **attrs, with_params=True)):
                scale = max(1.0, float(np.abs(other).max(initial=0)))
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=2e-5 * scale)
            del kept_x, kept_ct


def test_sums_of_long_rows_lose_little():
    rng = np.random.default_rng(1)
    x = (rng.standard_normal((3, 2, 300, 307)) + 1000).astype(F32)
    ones, zeros = np.ones(2, F32), np.zeros(2, F32)
    attrs = {**attributes(4, 1), "momentum": 0.0}
    with flags_guard({"num_threads": 1}):
        found = results(batch_norm_op, (x, zeros, ones, ones, zeros), attrs)
    exact = x.astype(np.float64)
    np.testing.assert_allclose(found[3], exact.mean((0, 2, 3)), rtol=1e-7)
    np.testing.assert_allclose(found[4], exact.var((0, 2, 3)), rtol=1e-5)


def test_results_lie_as_what_they_are_made_of():
    """Between native calls and NumPy's kernels arrays keep their order: nobody brings them into another and back."""
    rng = np.random.default_rng(2)
    x = np.moveaxis(rng.standard_normal((4, 5, 6, 8)).astype(F32), -1, 0)
    given = (x, np.zeros(4, F32), np.ones(4, F32), None, None)
    found = results(batch_norm_op, given, {**attributes(4, 1), "momentum": 0.9})[0]
    assert found.strides == x.strides and found.flags.owndata
    np.testing.assert_allclose(found.copy("C"), batch_norm_op.on_numpy(*given, **attributes(4, 1), momentum=0.9)[0],
                               rtol=1e-5, atol=1e-5)  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("shape", "groups"), GROUPED)
def test_the_gradient_of_norms_of_groups(shape, groups, dtype):
    rng = np.random.default_rng([*shape, groups])
    attrs = {"axes": tuple(range(2, len(shape) + 1)), "param_axes": (1,), "groups": groups, "epsilon": 1e-5}
    x, ct = ((rng.standard_normal(shape) * 2 + 3).astype(dtype) for _ in range(2))
    spread = np.broadcast_to(np.asarray(0.25, dtype), shape)
    for flowing in (ct, spread, np.ascontiguousarray(ct.T).T):
        for params in ((True, True), (True, False), (False, True), (False, False)):
            weight, bias = (rng.standard_normal(shape[1]).astype(dtype) if p else None for p in params)
            _, mean, rstd = group_norm_op.on_numpy(x, weight, bias, **attrs)
            for with_params in (True, False):
                given, more = (flowing, x, weight, bias, mean, rstd), {**attrs, "with_params": with_params}
                found, wanted = results(norm_grad_op, given, more), norm_grad_op.on_numpy(*given, **more)
                for one, other in zip(found, wanted, strict=True):
                    assert one.dtype == other.dtype and one.shape == other.shape
                    scale = 3e-5 if dtype == "float32" else 1e-12
                    np.testing.assert_allclose(
                        one, other, rtol=scale, atol=scale * max(1, np.abs(other).max(initial=0))
                    )
