"""nn.utils: split and normalized weights, parameters as vectors, clipping."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn, to_tensor
from vitrify.core.errors import ArgumentError
from vitrify.eager.tensor import Tensor
from vitrify.jit import to_static
from vitrify.nn.utils import (
    clip_grad_norm_,
    clip_grad_value_,
    parameters_to_vector,
    remove_weight_norm,
    spectral_norm,
    vector_to_parameters,
    weight_norm,
)


def drawn(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def close(actual, expected, **tolerance):
    np.testing.assert_allclose(actual.numpy(), expected, **{"rtol": 1e-5, "atol": 1e-6, **tolerance})


# --- weight_norm ------------------------------------------------------------------------------------------------------

DIMS = [(0, [3]), (1, [4]), (-1, []), (None, [])]


@pytest.mark.parametrize(("dim", "shape"), DIMS)
def test_weight_norm_splits_length_and_direction(dim, shape):
    layer = nn.Linear(3, 4)
    weight, x = layer.weight.numpy(), to_tensor(drawn(2, 3))
    before = layer(x).numpy()
    assert weight_norm(layer, dim=dim) is layer
    assert list(layer.state_dict()) == ["bias", "weight_v", "weight_g"] and layer.weight_g.shape == shape
    close(layer(x), before)
    layer.weight_g.set_value(layer.weight_g.numpy() * 2)
    layer.weight_v.set_value(layer.weight_v.numpy() * 5)  # its length does not count
    layer(x)
    close(layer.weight, 2 * weight)
    remove_weight_norm(layer)
    assert list(layer.state_dict()) == ["bias", "weight"] and layer.weight.trainable
    close(layer.weight, 2 * weight)


def test_weight_norm_trains_both_parts():
    layer = weight_norm(nn.Conv2D(2, 3, 3))
    (layer(to_tensor(drawn(1, 2, 5, 5))) ** 2).sum().backward()
    assert abs(layer.weight_g.grad.numpy()).max() > 0 and abs(layer.weight_v.grad.numpy()).max() > 0
    along = (layer.weight_v.grad.numpy() * layer.weight_v.numpy()).sum(axis=(1, 2, 3))
    np.testing.assert_allclose(along, 0, atol=1e-4)  # the direction's gradient has no part along it


ERRORS = [
    (lambda: weight_norm(nn.Linear(2, 2), name="foo"), "has no parameter 'foo'"),
    (lambda: weight_norm(weight_norm(nn.Linear(2, 2))), "has been split before"),
    (lambda: weight_norm(nn.Linear(2, 2), dim=5), r"dim must be in \[-2, 2\), got 5"),
    (lambda: remove_weight_norm(nn.Linear(2, 2)), "has not been split"),
    (lambda: spectral_norm(nn.Linear(2, 2), n_power_iterations=0), "at least 1"),
    (lambda: spectral_norm(nn.Linear(2, 2), name="foo"), "has no parameter 'foo'"),
]


@pytest.mark.parametrize(("call", "text"), ERRORS)
def test_errors(call, text):
    with pytest.raises(ArgumentError, match=text):
        call()


# --- spectral_norm ----------------------------------------------------------------------------------------------------


def with_distinct_singular_values(weight, axis):
    """A weight whose largest is twice the next: how fast power iteration converges depends on their ratio alone."""
    rows = np.moveaxis(weight, axis, 0)
    left, values, right = np.linalg.svd(rows.reshape(len(rows), -1), full_matrices=False)
    values[0] = 2 * values[1]
    return np.moveaxis((left * values @ right).reshape(rows.shape), 0, axis)


@pytest.mark.parametrize(
    ("layer", "rows"), [(nn.Linear(5, 4), 4), (nn.Conv2D(3, 5, 2), 5), (nn.Conv2DTranspose(3, 5, 2), 5)]
)
def test_spectral_norm_makes_the_largest_singular_value_one(layer, rows):
    weight = layer.weight
    weight.set_value(with_distinct_singular_values(weight.numpy(), int(not isinstance(layer, nn.Conv2D))))
    spectral_norm(layer)
    assert layer.weight_orig is weight and layer.weight_u.shape == [rows] and "weight_u" in layer.state_dict()
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_orig"]
    x = to_tensor(drawn(2, 5) if isinstance(layer, nn.Linear) else drawn(2, 3, 4, 4))
    for _ in range(30):
        layer(x)
    axis = 1 if rows == layer.weight.shape[1] and type(layer) is not nn.Conv2D else 0
    matrix = np.moveaxis(layer.weight.numpy(), axis, 0).reshape(rows, -1)
    np.testing.assert_allclose(np.linalg.norm(matrix, 2), 1.0, rtol=1e-3)


def test_spectral_norm_follows_the_weight_while_training_alone():
    layer, x = spectral_norm(nn.Linear(5, 4)), to_tensor(drawn(2, 5))
    layer.weight_orig.set_value(drawn(5, 4))
    layer.eval()
    before = layer.weight_u.numpy()
    layer(x)
    assert (layer.weight_u.numpy() == before).all()
    layer.train()
    layer(x).sum().backward()
    assert (layer.weight_u.numpy() != before).any() and layer.weight_orig.grad is not None


def test_spectral_norm_in_a_generators_loop_keeps_backward_valid():
    layer, x = spectral_norm(nn.Linear(5, 4)), to_tensor(drawn(2, 5))
    real, fake = layer(x), layer(x * 2)
    (real.sum() - fake.sum()).backward()


@pytest.mark.parametrize("wrap", [weight_norm, spectral_norm])
def test_computed_weights_in_a_program(wrap):
    layer = wrap(nn.Linear(5, 4))
    x = to_tensor(drawn(2, 5))
    layer.eval()
    eager = layer(x).numpy()
    compiled = to_static(layer)
    for _ in range(2):
        close(compiled(x), eager)
    assert isinstance(layer.weight, Tensor)
    layer.train()
    for buffer in layer.buffers():
        buffer.set_value(buffer.numpy()[::-1])  # away from where the iteration has converged
    before = [b.numpy() for b in layer.buffers()]
    compiled(x).sum().backward()
    assert all(p.grad is not None for p in layer.parameters())
    assert all((b.numpy() != old).any() for b, old in zip(layer.buffers(), before))


# --- vectors -------------------------------------------------------------------------------------------------------


def test_parameters_go_to_a_vector_and_back():
    one, two = nn.Linear(2, 3), nn.Linear(2, 3)
    vector = parameters_to_vector(one.parameters())
    assert vector.shape == [9] and not vector.stop_gradient
    vector_to_parameters(vector, two.parameters())
    close(two.weight, one.weight.numpy())
    assert two.weight.is_leaf and two.weight.trainable
    with pytest.raises(ArgumentError, match="vec has 3 elements, the parameters have 9"):
        vector_to_parameters(vector[:3], two.parameters())


# --- clipping ------------------------------------------------------------------------------------------------------


def with_gradients(*values):
    params = [nn.Parameter(to_tensor(np.zeros(np.shape(v), "float32"))) for v in values]
    for param, value in zip(params, values):
        param.grad = to_tensor(np.array(value, "float32"))
    return [*params, nn.Parameter(to_tensor([1.0]))]  # one has no gradient


NORMS = [(2.0, 5.0), (1.0, 7.0), (float("inf"), 4.0), (0, 2.0)]


@pytest.mark.parametrize(("norm_type", "norm"), NORMS)
def test_gradients_are_scaled_to_the_norm(norm_type, norm):
    params = with_gradients([3.0], [[4.0, 0.0]])
    held = params[0].grad
    assert clip_grad_norm_(params, 1.0, norm_type).item() == pytest.approx(norm)
    np.testing.assert_allclose(params[1].grad.tolist(), [[4 / norm, 0.0]], rtol=1e-5)
    assert params[0].grad is held


def test_small_gradients_are_left_alone():
    params = with_gradients([0.3], [0.4])
    assert clip_grad_norm_(params, 1.0).item() == pytest.approx(0.5)
    np.testing.assert_allclose(params[0].grad.tolist(), [0.3], rtol=1e-6)
    assert clip_grad_norm_([], 1.0).item() == 0.0 and clip_grad_norm_(params[0], 1.0).item() == pytest.approx(0.3)


def test_a_norm_that_is_not_finite():
    params = with_gradients([np.nan])
    with pytest.raises(RuntimeError, match=r"2\.0-norm of the gradients is nan"):
        clip_grad_norm_(params, 1.0, error_if_nonfinite=True)
    assert np.isnan(clip_grad_norm_(params, 1.0).item())


def test_clipping_by_value():
    params = with_gradients([-3.0, 0.5], [[2.0]])
    clip_grad_value_(params, 1.0)
    assert params[0].grad.tolist() == [-1.0, 0.5] and params[1].grad.tolist() == [[1.0]]
    with pytest.raises(ArgumentError, match="must not be negative"):
        clip_grad_value_(params, -1.0)


def test_spectral_norm_under_auto_cast_keeps_its_vectors_dtype():
    layer, x = spectral_norm(nn.Linear(5, 4)), to_tensor(drawn(2, 5))
    with paddle.amp.auto_cast(dtype="bfloat16"):
        loss = layer(x).astype("float32").sum()
    loss.backward()
    assert layer.weight_u.dtype == paddle.float32 and layer.weight_orig.grad.dtype == paddle.float32
