"""`set_state_dict` inside of a program: a Layer takes what the program has computed."""

import numpy as np
import pytest

import vitrify as paddle
from tests.jit.training_steps import mlp
from vitrify.nn import functional as F


def test_the_best_of_some_steps():
    ends = []
    for is_compiled in (False, True):
        model = mlp()
        sgd = paddle.optimizer.SGD(0.7, model.parameters())

        def step(x, y, model=model, sgd=sgd):
            best, state = float("inf"), {name: held.clone() for name, held in model.state_dict().items()}
            for _ in range(4):
                F.mse_loss(model(x), y).backward()
                sgd.step()
                sgd.clear_grad()
                with paddle.no_grad():
                    loss = F.mse_loss(model(x), y)
                if loss < best:
                    best, state = loss.item(), {name: held.clone() for name, held in model.state_dict().items()}
            return best, model.set_state_dict(state)

        function = paddle.jit.to_static(step, full_graph=True) if is_compiled else step
        rng = np.random.default_rng(1)
        x, y = (paddle.to_tensor(rng.normal(size=(6, n)).astype("float32")) for n in (4, 1))
        best, keys = function(x, y)
        ends.append((best, [p.numpy() for p in model.parameters()], keys))
    np.testing.assert_allclose(ends[1][0], ends[0][0], 1e-5)
    for one, other in zip(ends[0][1], ends[1][1]):
        np.testing.assert_allclose(other, one, 1e-5, 1e-6)
    assert ends[0][2] == ends[1][2] == ([], [])


def test_other_dtypes_and_shapes():
    layer = paddle.nn.Linear(2, 2)

    @paddle.jit.to_static(full_graph=True)
    def take(x):
        return layer.set_state_dict({"weight": x.astype("float64") * 2, "bias": x})

    with pytest.warns(UserWarning, match=r"bias receives a shape \[2, 2\], but the expected shape is \[2\]"):
        missing, unexpected = take(paddle.ones([2, 2]))
    assert (missing, unexpected) == (["bias"], ["bias"])
    assert layer.weight.dtype is paddle.float32
    np.testing.assert_array_equal(layer.weight.numpy(), np.full([2, 2], 2.0))
