"""Native programs that raise: assertions and exceptions end a run as they end eager code."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.aot import load
from vitrify.static import InputSpec

GOOD, BAD = [2.0, 1.0], [-1.0, 0.5]


def asserts(x):
    assert (x > 0).all(), "x must be positive: 100%"
    return x * 2


def says_values(x):
    total = x.sum()
    assert total > 0, f"the sum is {total}, not positive"
    return x * 2


def asserts_on_a_path(x):
    if x.sum() < 0:
        assert x.max() > 5, "too small"
        x = x * 2
    return x + 1


def asserts_in_a_loop(x):
    n = paddle.zeros([], "int64")
    while n < 3:
        assert (x + n > 0).all()
        n = n + 1
    return x * n


def raises(x):
    if x.sum() < 0:
        raise ValueError("a negative sum")
    return x * 2


def asserts_of_a_mask(x):
    chosen = x[x > 0]
    assert chosen.sum() > 1, "too few"
    return chosen * 2


def asserts_last(x):
    chosen = paddle.nonzero(x > 0)
    assert x.min() > 0, "x must be positive"
    return chosen


def asserts_by_name(x):
    paddle.static.nn.control_flow.Assert((x > 0).all().reshape([1]), [x])
    return x * 2


def checks_probabilities(x):
    return paddle.nn.functional.binary_cross_entropy(x - 1, paddle.zeros_like(x))


def checks_classes(x):
    scores = paddle.stack([x, x * 2], 1)
    return paddle.nn.functional.nll_loss(scores, (x - 1).astype("int64"), ignore_index=-7)


@pytest.mark.parametrize("function, kind, text", [
    (asserts, AssertionError, "x must be positive: 100%"),
    (says_values, AssertionError, "the sum is ..., not positive"),
    (asserts_on_a_path, AssertionError, "too small"),
    (asserts_in_a_loop, AssertionError, ""),
    (raises, ValueError, "a negative sum"),
    (asserts_of_a_mask, AssertionError, "too few"),
    (asserts_last, AssertionError, "x must be positive"),
    (checks_probabilities, ValueError, "binary_cross_entropy: input must lie in [0, 1]"),
    (checks_classes, IndexError, "nll_loss: a label is not in its range"),
    (asserts_by_name, AssertionError, "the condition of Assert does not hold"),
])  # fmt: skip
def test_a_run_ends_where_eager_code_raises(tmp_path, function, kind, text):
    paddle.jit.save(function, str(tmp_path / "f"), input_spec=[InputSpec([None])], format="native")
    program = load(str(tmp_path / "f"))
    x = np.array(GOOD, "float32")
    for _ in range(2):
        np.testing.assert_allclose(program(x)[0], function(paddle.to_tensor(x)).numpy(), 1e-6)
        with pytest.raises(kind) as caught:
            program(np.array(BAD, "float32"))
        assert str(caught.value) == text
        with pytest.raises(kind):
            function(paddle.to_tensor(BAD))


def test_an_exception_of_the_user_s_own_is_refused(tmp_path):
    class OwnError(Exception):
        pass

    def own(x):
        if x.sum() < 0:
            raise OwnError("negative")
        return x

    with pytest.raises(paddle.core.errors.UnsupportedError, match="raise cannot be compiled ahead of time"):
        paddle.jit.save(own, str(tmp_path / "f"), input_spec=[InputSpec([None])], format="native")


def test_a_text_beyond_the_room_for_errors_is_cut(tmp_path):
    def long(x):
        assert (x > 0).all(), "é" * 400
        return x

    paddle.jit.save(long, str(tmp_path / "f"), input_spec=[InputSpec([None])], format="native")
    with pytest.raises(AssertionError, match="é" * 100):
        load(str(tmp_path / "f"))(np.array(BAD, "float32"))
