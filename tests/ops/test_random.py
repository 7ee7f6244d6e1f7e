"""Random ops: the same seed gives the same numbers on every path; distributions; dtypes; errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats

import vitrify as paddle
from vitrify.core.errors import ArgumentError, DTypeError
from vitrify.static import Executor, InputSpec, Program, data, program_guard

MANY = 20_000


def half() -> Any:
    return paddle.full([MANY], 0.5)


DRAWS: dict[str, Callable[[], Any]] = {
    "uniform": lambda: paddle.uniform([3, 5], min=-2.0, max=3.0),
    "uniform float64": lambda: paddle.uniform([3, 5], "float64"),
    "rand": lambda: paddle.rand([4, 4]),
    "randn": lambda: paddle.randn([3, 3]),
    "randn odd": lambda: paddle.randn([7], "float64"),
    "randn complex": lambda: paddle.randn([4], "complex64"),
    "standard_normal": lambda: paddle.standard_normal([4]),
    "normal": lambda: paddle.normal(1.0, 2.0, [6]),
    "normal of tensors": lambda: paddle.normal(paddle.ones([3]), paddle.full([2, 1], 2.0)),
    "log_normal": lambda: paddle.log_normal(0.0, 1.0, [4]),
    "randint": lambda: paddle.randint(-5, 5, [9]),
    "randint int32": lambda: paddle.randint(7, shape=[9], dtype="int32"),
    "randint_like": lambda: paddle.randint_like(paddle.ones([4]), 9),
    "rand_like": lambda: paddle.rand_like(paddle.ones([4])),
    "randn_like": lambda: paddle.randn_like(paddle.ones([4]), dtype="float64"),
    "randperm": lambda: paddle.randperm(11),
    "bernoulli": lambda: paddle.bernoulli(paddle.full([20], 0.3)),
    "bernoulli p": lambda: paddle.bernoulli(paddle.zeros([20]), p=0.7),
    "multinomial": lambda: paddle.multinomial(paddle.assign([1.0, 2.0, 3.0, 0.0]), 3),
    "multinomial with replacement": lambda: paddle.multinomial(paddle.ones([2, 3]), 9, True),
    "poisson": lambda: paddle.poisson(paddle.full([9], 4.0)),
    "standard_gamma": lambda: paddle.standard_gamma(paddle.full([9], 2.0)),
    "binomial": lambda: paddle.binomial(paddle.full([9], 10.0), paddle.full([9], 0.4)),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_same_seed_same_numbers_eagerly_and_in_programs(draw: Callable[[], Any]) -> None:
    paddle.seed(33)
    first, second = draw().numpy(), draw().numpy()
    assert not np.array_equal(first, second)
    paddle.seed(33)
    np.testing.assert_array_equal(draw().numpy(), first)
    main = Program()
    with program_guard(main, Program()):
        var = draw()
    assert list(var.shape) == list(first.shape)
    paddle.seed(33)
    for expected in (first, second):
        (got,) = Executor().run(main, feed={}, fetch_list=[var])
        np.testing.assert_array_equal(np.asarray(got), expected)


def test_shapes_known_only_at_run_time() -> None:
    main = Program()
    with program_guard(main, Program()):
        x = data("x", [None, 3], "float32")
        outs = [
            paddle.rand_like(x),
            paddle.randn_like(x),
            paddle.randint_like(x, 5),
            paddle.randperm(paddle.shape(x)[0]),
        ]
    got = Executor().run(main, feed={"x": np.zeros((4, 3), "float32")}, fetch_list=outs)
    assert [np.shape(g) for g in got] == [(4, 3), (4, 3), (4, 3), (4,)]


def fits(numbers: Any, distribution: Any) -> bool:
    return bool(scipy.stats.kstest(numbers.numpy().ravel(), distribution.cdf).pvalue > 1e-3)


def test_distributions() -> None:
    paddle.seed(7)
    assert fits(paddle.uniform([MANY], min=-1.0, max=3.0), scipy.stats.uniform(-1, 4))
    assert fits(paddle.randn([MANY]), scipy.stats.norm)
    assert fits(paddle.normal(2.0, 3.0, [MANY]), scipy.stats.norm(2, 3))
    assert fits(paddle.log_normal(0.0, 0.5, [MANY]), scipy.stats.lognorm(0.5))
    assert fits(paddle.standard_gamma(paddle.full([MANY], 2.5)), scipy.stats.gamma(2.5))
    assert fits(half().exponential_(2.0), scipy.stats.expon(scale=0.5))
    assert fits(half().cauchy_(1.0, 2.0), scipy.stats.cauchy(1, 2))
    assert fits(half().normal_(1.0, 2.0), scipy.stats.norm(1, 2))
    assert fits(half().uniform_(2.0, 3.0), scipy.stats.uniform(2, 1))
    assert fits(half().log_normal_(0.0, 0.5), scipy.stats.lognorm(0.5))
    assert fits(half().geometric_(0.5), scipy.stats.expon(scale=1 / np.log(2)))


def frequencies(numbers: Any, size: int) -> Any:
    return np.bincount(numbers.numpy().astype(int).ravel(), minlength=size)[:size] / numbers.size


def test_discrete_distributions() -> None:
    paddle.seed(8)
    np.testing.assert_allclose(frequencies(paddle.randint(0, 4, [MANY]), 4), 0.25, atol=0.02)
    np.testing.assert_allclose(frequencies(paddle.bernoulli(paddle.full([MANY], 0.3)), 2), [0.7, 0.3], atol=0.02)
    np.testing.assert_allclose(frequencies(half().bernoulli_(0.2), 2), [0.8, 0.2], atol=0.02)
    weights = paddle.to_tensor([1.0, 0.0, 3.0])
    np.testing.assert_allclose(frequencies(paddle.multinomial(weights, MANY, True), 3), [0.25, 0, 0.75], atol=0.02)
    rates = paddle.full([MANY], 2.0)
    np.testing.assert_allclose(
        frequencies(paddle.poisson(rates), 5), scipy.stats.poisson(2).pmf(np.arange(5)), atol=0.02
    )
    trials = paddle.binomial(paddle.full([MANY], 4.0), half())
    np.testing.assert_allclose(frequencies(trials, 5), scipy.stats.binom(4, 0.5).pmf(np.arange(5)), atol=0.02)
    rows = paddle.multinomial(paddle.expand(weights, [MANY, 3]), 2)
    np.testing.assert_allclose(frequencies(rows[:, 0], 3), [0.25, 0, 0.75], atol=0.02)
    assert (rows[:, 0].numpy() != rows[:, 1].numpy()).all()


def test_a_fixed_seed_repeats() -> None:
    np.testing.assert_array_equal(paddle.uniform([4], seed=5).numpy(), paddle.uniform([4], seed=5).numpy())


def test_dtypes() -> None:
    x = paddle.ones([2], "float64")
    assert paddle.rand([2]).dtype == paddle.float32
    assert paddle.randint(3).shape == [1] and paddle.randint(3).dtype == paddle.int64
    assert paddle.randint_like(x, 5).dtype == paddle.float64
    assert paddle.randint_like(x, 5, dtype="int32").dtype == paddle.int32
    assert paddle.randperm(3, "float32").dtype == paddle.float32
    assert paddle.bernoulli(x).dtype == paddle.float64
    assert paddle.multinomial(x).dtype == paddle.int64
    assert paddle.binomial(paddle.to_tensor([3]), paddle.to_tensor([0.5])).dtype == paddle.int64
    assert paddle.normal(1 + 1j, 1.0, [2]).dtype == paddle.complex64
    assert paddle.randn([2], "bfloat16").dtype == paddle.bfloat16
    assert paddle.ones([3], "int32").random_(0, 4).dtype == paddle.int32


def test_extreme_parameters() -> None:
    assert paddle.bernoulli(paddle.to_tensor([0.0, 1.0])).tolist() == [0, 1]
    assert paddle.binomial(paddle.to_tensor([5, 5, 0]), paddle.to_tensor([0.0, 1.0, 0.5])).tolist() == [0, 5, 0]
    assert paddle.poisson(paddle.to_tensor([0.0, -1.0])).tolist() == [0, 0]
    assert paddle.randperm(0).shape == [0]
    assert paddle.rand([0, 3]).shape == [0, 3]
    assert sorted(paddle.multinomial(paddle.to_tensor([0.5, 0.0, 0.5]), 2).tolist()) == [0, 2]
    huge = paddle.ones([100]).random_()
    assert float(huge.max()) < 2**24 and float(huge.min()) >= 0


def test_gradients_reach_the_mean_and_std_of_normal() -> None:
    mean, std = (paddle.to_tensor([v, v], stop_gradient=False) for v in (0.0, 2.0))
    drawn = paddle.normal(mean, std)
    drawn.backward(paddle.ones([2]))
    assert mean.grad.tolist() == [1, 1]
    np.testing.assert_allclose(std.grad.numpy(), drawn.numpy() / 2, rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: paddle.randint(3, 3, [2]), ArgumentError, "low=3 and high=3"),
        (lambda: paddle.randint(0), ArgumentError, "greater than 0"),
        (lambda: paddle.randint(0, 3, [2], "float32"), DTypeError, "integer type"),
        (lambda: paddle.rand([2], "int32"), DTypeError, "floating"),
        (lambda: paddle.randn([-1]), ArgumentError, "sizes >= 0"),
        (lambda: paddle.randperm(-1), ArgumentError, "n must be >= 0"),
        (lambda: paddle.bernoulli(paddle.to_tensor([1.5])), ArgumentError, r"in \[0, 1\]"),
        (lambda: paddle.bernoulli(paddle.to_tensor([1])), DTypeError, "floating"),
        (lambda: paddle.multinomial(paddle.to_tensor([0.0, 1.0]), 2), ArgumentError, "fewer positive weights"),
        (lambda: paddle.multinomial(paddle.to_tensor([-1.0, 1.0])), ArgumentError, "negative"),
        (lambda: paddle.multinomial(paddle.to_tensor([0.0, 0.0])), ArgumentError, "positive sum"),
        (lambda: paddle.multinomial(paddle.ones([2]), 0), ArgumentError, "num_samples"),
        (lambda: paddle.multinomial(paddle.ones([1, 1, 2])), ArgumentError, "1 or 2 dimensions"),
        (lambda: paddle.poisson(paddle.to_tensor([1])), DTypeError, "floating"),
        (lambda: paddle.binomial(paddle.to_tensor([1]), paddle.to_tensor([2.0])), ArgumentError, r"in \[0, 1\]"),
    ],
)
def test_errors(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def drawn_place(x):
    """Where a picture of unknown size is cropped."""
    top = paddle.randint(0, x.shape[0] - 3, [2])
    left = int(paddle.randint(x.shape[1] - 3))
    return x[:, left : left + 4], top, paddle.randint_like(x, x.sum().astype("int64"))


def test_bounds_of_integers_may_be_known_to_the_run_alone(tmp_path):
    spec = [InputSpec([None, None], "float32")]
    static = paddle.jit.to_static(drawn_place, input_spec=spec, full_graph=True)
    paddle.jit.save(static, str(tmp_path / "crop"))
    loaded = paddle.jit.load(str(tmp_path / "crop"))
    for rows, columns in ((5, 9), (20, 6)):
        x = paddle.arange(rows * columns).reshape([rows, columns]).astype("float32")
        results = []
        for call in (drawn_place, static, loaded):
            paddle.seed(7)
            results.append([out.numpy() for out in call(x)])
        for others in results[1:]:
            for want, found in zip(results[0], others, strict=True):
                assert want.dtype == found.dtype
                np.testing.assert_array_equal(want, found)


def test_an_empty_range_that_the_run_finds_raises_as_in_eager_code():
    def between(x):
        return paddle.randint(2, x.sum().astype("int64"), [3])

    static = paddle.jit.to_static(between, full_graph=True)
    assert static(paddle.ones([3])).tolist() == [2, 2, 2]
    for call in (between, static):
        with pytest.raises(ArgumentError, match="low=2 and high=1"):
            call(paddle.ones([1]))
