"""Sizes that are not finite, or that no array can have: one clear error, with the size, eagerly and in programs."""

import math

import pytest

import vitrify as paddle
from vitrify.core.config import flags_guard
from vitrify.core.errors import ArgumentError, OutOfMemoryError, UserCodeError
from vitrify.ops.creation import _below
from vitrify.ops.meta_rules import MOST_BYTES

F = paddle.nn.functional
IMAGE = paddle.ones([1, 1, 4, 4])
OF_SHAPES = {
    "full": lambda x, s: paddle.full(s, 1.0),
    "zeros": lambda x, s: paddle.zeros(s),
    "empty": lambda x, s: paddle.empty(s),
    "rand": lambda x, s: paddle.rand(s),
    "randn": lambda x, s: paddle.randn(s),
    "normal": lambda x, s: paddle.normal(0.0, 1.0, s),
    "randint": lambda x, s: paddle.randint(0, 5, s),
    "expand": lambda x, s: x[:1, 0].reshape([1] * len(s)).expand(s),
    "tile": lambda x, s: paddle.tile(x, s),
    "pad": lambda x, s: F.pad(IMAGE, (s * 4)[:4]),
    "zeropad2d": lambda x, s: F.zeropad2d(IMAGE, (s * 4)[:4]),
    "interpolate": lambda x, s: F.interpolate(IMAGE, size=(s * 2)[:2]),
    "adaptive pooling": lambda x, s: F.adaptive_avg_pool2d(IMAGE, (s * 2)[:2]),
    "scatter_nd": lambda x, s: paddle.scatter_nd(paddle.to_tensor([[0] * len(s)]), x[0, :1], s),
    "affine_grid": lambda x, s: F.affine_grid(paddle.ones([1, 2, 3]), [1, 1, *(s * 2)[:2]]),
    "create_parameter": lambda x, s: paddle.create_parameter(s, "float32"),
    "reshape": lambda x, s: paddle.reshape(x, s),
    "crop": lambda x, s: paddle.crop(x, shape=(s * 2)[:2]),
}
HUGE = {"2**62": [1 << 62], "2**63": [1 << 63], "a product": [1 << 40, 1 << 40], "of nothing": [0, 1 << 40, 1 << 40]}
OF_NUMBERS = {
    "eye": lambda x, n: paddle.eye(n),
    "arange": lambda x, n: paddle.arange(n),
    "linspace": lambda x, n: paddle.linspace(0, 1, n),
    "logspace": lambda x, n: paddle.logspace(0, 1, n),
    "tril_indices": lambda x, n: paddle.tril_indices(n, n),
    "triu_indices": lambda x, n: paddle.triu_indices(n, n),
    "randperm": lambda x, n: paddle.randperm(n),
    "repeat_interleave": lambda x, n: paddle.repeat_interleave(x, n),
    "one_hot": lambda x, n: F.one_hot(paddle.to_tensor([0, 1]), n),
    "bincount": lambda x, n: paddle.bincount(paddle.to_tensor([0, 1]), minlength=n),
    "histogram": lambda x, n: paddle.histogram(x, n),
    "vander": lambda x, n: paddle.vander(x[0], n),
    "diag": lambda x, n: paddle.diag(x[0], n),
    "diag_embed": lambda x, n: paddle.diag_embed(x, n),
    "combinations": lambda x, n: paddle.combinations(x[0], n, with_replacement=True),
    "sequence_mask": lambda x, n: F.sequence_mask(paddle.to_tensor([1, 2]), n),
    "fft": lambda x, n: paddle.fft.fft(x, n),
    "multinomial": lambda x, n: paddle.multinomial(x[0], n, True),
    "scale_factor": lambda x, n: F.interpolate(IMAGE, scale_factor=n),
    "conv padding": lambda x, n: F.conv2d(IMAGE, paddle.ones([1, 1, 2, 2]), padding=n),
    "get_window": lambda x, n: paddle.audio.functional.get_window("hamming", n),
    "create_dct": lambda x, n: paddle.audio.functional.create_dct(n, n),
    "Linear": lambda x, n: paddle.nn.Linear(n, n),
    "Embedding": lambda x, n: paddle.nn.Embedding(n, n),
}


def raised(fn, *args):
    """The error of a call, eagerly and compiled: a ValueError, or one of working memory."""
    with pytest.raises(UserCodeError) as eagerly:
        fn(*args)
    with flags_guard({"native_after_ms": 0}), pytest.raises(UserCodeError) as compiled:
        paddle.jit.to_static(fn, full_graph=True)(*args)
    assert all(isinstance(found.value, (ValueError, OutOfMemoryError)) for found in (eagerly, compiled))
    return eagerly.value


@pytest.mark.parametrize("sizes", HUGE)
@pytest.mark.parametrize("name", OF_SHAPES)
def test_shapes_that_no_array_has(name, sizes):
    err = raised(lambda x: OF_SHAPES[name](x, HUGE[sizes]), paddle.ones([2, 3]))
    assert len(str(err)) < 500


@pytest.mark.parametrize("number", [1 << 60, 1 << 62, 1 << 63, math.inf, math.nan, 1e30])
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_numbers_that_no_size_is(name, number):
    raised(lambda x: OF_NUMBERS[name](x, number), paddle.ones([2, 3]))


@pytest.mark.parametrize(
    "bounds", [(0, math.inf, 1), (-math.inf, 0, 1), (0, math.nan, 1), (0, 1, math.nan), (0, 1, 1e-30), (0, 1e30, 1)]
)
def test_ranges_without_an_end(bounds):
    raised(lambda x: paddle.arange(*bounds), paddle.ones([1]))


def test_the_error_tells_the_planned_size():
    with pytest.raises(ArgumentError, match=r"full: the result float32\[4611686018427387904\] takes 16.0 EiB, more"):
        paddle.full([1 << 62], 1.0)
    with pytest.raises(OutOfMemoryError, match=r"full: there is not enough memory for float32\[.*\] of 4.0 TiB"):
        paddle.full([1 << 40], 1.0)
    with pytest.raises(OutOfMemoryError, match="create_parameter: there is not enough memory"):
        paddle.create_parameter([1 << 40], "float32")
    with pytest.raises(OutOfMemoryError, match=r"adaptive_avg_pool: there is not enough memory .* of 4.0 TiB"):
        F.adaptive_avg_pool1d(paddle.ones([1, 1, 4]), 1 << 40)


SIZES_OF_THE_RUN = {
    "full": lambda n: paddle.full([n], 1.0),
    "expand": lambda n: paddle.ones([1]).expand([n]),
    "tile": lambda n: paddle.tile(paddle.ones([2]), [n]),
    "randn": lambda n: paddle.randn([n]),
    "arange": lambda n: paddle.arange(n),
    "repeat_interleave": lambda n: paddle.repeat_interleave(paddle.ones([2]), paddle.stack([n, n])),
    "linspace": lambda n: paddle.linspace(0.0, 1.0, n),
    "interpolate": lambda n: F.interpolate(IMAGE, size=[n, n]),
}


@pytest.mark.parametrize("name", SIZES_OF_THE_RUN)
def test_sizes_that_only_the_run_knows(name):
    fn = SIZES_OF_THE_RUN[name]
    compiled = paddle.jit.to_static(fn, full_graph=True)
    with flags_guard({"native_after_ms": 0}):
        for n in (2, 3, 4):
            assert compiled(paddle.to_tensor(n)).shape == fn(paddle.to_tensor(n)).shape
        for call in (compiled, fn):
            with pytest.raises(ArgumentError):
                call(paddle.to_tensor(1 << 62))
            with pytest.raises((OutOfMemoryError, ArgumentError)):
                call(paddle.to_tensor(1 << 43))


def test_numbers_that_no_integer_of_64_bits_is():
    for diagonal in (1 << 70, -(1 << 70)):
        with pytest.raises(ArgumentError, match="tril: a number is too large for an integer of 64 bits, got diagonal="):
            paddle.tril(paddle.ones([2, 3]), diagonal)


def test_windows_far_larger_than_the_input_see_what_there_is():
    x = paddle.arange(16, dtype="float32").reshape([1, 1, 4, 4])
    assert F.max_pool2d(x, 1 << 40).tolist() == [[[[15.0]]]]
    assert F.avg_pool2d(x, 1 << 20, exclusive=True).shape == [1, 1, 1, 1]


def test_the_number_of_places_of_a_triangle_takes_no_memory():
    for rows in range(5):
        for cols in range(5):
            for first in range(-7, 8):
                assert _below(rows, cols, first) == sum(min(max(first + i, 0), cols) for i in range(rows))
    assert paddle.tril_indices(3, 4, 1).shape == [2, 9] and paddle.triu_indices(3, 4, 1).shape == [2, 6]


def test_sizes_up_to_the_last_are_let_pass():
    assert paddle.zeros([0, MOST_BYTES // 4]).shape == [0, MOST_BYTES // 4]
