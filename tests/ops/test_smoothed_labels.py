"""Cross entropy of smoothed class numbers is that of the labels that smoothing would write."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.nn import functional as F


def logits(*, infinite=False):
    x = np.random.default_rng(0).standard_normal((6, 5)).astype("float32")
    if infinite:
        x[0, 1] = -np.inf  # the label of the first row
        x[1, 2] = -np.inf
    return paddle.to_tensor(x, stop_gradient=False)


LABELS = np.array([1, 0, 4, 2, 2, 3])


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("ignored", [-100, 2])
def test_class_numbers_give_what_written_labels_give(reduction, ignored):
    counts = ignored != LABELS
    written = (np.eye(5)[LABELS] * 0.8 + 0.2 / 5) * counts[:, None]
    x, y = logits(), logits()
    found = F.cross_entropy(x, paddle.to_tensor(LABELS), label_smoothing=0.2, reduction=reduction, ignore_index=ignored)
    rows = -(paddle.to_tensor(written.astype("float32")) * F.log_softmax(y)).sum(1, keepdim=True)
    wanted = rows if reduction == "none" else rows.sum() if reduction == "sum" else rows.sum() / counts.sum()
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=2e-6, atol=1e-7)
    (found * found).sum().backward()
    (wanted * wanted).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=2e-5, atol=2e-6)


def test_what_no_class_may_be_is_infinite():
    for fn in (F.cross_entropy, paddle.jit.to_static(lambda *args, **kw: F.cross_entropy(*args, **kw))):
        found = fn(logits(infinite=True), paddle.to_tensor(LABELS), label_smoothing=0.2, reduction="none").numpy()
        assert np.isinf(found[:2]).all() and np.isfinite(found[2:]).all() and (found > 0).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_floats_are_averaged_as_floats(dtype):
    x = logits().detach().astype(dtype)
    found = F.cross_entropy(x, paddle.to_tensor(LABELS), label_smoothing=0.2)
    wanted = F.cross_entropy(x.astype("float32"), paddle.to_tensor(LABELS), label_smoothing=0.2)
    np.testing.assert_allclose(found.astype("float32").numpy(), wanted.numpy(), rtol=2e-2)
