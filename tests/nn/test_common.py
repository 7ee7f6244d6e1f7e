"""Linear, Embedding, dropout and the Layers around them."""

import numpy as np
import pytest

from vitrify import nn, no_grad, to_tensor
from vitrify.core.errors import ArgumentError, ShapeError
from vitrify.core.names import guard
from vitrify.core.rng import rng_guard


def drawn(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def test_linear():
    layer, x = nn.Linear(4, 3), drawn(2, 5, 4)
    expected = x @ layer.weight.numpy() + layer.bias.numpy()
    np.testing.assert_allclose(layer(to_tensor(x)).numpy(), expected, rtol=1e-5, atol=1e-6)
    with guard():
        assert [p.name for p in nn.Linear(1, 1).parameters()] == ["linear_0.w_0", "linear_0.b_0"]


def test_bilinear():
    layer, x, y = nn.Bilinear(3, 4, 5), drawn(2, 3), drawn(2, 4)
    expected = np.einsum("ni,oij,nj->no", x, layer.weight.numpy(), y) + layer.bias.numpy()
    np.testing.assert_allclose(layer(to_tensor(x), to_tensor(y)).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_embedding_looks_rows_up():
    layer = nn.Embedding(5, 3)
    assert (layer(to_tensor([[1, 4]])).numpy() == layer.weight.numpy()[[[1, 4]]]).all()
    layer(to_tensor([1, 1, 2])).sum().backward()
    assert layer.weight.grad.numpy()[:, 0].tolist() == [0.0, 2.0, 1.0, 0.0, 0.0]


def test_the_padding_row_is_zero_and_stays_so():
    layer = nn.Embedding(5, 3, padding_idx=-2)
    assert layer.weight.numpy()[3].tolist() == [0.0, 0.0, 0.0]
    layer(to_tensor([3, 1])).sum().backward()
    assert layer.weight.grad.numpy()[:, 0].tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]


def test_long_rows_are_shortened():
    layer = nn.Embedding(5, 3, max_norm=1.0)
    with no_grad():
        layer.weight.set_value(np.full((5, 3), 3.0, "float32"))
    np.testing.assert_allclose(np.linalg.norm(layer(to_tensor([1])).numpy()), 1.0, rtol=1e-4)


def test_given_and_frozen_weights():
    given = to_tensor(drawn(5, 3))
    layer = nn.Embedding(5, 3, _weight=given, _freeze=True, name="e")
    assert (layer.weight.numpy() == given.numpy()).all() and layer.weight.stop_gradient
    assert repr(layer) == "Embedding(5, 3, sparse=False, scale_grad_by_freq=False, name=e)"


def test_dropout_scales_what_it_keeps():
    layer, x = nn.Dropout(0.25), to_tensor(np.ones((100, 100), "float32"))
    with rng_guard(0):
        out = layer(x).numpy()
    assert set(np.unique(out)) == {np.float32(0), np.float32(1 / 0.75)} and abs((out == 0).mean() - 0.25) < 0.02
    layer.eval()
    assert (layer(x).numpy() == 1).all()
    with rng_guard(0):
        columns = nn.Dropout(0.5, axis=1)(x).numpy()
    assert all(len(set(column)) == 1 for column in columns.T)


def test_code_of_old_passes_the_axis_second():
    assert nn.Dropout(0.5, 1).axis == 1 and nn.Dropout(0.5, [0, 1]).axis == [0, 1] and not nn.Dropout(0.5, 1).inplace


def test_reshaping():
    x = to_tensor(drawn(2, 3, 4, 5))
    assert nn.Flatten()(x).shape == [2, 60] and nn.Flatten(0, 1)(x).shape == [6, 4, 5]
    assert nn.Unflatten(2, [2, -1])(x).shape == [2, 3, 2, 2, 5]
    assert nn.Identity("ignored", as_well=1)(x) is x


def test_padding_may_be_a_tensor():
    layer = nn.Pad2D(to_tensor([1, 2, 3, 4]))
    assert layer(to_tensor(drawn(1, 1, 2, 2))).shape == [1, 1, 9, 5]


ERRORS = [
    (lambda: nn.Embedding(0, 3), ArgumentError, "sizes must be positive"),
    (lambda: nn.Embedding(4, 3, padding_idx=4), ArgumentError, r"padding_idx must be in \[-4, 4\), got 4"),
    (lambda: nn.Softmax2D()(to_tensor(drawn(2, 2))), ShapeError, "must have 3 or 4 dimensions"),
]


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_models_make_properties_of_the_sizes_of_linear():
    class Sized(nn.Linear):
        in_features = property(lambda self: self.weight.shape[0])

    assert Sized(4, 3).in_features == 4
    assert repr(nn.Linear(4, 3, name="head")) == "Linear(in_features=4, out_features=3, dtype=float32, name=head)"
