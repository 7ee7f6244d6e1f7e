"""Sizes that must agree, where only a run knows them: the error of eager code, and its results where they do."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.nn import functional as F
from vitrify.static import InputSpec

CALLS = {
    "binary_cross_entropy": lambda x, y: F.binary_cross_entropy(F.sigmoid(x), F.sigmoid(y)),
    "binary_cross_entropy_with_logits": F.binary_cross_entropy_with_logits,
    "soft_margin_loss": F.soft_margin_loss,
    "multi_label_soft_margin_loss": lambda x, y: F.multi_label_soft_margin_loss(x, F.sigmoid(y)),
    "cosine_embedding_loss": lambda x, y: F.cosine_embedding_loss(x, y, paddle.sign(x[:, 0])),
    "index_sample": lambda x, y: paddle.index_sample(x, (y > 0).astype("int64")),
}


def drawn(*shape):
    return paddle.to_tensor(np.random.default_rng(0).normal(size=shape), stop_gradient=False)


@pytest.mark.parametrize("name", CALLS)
def test_sizes_that_only_a_run_knows(name):
    call = CALLS[name]
    spec = InputSpec([-1, -1], "float64", stop_gradient=False)
    compiled = paddle.jit.to_static(call, input_spec=[spec, spec], full_graph=True)
    for rows in (3, 4):
        grads = []
        for run in (call, compiled):
            x, y = drawn(rows, 3), drawn(rows, 3)
            found = run(x, y)
            found.sum().backward()
            grads.append((found.numpy(), x.grad.numpy()))
        for eager, ours in zip(*grads):
            np.testing.assert_allclose(ours, eager)
    for run in (call, compiled):
        with pytest.raises(ValueError, match=rf"{name}: .*: \[3, 3\] and \[1, 3\]"):
            run(drawn(3, 3), drawn(1, 3))


def test_labels_of_programs_get_no_gradient():
    compiled = paddle.jit.to_static(lambda x: F.binary_cross_entropy_with_logits(x, F.sigmoid(x)), full_graph=True)
    grads = []
    for run in (compiled.dygraph_function, compiled):
        x = drawn(3, 2)
        run(x).backward()
        grads.append(x.grad.numpy())
    assert np.abs(grads[0]).max() < 1e-12  # the derivative where the label is what is predicted
    np.testing.assert_allclose(grads[1], grads[0], atol=1e-12)
    assert "given" in [op.op.name for op in compiled.main_program.global_block().ops]


def test_blocks_that_reach_beyond_sizes_that_only_a_run_knows():
    def cropped(x):
        return paddle.crop(x, [2, -1], [1, 1])

    compiled = paddle.jit.to_static(cropped, input_spec=[InputSpec([-1, -1], "float64")], full_graph=True)
    for rows in (3, 5):
        x = drawn(rows, 4)
        np.testing.assert_array_equal(compiled(x).numpy(), cropped(x).numpy())
    for run in (cropped, compiled):
        with pytest.raises(ValueError, match=r"crop: .* do not lie within"):
            run(drawn(2, 4))
