"""Pointwise kernels: arrays of all shapes and layouts, what they may touch, what they leave to others."""

import ctypes
import itertools
import mmap
import warnings

import numpy as np
import pytest

import vitrify as paddle
from vitrify.codegen.errors import NoNativeForm
from vitrify.codegen.native import NativeKernel, compiled, native_kernel, why_not
from vitrify.core.config import flags_guard
from vitrify.core.dtype import as_dtype
from vitrify.core.meta import Meta
from vitrify.testing.paths import record


def block_of(fn, *metas):
    """The closed block of a function of tensors, given as (shape, dtype)."""
    recorded = record(lambda v: fn(*v), [Meta(tuple(s), as_dtype(d)) for s, d in metas])
    block = recorded.program.global_block()
    block.outputs = list(recorded.outputs)
    return block


def kernel_of(fn, *metas) -> NativeKernel:
    return compiled(block_of(fn, *metas))


def chain(x, y):
    return (x * 1.5 + y).tanh() - y


UNKNOWN = (-1, -1)


def numbers(*shape, seed=0, dtype="float32"):
    return np.random.default_rng([seed, *shape]).uniform(-2, 2, shape).astype(dtype)


def eagerly(fn, *arrays):
    return fn(*[paddle.to_tensor(a) for a in arrays]).numpy()


def test_a_group_of_operators_becomes_one_function():
    kernel = kernel_of(chain, ([4, 5], "float32"), ([5], "float32"))
    x, y = numbers(4, 5), numbers(5)
    (out,) = kernel(x, y)
    np.testing.assert_allclose(out, eagerly(chain, x, y), rtol=1e-5, atol=1e-6)


SHAPES = [
    ((), ()), ((1,), (1,)), ((0,), (1,)), ((0, 3), (3,)), ((7,), (7,)), ((8,), (1,)), ((13, 1), (1, 17)),
    ((3, 5, 257), (5, 1)), ((31, 37), (37,)), ((2, 1, 3, 1), (5, 1, 11)), ((1021,), ()), ((4, 300), (4, 1)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_shapes_broadcast_as_they_do_in_numpy(dtype):
    rtol = {"float64": 1e-13, "float32": 2e-6, "float16": 4e-3, "bfloat16": 3e-2}[dtype]
    for a, b in SHAPES:
        kernel = kernel_of(chain, ((-1,) * len(a), dtype), ((-1,) * len(b), dtype))
        x, y = (numbers(*s, seed=i).astype(as_dtype(dtype).np) for i, s in enumerate((a, b)))
        (out,) = kernel(x, y)
        wanted = eagerly(chain, x, y)
        assert out.shape == wanted.shape and out.dtype == wanted.dtype
        np.testing.assert_allclose(out.astype(float), wanted.astype(float), rtol=rtol, atol=rtol)


def test_one_kernel_serves_all_sizes():
    kernel = kernel_of(chain, (UNKNOWN, "float32"), (UNKNOWN, "float32"))
    for rows, columns in ((1, 1), (2, 0), (5, 7), (64, 3), (3, 1000)):
        x, y = numbers(rows, columns), numbers(rows, columns, seed=1)
        np.testing.assert_allclose(kernel(x, y)[0], eagerly(chain, x, y), rtol=1e-5, atol=1e-6)


def test_groups_that_differ_in_sizes_share_their_code():
    kernels = [kernel_of(chain, ([n, 5], "float32"), ([n, 5], "float32")) for n in (3, 4)]
    assert kernels[0]._ufunc is kernels[1]._ufunc


@pytest.mark.parametrize("layout", [lambda a: a.T, lambda a: a[::-1, ::2], lambda a: a[1:, :-1], np.asfortranarray])
def test_layouts(layout):
    kernel = kernel_of(chain, (UNKNOWN, "float32"), (UNKNOWN, "float32"))
    x, y = layout(numbers(37, 41)), layout(numbers(37, 41, seed=1))
    np.testing.assert_allclose(kernel(x, y)[0], eagerly(chain, x, y), rtol=1e-5, atol=1e-6)


def test_an_element_gets_the_same_bits_wherever_it_stands():
    kernel = kernel_of(chain, ([-1], "float32"), ([-1], "float32"))
    x, y = numbers(1000), numbers(1000, seed=1)
    (whole,) = kernel(x, y)
    for start, stop in ((0, 1), (3, 8), (17, 999), (5, 300)):
        assert np.array_equal(kernel(x[start:stop], y[start:stop])[0], whole[start:stop])
    assert np.array_equal(kernel(x[::3], y[::3])[0], whole[::3])


def test_several_outputs():
    def fn(x, y):
        z = x * y
        return z, z > 0, z.astype("float64") + 1

    x, y = numbers(3, 19), numbers(3, 1)
    found = kernel_of(fn, ([3, 19], "float32"), ([3, 1], "float32"))(x, y)
    for out, wanted in zip(found, (x * y, x * y > 0, (x * y).astype(float) + 1)):
        assert out.dtype == wanted.dtype and np.array_equal(out, wanted)


def test_outputs_of_unlike_shapes_are_left_to_the_operators():
    kernel = kernel_of(lambda x, y: (x + 1, (x + 1) * y), (UNKNOWN, "float32"), (UNKNOWN, "float32"))
    assert kernel(numbers(3, 4), numbers(3, 4)) is not None
    assert kernel(numbers(1, 4), numbers(3, 4)) is None


def test_arrays_that_do_not_suit_are_left_to_the_operators():
    kernel = kernel_of(chain, (UNKNOWN, "float32"), (UNKNOWN, "float32"))
    assert kernel(numbers(3, 4), numbers(5, 4)) is None
    assert kernel(numbers(3, 4, dtype="float64"), numbers(3, 4)) is None
    assert kernel(numbers(3, 4), numbers(3, 4, dtype="float16")) is None


def test_what_is_computed_and_not_chosen_warns_of_nothing():
    kernel = kernel_of(lambda x: paddle.where(x > 0, x.log(), (1 / x).exp()), ([-1], "float32"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel(np.array([-1.0, 0.0, 1.0, np.nan, np.inf, 1e-40], "float32"))


def guarded(count, dtype):
    """An array that ends where its memory does: behind it lies a page that may not be touched."""
    size = np.dtype(dtype).itemsize * count
    page = mmap.PAGESIZE
    pages = -(-max(size, 1) // page)
    memory = mmap.mmap(-1, (pages + 2) * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    for at in (start, start + (pages + 1) * page):
        assert libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(page), 0) == 0
    array = np.frombuffer(memory, dtype, count, (pages + 1) * page - size)
    return array, memory


@pytest.mark.parametrize("count", [1, 7, 8, 9, 16, 31, 257, 1021])
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_nothing_beside_the_arrays_is_touched(count, dtype):
    kernel = kernel_of(lambda x, y: x * y + x, ([-1], dtype), ([-1], dtype))
    (x, kept_x), (y, kept_y), (out, kept_out) = (guarded(count, dtype) for _ in range(3))
    x[:], y[:] = numbers(count).astype(dtype), 3
    kernel._ufunc(x, y, out=out)
    assert np.array_equal(out, x * y + x)
    del kept_x, kept_y, kept_out


def test_a_result_takes_the_place_of_an_array_that_nobody_else_has():
    kernel = kernel_of(lambda x, y: x * 2 + y, (UNKNOWN, "float32"), ([-1], "float32"))
    arrays = [numbers(300, 400), numbers(400)]
    wanted = arrays[0] * 2 + arrays[1]
    address = arrays[0].ctypes.data
    (out,) = kernel.run(arrays)
    assert out.ctypes.data == address and np.array_equal(out, wanted)
    held = numbers(300, 400)
    (other,) = kernel.run([held, arrays[1]])
    assert not np.shares_memory(other, held)


def test_what_has_no_native_form_says_why():
    assert "erfinv" in why_not(block_of(lambda x: paddle.erfinv(x) + 1, ([3], "float32")))
    assert "complex" in why_not(block_of(lambda x: x + 1, ([3], "complex64")))
    assert "sum" in why_not(block_of(lambda x: x.sum() + 1, ([3], "float32")))
    assert native_kernel(block_of(lambda x: paddle.erfinv(x), ([3], "float32"))) is None
    assert why_not(block_of(chain, ([3], "float32"), ([3], "float32"))) == ""


def test_with_the_flag_off_nothing_is_compiled():
    block = block_of(chain, ([3], "float32"), ([3], "float32"))
    with flags_guard({"native": False}), pytest.raises(NoNativeForm):
        compiled(block)


def test_a_dump_shows_the_users_lines(tmp_path):
    with flags_guard({"dump": "kernels", "dump_dir": str(tmp_path)}):
        kernel_of(lambda x: x.cos() * 7.25, ([3], "float32"))
    (text,) = [path.read_text() for path in tmp_path.iterdir() if "compute0" in path.read_text()]
    assert "; multiply, " in text and "x.cos() * 7.25" in text


LAYOUTS = {
    "side by side": lambda x: x,
    "apart": lambda x: np.repeat(x, 2)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "one element": lambda x: np.broadcast_to(x[0], x.shape),
}


@pytest.mark.parametrize("size", [1, 15, 16, 255, 256, 257, 512, 515, 1040])
def test_operands_give_the_same_bits_however_they_lie(size):
    """Blocks read and write what lies side by side in its place, and the rest in buffers."""
    kinds = [([size], "bool"), ([size], "float32"), ([size], "float64")]
    kernel = compiled(
        block_of(lambda m, x, y: (paddle.where(m, paddle.tanh(x), x * 3), y * y - x.astype("float64")), *kinds)
    )
    rng = np.random.default_rng(size)
    plain = [rng.random(size) > 0.5, rng.standard_normal(size).astype("float32"), rng.standard_normal(size)]
    for layouts in itertools.product(LAYOUTS.values(), repeat=3):
        given = [lay(x) for lay, x in zip(layouts, plain)]
        wanted = kernel(*[np.ascontiguousarray(x) for x in given])
        outs = [np.full(2 * size + 2, 7, w.dtype) for w in wanted]
        kernel.write(given, [outs[0][1 : size + 1], outs[1][1 : 2 * size + 1 : 2]])
        for found, expected in zip((*kernel(*given), outs[0][1 : size + 1], outs[1][1 : 2 * size + 1 : 2]), wanted * 2):
            assert found.tobytes() == expected.tobytes()
        assert outs[0][0] == outs[0][-1] == 7 and (outs[1][::2] == 7).all()
