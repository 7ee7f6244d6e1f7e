"""Embeddings: rows kept short, gradients by frequency."""

import numpy as np

import vitrify as paddle
from vitrify.nn import functional as F


def test_rows_in_use_are_shortened_in_place():
    table = paddle.to_tensor(np.arange(12.0).reshape(4, 3), stop_gradient=False)
    out = F.embedding(paddle.to_tensor([1, 2, 1]), table, max_norm=2.0)
    lengths = np.linalg.norm(table.numpy(), axis=1)
    np.testing.assert_allclose(lengths, [np.sqrt(5), 2, 2, np.sqrt(302)], rtol=1e-6)
    np.testing.assert_array_equal(out.numpy(), table.numpy()[[1, 2, 1]])
    assert not table.stop_gradient


def test_shortened_rows_leave_a_program_with_their_gradient():
    found = []
    for static in (False, True):
        layer = paddle.nn.Embedding(4, 3, max_norm=1.0)
        layer.weight.set_value(np.arange(12, dtype="float32").reshape(4, 3))
        run = paddle.jit.to_static(layer.forward, full_graph=True) if static else layer
        for _ in range(2):
            out = run(paddle.to_tensor([1, 2, 1]))
            (out * out).sum().backward()
        found.append([out.numpy(), layer.weight.numpy(), layer.weight.grad.numpy()])
    for eager, compiled in zip(*found):
        np.testing.assert_allclose(eager, compiled, rtol=1e-6)
    assert found[0][2].any()


def test_short_rows_stay_as_they_are():
    table = paddle.to_tensor([[0.5, 0.0], [0.0, 0.25]])
    F.embedding(paddle.to_tensor([0, 1]), table, max_norm=1.0, norm_type=1.0)
    np.testing.assert_array_equal(table.numpy(), [[0.5, 0.0], [0.0, 0.25]])


def test_gradients_of_repeated_rows_are_averaged():
    table = paddle.zeros([4, 2])
    table.stop_gradient = False
    F.embedding(paddle.to_tensor([1, 3, 3, 3]), table, scale_grad_by_freq=True).sum().backward()
    np.testing.assert_allclose(table.grad.numpy(), [[0, 0], [1, 1], [0, 0], [1, 1]], rtol=1e-6)
