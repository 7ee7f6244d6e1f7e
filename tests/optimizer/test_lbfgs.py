"""LBFGS against PaddlePaddle 3.3.1, and its own promises."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError

RNG = np.random.default_rng(0)
A = RNG.normal(size=(6, 4)).astype("float32")
B = RNG.normal(size=(6,)).astype("float32")
BEST = [0.5718, 0.3077, 0.4729, -0.7405]
# Settings; the losses before each of four steps, how often the closure ran, and the weights in the end, by Paddle.
CASES = [
    ({}, [2.26693, 0.10157, 0.10157, 0.10157], 22, BEST),
    ({"line_search_fn": "strong_wolfe"}, [2.26693, 0.10157, 0.10157, 0.10157], None, BEST),
    (
        {"learning_rate": 0.1, "max_iter": 3, "history_size": 2},
        [2.26693, 1.17535, 0.87307, 0.70612],
        12,
        [0.3198, 0.1702, 0.0944, -0.0761],
    ),
    (
        {"learning_rate": 0.1, "max_iter": 4, "line_search_fn": "strong_wolfe"},
        [2.26693, 0.52235, 0.30829, 0.10509],
        22,
        [0.5627, 0.3062, 0.4802, -0.742],
    ),
]


def problem(**kwargs):
    """An optimizer, its closure, the weights, and how often the closure was called."""
    w = paddle.nn.Parameter(paddle.full([4], 0.5))
    b = paddle.nn.Parameter(paddle.zeros([1]))
    opt = paddle.optimizer.LBFGS(parameters=[w, b], **kwargs)
    calls = []

    def closure():
        calls.append(1)
        opt.clear_grad()
        miss = (paddle.to_tensor(A) @ w + b - paddle.to_tensor(B)).tanh()
        loss = (miss**2).sum() + (w**4).sum() * 0.1
        loss.backward()
        return loss

    return opt, closure, w, calls


@pytest.mark.parametrize("settings, losses, count, weights", CASES)
def test_steps_are_those_of_paddle(settings, losses, count, weights):
    opt, closure, w, calls = problem(**settings)
    found = [opt.step(closure).item() for _ in losses]
    np.testing.assert_allclose(found, losses, atol=2e-4)
    np.testing.assert_allclose(w.numpy(), weights, atol=2e-3)
    assert count is None or len(calls) == count


def test_its_state_can_be_saved():
    opt, closure, w, _ = problem(learning_rate=0.1, max_iter=3)
    other, its_closure, its_w, _ = problem(learning_rate=0.1, max_iter=3)
    opt.step(closure)
    assert opt.state_dict()["state"].keys() == {
        "func_evals", "n_iter", "al", "d", "alpha", "old_yk", "old_sk", "ro", "H_diag", "prev_flat_grad", "prev_loss"
    }  # fmt: skip
    assert other.state_dict() == {"state": {}}
    other.set_state_dict(opt.state_dict())
    for mine, theirs in zip(other._parameters(), opt._parameters()):
        mine.set_value(theirs)
    opt.step(closure)
    other.step(its_closure)
    np.testing.assert_array_equal(w.numpy(), its_w.numpy())


def test_decay_and_clipping_change_the_gradient():
    opt, closure, w, _ = problem(weight_decay=1.0)
    for _ in range(3):
        opt.step(closure)
    assert np.abs(w.numpy()).max() < 0.5
    opt, closure, w, _ = problem(grad_clip=paddle.nn.ClipGradByGlobalNorm(1e-3), max_iter=1)
    opt.step(closure)
    assert 0 < np.linalg.norm(w.numpy() - 0.5) <= 1.1e-3


def test_what_it_refuses():
    with pytest.raises(ArgumentError, match="line_search_fn"):
        problem(line_search_fn="other")
    with pytest.raises(ArgumentError, match="computes the loss"):
        problem()[0].step()
