"""NumPy's own inner loops, called where `loops_of` says they are."""

import ctypes

import numpy as np
import pytest

from vitrify.codegen.ufunc_loops import loops_of

UFUNCS = [np.add, np.subtract, np.multiply, np.true_divide, np.floor_divide, np.remainder, np.less, np.bitwise_xor]
LOOP = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


def run(loop, x, y, out):
    pointers = (ctypes.c_void_p * 3)(x.ctypes.data, y.ctypes.data, out.ctypes.data)
    steps = (ctypes.c_int64 * 3)(x.itemsize, y.itemsize, out.itemsize)
    size = ctypes.c_int64(len(x))
    LOOP(loop.function)(pointers, ctypes.byref(size), steps, loop.data)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
def test_each_loop_computes_what_its_ufunc_does(ufunc):
    loops = loops_of(ufunc)
    assert list(loops) == ufunc.types
    for types in set(loops) & {f"{c}{c}->{r}" for c in "fdilBFD" for r in (c, "?")}:
        x, y = np.arange(1, 6).astype(types[0]), np.arange(6, 1, -1).astype(types[1])
        out = np.empty(5, types[-1])
        run(loops[types], x, y, out)
        np.testing.assert_array_equal(out, ufunc(x, y))
