"""Short loops go over whole vectors where nothing else lies behind their arrays, and give the same."""

import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_whole import eagerly, numbers, program_of
from vitrify.codegen.elements import over
from vitrify.codegen.operands import ARENA, INPUT, OUTPUT, Buffer, Operand, Step
from vitrify.codegen.whole_vectors import fill_vectors

FLOAT, LONG, WIDE = np.dtype("float32"), np.dtype("int64"), np.dtype("float64")
LANES = 16


def array(count, dtype=FLOAT, kind=ARENA, offset=0, step=None, size=None):
    return Operand(
        Buffer(kind, size or offset + count * dtype.itemsize), offset, (count,),
        (dtype.itemsize if step is None else step,), dtype,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("operands", "size"),
    [
        ([array(3), array(3)], 16),
        ([array(16), array(16)], 16),
        ([array(17), array(17)], 32),
        ([array(3), array(3, np.dtype(bool))], 16),
        ([array(3, offset=64), array(3)], 16),
        ([array(3, kind=INPUT, step=0, size=4), array(3)], 16),
        # Of an input or result nothing is known beyond its end.
        ([array(3, kind=INPUT), array(3)], 3),
        ([array(3), array(3, kind=OUTPUT)], 3),
        # Something lies behind it, or too little.
        ([array(3, size=16), array(3)], 3),
        ([array(3), array(3, offset=8, size=64)], 3),
        ([array(3, offset=8), array(3)], 3),
        ([array(3, WIDE), array(3, WIDE)], 3),
        ([array(9, WIDE), array(9, WIDE)], 16),
        # Not side by side; integers could be divided by.
        ([array(3, step=8, size=20), array(3)], 3),
        ([array(3, LONG), array(3)], 3),
    ],
)
def test_which_loops_are_filled(operands, size):
    count = operands[-1].shape[0]
    step = Step("over_elements", over(7, 0, operands, (count,)))
    fill_vectors([step], 7, LANES)
    assert step.words[3] == size
    other = Step("over_elements", over(8, 0, operands, (count,)))
    fill_vectors([other], 7, LANES)
    assert other.words[3] == count


@pytest.mark.parametrize("size", [1, 2, 5, 15, 16, 17, 33])
def test_results_stay(size):
    def fn(x, y):
        narrow = paddle.tanh((x * y).sum(-1))
        longer = paddle.exp(paddle.matmul(x, y.T))
        return narrow * 2 - longer, (narrow > 0).astype("float64") / narrow.astype("float64"), longer.sum() / narrow

    arrays = numbers(size, 3) / 8, numbers(size, 3) / 8  # small: exp would multiply what products round
    found = program_of(fn, *[(a.shape, a.dtype.name) for a in arrays])(arrays)
    for out, wanted in zip(found, eagerly(fn, *arrays), strict=True):
        np.testing.assert_allclose(out, wanted, rtol=1e-5)
