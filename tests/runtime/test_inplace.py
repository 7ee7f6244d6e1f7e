"""Which buffers are written in place: those that nobody can see any more, and no others."""

from __future__ import annotations

import numpy as np
import pytest

import vitrify as paddle
from tests.runtime import graphs


@pytest.fixture(autouse=True)
def _all_sizes(monkeypatch):
    monkeypatch.setattr("vitrify.runtime.inplace.LEAST_BYTES", 0)


def lowered(build, **options):
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [4])
        outputs = build(x)
    return graphs.core((main, [x], outputs), **options)


def overwriting(core):
    """The operators that write into the buffer of another operator's result, whatever the caller does."""
    return [i.operator.op.name for i in core.instructions if i.access.overwrites and i.access.overwrites[0] > 0]


X = np.array([1.0, -2.0, 3.0, 0.5], "float32")


def chain(x):
    return [paddle.exp(paddle.tanh(x * 2) + 1)]


def seen_through_a_view(x):
    y = paddle.tanh(x)
    return [y.reshape([4]), y - 1]


def read_later(x):
    y = paddle.tanh(x)
    z = y - 1
    return [z * y]


@pytest.mark.parametrize("mode", ["trace", "threads", "streams"])
@pytest.mark.parametrize(
    ("build", "wanted"),
    [
        (chain, ["tanh", "add", "exp"]),  # the product only if the caller gives x up
        (seen_through_a_view, []),
        (read_later, ["multiply"]),  # not the difference: y is read behind it
        (lambda x: [paddle.tanh(x), paddle.tanh(x) + 1], ["add"]),
        (lambda x: [x + 1], []),
    ],
)
def test_what_is_overwritten(build, wanted, mode):
    core = lowered(build, mode=mode)
    assert overwriting(core) == wanted
    assert overwriting(lowered(build, mode=mode, inplace=False)) == []
    if mode != "streams":
        given = X.copy()
        for a, b in zip(core(given), lowered(build, inplace=False)(given)):
            assert a.tolist() == b.tolist()
        assert given.tolist() == X.tolist()


def test_a_kernel_that_gives_its_input_back_is_noticed():
    """`cast` to the dtype that an array has is the array itself: then two slots hold it, and neither is overwritten."""

    def build(x):
        y = paddle.tanh(x)
        return [y.astype("float32"), paddle.exp(y)]

    first, second = lowered(build)(X)
    assert first.tolist() == np.tanh(X).tolist() and second.tolist() == np.exp(np.tanh(X)).tolist()


def test_a_core_prints_what_it_does():
    assert str(lowered(chain, mode="trace")).splitlines() == [
        "trace: asked for",
        "inputs s0 = %x",
        "  s2 = multiply(s0, s1) into s0  # frees s0",
        "  s3 = tanh(s2) into s2  # frees s2",
        "  s5 = add(s3, s4) into s3  # frees s3",
        "  s6 = exp(s5) into s5  # frees s5",
        "outputs s6 = %exp_0",
    ]
