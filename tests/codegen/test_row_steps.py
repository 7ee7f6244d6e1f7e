"""Groups with reductions as steps of whole programs: the same bits as their kernels give by themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vitrify as paddle
from tests.codegen.test_pointwise import UNKNOWN, block_of, guarded
from tests.codegen.test_whole import check, numbers, program_of
from vitrify.codegen import whole
from vitrify.codegen.row_steps import RowLoop
from vitrify.core.dtype import as_dtype
from vitrify.ir.ssa_blocks import block_of as written
from vitrify.ir.ssa_blocks import graph_of
from vitrify.ops.normalization import layer_norm_op, norm_grad_op
from vitrify.passes.pipeline import optimized
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions

F = paddle.nn.functional
DTYPES = ["float32", "float64", "float16", "bfloat16"]
_NORM = {"axes": (1,), "param_axes": (1,), "groups": 0, "epsilon": 1e-5}


def fused_program(fn, *metas):
    """The program after all passes, so that what belongs together is one operator, and its block."""
    block = written(optimized(graph_of(block_of(fn, *metas))))
    found = whole.whole_program(block.inputs, block.ops, block.outputs)
    assert found is not None, whole.why_not(block.ops)
    return found, block


def check_fused(fn, *arrays, metas=None):
    """Compare the native program with its block run by the interpreter, to the bit; it has row loops."""
    program, block = fused_program(fn, *(metas or [(a.shape, a.dtype.name) for a in arrays]))
    found = program(arrays)
    assert found is not None
    assert any(isinstance(k, RowLoop) for k in program._kernels.values())
    wanted = lower(block, options=ExecutionOptions(passes=False, native="always"))(*arrays)
    for out, expected in zip(found, wanted, strict=True):
        assert out.dtype == expected.dtype and out.shape == expected.shape
        np.testing.assert_array_equal(out, expected)
    return program


def normed(x, w, b):
    """Three loops over a row with memory for one, and a number for each row as a result."""
    y = F.softmax(x * w)
    return F.layer_norm(y, [int(x.shape[-1])], w, b) if x.shape[-1] > 0 else y * b, (x * 2).max(-1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 2), (4, 5), (2, 3, 16), (7, 33)])
def test_rows_of_all_sizes(shape, dtype):
    x, w, b = (numbers(*s).astype(as_dtype(dtype).np) for s in (shape, shape[-1:], shape[-1:]))
    metas = [(a.shape, dtype) for a in (x, w, b)]
    program, block = fused_program(normed, *metas)
    wanted = lower(block, options=ExecutionOptions(passes=False, native="always"))(x, w, b)
    for out, expected in zip(program([x, w, b]), wanted, strict=True):
        np.testing.assert_array_equal(out.astype("float64"), expected.astype("float64"))


def gradients(ct, x, w):
    """Columns: gradients of what all rows share."""
    y = ct * F.softmax(x)
    return (y * w).sum(-1, keepdim=True) * y, y.sum(0), (y * x).mean(0, keepdim=True)


@pytest.mark.parametrize("shape", [(2, 3), (5, 7), (33, 16)])
def test_sums_over_rows(shape):
    check_fused(gradients, numbers(*shape), numbers(*shape, seed=1), numbers(shape[-1]))


def test_columns_alone():
    """Rows without results, and the mean of them."""
    check_fused(lambda x: ((x * 2 + 1).sum(0), (x * 2 + 1).mean([0])), numbers(9, 5))


@settings(max_examples=25, deadline=None)
@given(rows=st.integers(1, 9), size=st.integers(2, 40))
def test_one_program_is_for_all_sizes(rows, size):
    x = numbers(rows, size)
    (out,) = _SOFTMAX.program()([x])
    np.testing.assert_allclose(out, np.exp(x) / np.exp(x).sum(-1, keepdims=True) + 1, rtol=1e-5)


class _Once:
    def __init__(self):
        self.found = None

    def program(self):
        self.found = self.found or fused_program(lambda x: F.softmax(x) + 1, (UNKNOWN, "float32"))[0]
        return self.found


_SOFTMAX = _Once()


def test_layouts():
    """Rows that lie apart, turned and repeated ones."""
    program, _ = fused_program(lambda x, y: F.softmax(x + y), (UNKNOWN, "float32"), (UNKNOWN, "float32"))
    x, y = numbers(12, 8), numbers(12, 8, seed=1)
    repeated = np.broadcast_to(y[:1], (12, 8))
    for given_x, given_y in ((x[::2], y[::2]), (x.T, y.T), (x[:, ::-1], y), (np.asfortranarray(x), y), (x, repeated)):
        whole = np.exp((given_x + given_y).astype("float64"))
        (out,) = program([given_x, given_y])
        np.testing.assert_allclose(out, whole / whole.sum(-1, keepdims=True), rtol=1e-5)


def test_sizes_that_do_not_fit_are_left_to_the_interpreter():
    program, _ = fused_program(lambda x, y: F.softmax(x + y), (UNKNOWN, "float32"), (UNKNOWN, "float32"))
    assert program([numbers(3, 4), numbers(2, 4)]) is None


def test_composite_operators_alone_are_groups_of_their_own():
    """Programs that no pass has seen have them so."""

    def fn(x, w, b):
        y = F.layer_norm(x, [6], w, b)
        return F.softmax(y, axis=0) * 1, F.log_softmax(y)

    check(fn, numbers(5, 6), numbers(6), numbers(6))


def test_a_norm_and_its_gradient():
    def fn(ct, x, w, b):
        out, mean, rstd = layer_norm_op(x, w, b, **_NORM)
        return out, *norm_grad_op(ct, x, w, b, mean, rstd, **_NORM, with_params=True)

    check_fused(fn, numbers(6, 10), numbers(6, 10, seed=1), numbers(10), numbers(10, seed=2))


@pytest.mark.parametrize("count", [1, 7, 17])
def test_nothing_beside_the_arrays_is_touched(count):
    program = program_of(lambda x, y: F.softmax(x * y) * 1, ([-1, -1], "float32"), ([-1], "float32"))
    (x, kept_x), (y, kept_y) = guarded(3 * count, "float32"), guarded(count, "float32")
    x[:], y[:] = numbers(3 * count), 3
    check(lambda x, y: F.softmax(x * y) * 1, x.reshape(3, count), y, program=program)
    del kept_x, kept_y
