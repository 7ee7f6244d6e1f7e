"""The targets of YOLOv3 written in simpler ops are those of the op, where boxes share a place, too."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.ops.registry import get_op
from vitrify.ops.yolo_in_ops import classes_in_ops, targets_in_ops

ANCHORS = ((10, 13), (16, 30), (33, 23))


@pytest.mark.parametrize("mask", [(0, 1, 2), (0, 2)])
def test_targets(mask):
    rng = np.random.default_rng(0)
    x = paddle.to_tensor(rng.normal(size=(3, len(mask) * 7, 4, 5)).astype("float32"))
    truth = rng.random((3, 6, 4)).astype("float32")
    truth[0, 1] = truth[0, 4] = truth[0, 2]  # boxes at one place: the last of them counts
    truth[1, 3:] = 0  # no boxes
    score = paddle.to_tensor(rng.random((3, 6)).astype("float32"))
    settings = {"anchors": ANCHORS, "mask": mask, "classes": 2, "ignore": 0.3, "cell": 8, "scale": 1.1}
    wanted = get_op("yolo_targets")(x, paddle.to_tensor(truth), score, **settings)
    found = targets_in_ops(x, paddle.to_tensor(truth), score, **settings)
    for a, b in zip(found, wanted):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-5)


def test_classes():
    labels = paddle.to_tensor([[0, 2], [1, -1]])
    settings = {"classes": 3, "smooth": 0.1, "dtype": paddle.float32}
    np.testing.assert_allclose(
        classes_in_ops(labels, **settings).numpy(), get_op("class_targets")(labels, **settings).numpy(), rtol=1e-6
    )
