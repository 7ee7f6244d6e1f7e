"""Metrics count as Paddle's do."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.metric import Accuracy, Auc, Metric, Precision, Recall, accuracy

SCORES = [[0.1, 0.2, 0.7], [0.6, 0.3, 0.1], [0.2, 0.5, 0.3]]
LABELS = {
    "column": [[2], [1], [0]],
    "flat": [2, 1, 0],
    "one-hot": [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
}


@pytest.mark.parametrize("form", LABELS)
def test_accuracy_of_the_best_k(form):
    metric = Accuracy(topk=(1, 2))
    correct = metric.compute(paddle.to_tensor(SCORES), paddle.to_tensor(LABELS[form]))
    assert correct.tolist() == [[1, 0], [0, 1], [0, 0]]
    assert metric.update(correct) == pytest.approx([1 / 3, 2 / 3])
    assert metric.accumulate() == pytest.approx([1 / 3, 2 / 3])
    assert metric.name() == ["acc_top1", "acc_top2"]
    metric.reset()
    assert metric.accumulate() == [0.0, 0.0]


def test_accuracy_over_batches():
    metric = Accuracy()
    assert metric.update(metric.compute(paddle.to_tensor(SCORES), paddle.to_tensor([2, 1, 0]))) == pytest.approx(1 / 3)
    assert metric.update(np.array([[1.0], [0.0]])) == 0.5
    assert metric.accumulate() == pytest.approx(0.4)
    assert metric.name() == ["acc"]
    assert Accuracy((1, 3), "x").name() == ["x_top1", "x_top3"]
    assert metric.update(np.zeros((0, 1))) == 0.0


def test_accuracy_function():
    scores, labels = paddle.to_tensor(SCORES), paddle.to_tensor(LABELS["column"])
    assert accuracy(scores, labels).item() == pytest.approx(1 / 3)
    correct, total = paddle.zeros([1], "int64"), paddle.zeros([1], "int32")
    out = accuracy(scores, labels, k=2, correct=correct, total=total)
    assert (out.shape, out.dtype, out.item()) == ([], paddle.float32, pytest.approx(2 / 3))
    assert (correct.tolist(), total.tolist()) == ([2], [3])


def test_accuracy_needs_a_label_for_each_row():
    with pytest.raises(ValueError, match=r"input is float32\[3, 3\], label is int64\[2\]"):
        accuracy(paddle.to_tensor(SCORES), paddle.to_tensor([0, 1]))
    with pytest.raises(TypeError, match="topk must be a list"):
        Accuracy(topk=1)


def test_precision_and_recall():
    preds, labels = np.array([[0.1], [0.6], [0.6], [0.7]]), np.array([[1], [0], [1], [1]])
    precision, recall = Precision(), Recall(name="found")
    for metric in (precision, recall):
        assert metric.accumulate() == 0.0
        metric.update(paddle.to_tensor(preds), paddle.to_tensor(labels))
        assert metric.accumulate() == pytest.approx(2 / 3)
        metric.update(preds[:1], labels[:1])
    assert precision.accumulate() == pytest.approx(2 / 3)
    assert recall.accumulate() == pytest.approx(2 / 4)
    assert (precision.name(), recall.name()) == ("precision", "found")
    precision.reset()
    recall.reset()
    assert (precision.tp, precision.fp, recall.tp, recall.fn) == (0, 0, 0, 0)


def test_one_half_is_yes_for_precision_and_no_for_recall():  # as Paddle
    precision, recall = Precision(), Recall()
    for metric in (precision, recall):
        metric.update(np.array([0.1, 0.5, 0.6, 0.7]), np.array([1, 1, 1, 1]))
    assert (precision.tp, precision.fp) == (3, 0)
    assert (recall.tp, recall.fn) == (2, 2)


def _drawn(n=20, digits=None):
    rng = np.random.RandomState(0)
    yes = rng.rand(n) if digits is None else rng.rand(n).round(digits)
    return np.stack([1 - yes, yes], 1), (rng.rand(n) > 0.5).astype(int)


@pytest.mark.parametrize(
    ("metric", "drawn", "expected"),
    [
        (Auc(), _drawn(), 0.7252747252747253),
        (Auc(num_thresholds=3), _drawn(), 0.6648351648351649),
        (Auc(), _drawn(digits=1), 0.7087912087912088),
    ],
)
def test_area_under_the_curve_is_paddles(metric, drawn, expected):
    metric.update(*drawn)
    assert metric.accumulate() == pytest.approx(expected)


def test_area_over_batches_and_forms():
    whole, parts = Auc(name="area"), Auc()
    preds, labels = _drawn()
    whole.update(paddle.to_tensor(preds), paddle.to_tensor(labels[:, None]))
    parts.update(preds[:7, 1], labels[:7])
    parts.update(preds[7:, 1:], labels[7:])
    assert whole.accumulate() == parts.accumulate()
    assert whole.name() == "area"
    whole.reset()
    assert whole.accumulate() == 0.0


def test_area_under_precision_and_recall():
    metric = Auc(curve="PR")
    metric.update(np.array([0.9, 0.8, 0.3, 0.1]), np.array([1, 1, 0, 0]))
    assert metric.accumulate() == 1.0


@pytest.mark.parametrize(
    ("kind", "use"),
    [
        (TypeError, lambda: Precision().update([0.1], np.array([1]))),
        (ValueError, lambda: Recall().update(np.array([0.1]), np.array([1, 0]))),
        (ValueError, lambda: Auc().update(np.ones((3, 2)), np.ones(2))),
        (ValueError, lambda: Auc(curve="x")),
        (TypeError, lambda: Metric()),
    ],
)
def test_bad_arguments(kind, use):
    with pytest.raises(kind):
        use()


def test_compute_passes_on_what_it_is_given():
    metric = Precision()
    assert metric.compute(1, 2) == (1, 2)
