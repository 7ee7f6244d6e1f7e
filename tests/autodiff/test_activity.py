"""Which results of branches and loops carry a derivative: each by itself, not all because one does."""

import numpy as np
import pytest

import vitrify as paddle


def kept_in_nested_branches(x, s):
    if x.sum() > 1:
        x = x * 2
        if x.max() > 2:
            s = x.max(axis=0).detach() * 0.5 + s * 0.1
    return x, s


def kept_in_a_loop(x, s):
    while x.sum() < 30:
        x = x * 2 + 1
        s = s + x.detach().mean()
    return x, s


def kept_in_a_branch_of_a_loop(x, s):
    for i in range(x.shape[0]):
        if x[i].sum() > 1:
            x = x + 0.5
        else:
            s = s * 0.5 + x[i].detach()
    return x, s


def exchanged_in_a_loop(x, s):
    """The derivative reaches `s` in the second iteration."""
    n = 0
    t = x * 1
    while n < 2:
        s, t = t * 0.5, s + t.detach()
        n = n + 1
    return t, s


def listed_in_a_loop(x, s):
    tensors, numbers = [], []
    while x.sum() < 30:
        x = x * 2 + 1
        tensors.append(x)
        numbers.append(x.detach() * 2)
    return paddle.stack(tensors).sum(0), paddle.stack(numbers).sum(0)


@pytest.mark.parametrize(
    "function",
    [kept_in_nested_branches, kept_in_a_loop, kept_in_a_branch_of_a_loop, exchanged_in_a_loop, listed_in_a_loop],
)
@pytest.mark.parametrize("dims", [None, [None, 4]])
def test_each_result_by_itself(function, dims):
    """stop_gradient and gradients as in eager code, where both paths of a branch agree about them."""
    spec = None if dims is None else [paddle.static.InputSpec(dims, "float32", stop_gradient=False),
                                      paddle.static.InputSpec([4], "float32")]  # fmt: skip
    compiled = paddle.jit.to_static(function, full_graph=True, input_spec=spec)
    found = []
    for run in (function, compiled):
        x = paddle.full([3, 4], 1.5)
        x.stop_gradient = False
        results = run(x, paddle.ones([4]))
        sum((r * (i + 2)).sum() for i, r in enumerate(results)).backward()
        found.append(([r.stop_gradient for r in results], [r.numpy() for r in results], x.grad.numpy()))
    eager, static = found
    assert static[0] == eager[0]
    np.testing.assert_allclose(static[2], eager[2], rtol=1e-5)
    for a, b in zip(static[1], eager[1]):
        np.testing.assert_allclose(a, b, rtol=1e-5)


class Averaged(paddle.nn.Layer):
    """Keeps a mean of what it has seen, as some paths say."""

    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([4], default_initializer=paddle.nn.initializer.Constant(0.7))
        self.register_buffer("mean", paddle.zeros([4]))

    def forward(self, x):
        y = x * self.weight
        if y.sum() > 1:
            y = y + 1
            if y.max() > 1:
                self.mean = self.mean * 0.9 + y.detach().mean(axis=0) * 0.1
        return y - self.mean


def test_a_buffer_carries_no_graph_into_the_next_step():
    static, eager = Averaged(), Averaged()
    paddle.jit.to_static(static, full_graph=True)
    for step in range(4):
        for net in (static, eager):
            net(paddle.full([3, 4], 0.5 + step)).sum().backward()
    assert static.mean.stop_gradient and eager.mean.stop_gradient
    np.testing.assert_allclose(static.mean.numpy(), eager.mean.numpy(), rtol=1e-6)
    np.testing.assert_allclose(static.weight.grad.numpy(), eager.weight.grad.numpy(), rtol=1e-6)
