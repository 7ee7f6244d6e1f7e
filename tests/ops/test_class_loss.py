"""Sampled class centers."""

import numpy as np

import vitrify as paddle
from vitrify.nn import functional as F


def test_sampled_classes_hold_all_that_occur():
    label = paddle.to_tensor([11, 5, 1, 3, 12, 2, 15, 19, 18, 19])
    remapped, centers = F.class_center_sample(label, 20, 15)
    assert len(np.unique(centers.numpy())) == 15
    np.testing.assert_array_equal(centers.numpy()[remapped.numpy()], label.numpy())
    _, few = F.class_center_sample(label, 20, 2)
    np.testing.assert_array_equal(few.numpy(), np.unique(label.numpy()))
