"""Numbers among the arguments that only a run of a compiled function knows, where PaddlePaddle takes tensors, too."""

import numpy as np
import pytest

import vitrify as paddle
import vitrify.nn.functional as F

X = np.random.RandomState(0).randn(2, 3, 4).astype("float32")
HOLES = np.where(X > 1, np.nan, X).astype("float32")

CASES = [
    ("layer_norm", X, lambda x, a: F.layer_norm(x, [a, 4]), 3),
    ("nanmean", HOLES, lambda x, a: paddle.nanmean(x, axis=[a, 2]), 1),
    ("nan_to_num", HOLES, lambda x, a: paddle.nan_to_num(x, nan=a), 0.5),
    ("allclose", X, lambda x, a: paddle.allclose(x, x * 1.01, rtol=a), 0.1),
    ("isclose", HOLES, lambda x, a: paddle.isclose(x, x * 1.01, atol=a, equal_nan=True), 0.01),
    ("bincount", X, lambda x, a: paddle.bincount((x > 0).astype("int32").flatten(), minlength=a), 5),
    ("multinomial", X, lambda x, a: paddle.multinomial(x.abs()[0], a), 3),
    ("uniform", X, lambda x, a: paddle.uniform([2, 3], min=a, max=2.0), 0.5),
    ("uniform to", X, lambda x, a: paddle.uniform([2, 3], max=a), 0.5),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
@pytest.mark.parametrize("sizes", ["known", "unknown"])
def test_values_are_those_of_eager_code(case, sizes):
    _, data, fn, number = case
    spec = [paddle.static.InputSpec([None] * 3, "float32"), paddle.static.InputSpec([], str(np.asarray(number).dtype))]
    number = paddle.to_tensor(number, dtype=spec[1].dtype)
    compiled = paddle.jit.to_static(fn, full_graph=True, input_spec=None if sizes == "known" else spec)
    found = []
    for call in (fn, compiled, compiled):
        paddle.seed(3)
        found.append(call(paddle.to_tensor(data), number).numpy())
    for got in found[1:]:
        assert got.dtype == found[0].dtype
        np.testing.assert_allclose(got, found[0], rtol=1e-5, atol=1e-6)


def test_a_class_to_ignore_may_be_a_tensor():
    x, label = paddle.to_tensor(X[0]), paddle.to_tensor([0, 1, 2])
    wanted = F.nll_loss(x, label, ignore_index=1).item()
    assert F.nll_loss(x, label, ignore_index=paddle.to_tensor(1)).item() == wanted
