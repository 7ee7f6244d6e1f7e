"""Classes and probabilities outside of their range are errors, eagerly and in programs, sizes unknown included."""

import numpy as np
import pytest

import vitrify as paddle
import vitrify.nn.functional as F
from vitrify.core.errors import ArgumentError, IndexRangeError
from vitrify.static import InputSpec

ROWS = paddle.to_tensor(np.linspace(-2, -0.1, 12, dtype="float32").reshape(3, 4))
HEAD = paddle.ones([4, 3]) * 0.1, [[paddle.ones([4, 2]), paddle.ones([2, 3])]], [2, 5]


def negative_log(x, label):
    return F.nll_loss(x, label, ignore_index=-100)


def adaptive(x, label):
    return F.adaptive_log_softmax_with_loss(x, label, *HEAD)[1]


SPECS = [None, [InputSpec([None, None], stop_gradient=False), InputSpec([None], "int64")]]


@pytest.mark.parametrize("spec", SPECS, ids=["known", "unknown"])
@pytest.mark.parametrize(("fn", "bad"), [(negative_log, -1), (negative_log, 4), (adaptive, -1), (adaptive, 5)])
def test_labels(fn, bad, spec):
    if fn is adaptive and spec:
        spec = [InputSpec([None, 4], stop_gradient=False), spec[1]]
    compiled = paddle.jit.to_static(fn, full_graph=True, input_spec=spec)
    good = paddle.to_tensor([0, 3, 2])
    grads = []
    for call in (fn, compiled):
        x = ROWS.clone().detach()
        x.stop_gradient = False
        call(x, good).backward()
        grads.append(x.grad.numpy())
        with pytest.raises(IndexRangeError, match=rf"a label must lie in \[0, .\).*got {bad}"):
            call(x, paddle.to_tensor([0, bad, 2]))
    np.testing.assert_allclose(*grads, rtol=1e-6)


@pytest.mark.parametrize("bad", [-0.1, 1.5, float("nan")])
def test_probabilities(bad):
    compiled = paddle.jit.to_static(F.binary_cross_entropy, full_graph=True)
    for call in (F.binary_cross_entropy, compiled):
        label = paddle.to_tensor([0.0, 1.0])
        assert call(paddle.to_tensor([0.0, 1.0]), label).item() == 0.0
        with pytest.raises(ArgumentError, match=r"input must lie in \[0, 1\]"):
            call(paddle.to_tensor([0.5, bad]), label)


def test_labels_of_sequences():
    lengths = paddle.to_tensor([3]), paddle.to_tensor([1])
    lattice, rows = paddle.full([1, 3, 3, 4], -1.0), paddle.zeros([3, 1, 4])
    for loss, x in ((F.rnnt_loss, lattice), (F.ctc_loss, rows)):
        behind_the_end = loss(x, paddle.to_tensor([[1, 99]], dtype="int32"), *lengths)
        assert np.isfinite(behind_the_end.item())
        with pytest.raises(IndexRangeError, match=r"a label must lie in \[0, 4\), got 9"):
            loss(x, paddle.to_tensor([[9, 1]], dtype="int32"), *lengths)


def _solution(pivots):
    return paddle.linalg.lu_solve(paddle.ones([2, 1]), paddle.eye(2), pivots)


def _rows(pivots):
    return paddle.linalg.lu_unpack(paddle.eye(2), pivots)[0]


@pytest.mark.parametrize("spec", [None, [InputSpec([None], "int32")]], ids=["known", "unknown"])
@pytest.mark.parametrize("bad", [[0, 2], [1, 9], [-1, 2]])
@pytest.mark.parametrize("fn", [_solution, _rows])
def test_row_exchanges(fn, bad, spec):
    compiled = paddle.jit.to_static(fn, full_graph=True, input_spec=spec)
    for call in (fn, compiled):
        assert call(paddle.to_tensor([2, 2], dtype="int32")).numpy()[0].any()
        with pytest.raises(IndexRangeError, match=r"a row exchange must lie in \[1, 2\]"):
            call(paddle.to_tensor(bad, dtype="int32"))
