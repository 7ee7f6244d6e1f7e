"""Normalization Layers against NumPy; running statistics; what they refuse."""

import inspect

import numpy as np
import pytest

from vitrify import nn, to_tensor
from vitrify.core.dtype import default_dtype_guard
from vitrify.core.errors import ArgumentError, ShapeError
from vitrify.core.names import guard
from vitrify.jit import to_static
from vitrify.static import InputSpec


def drawn(*shape):
    return np.random.default_rng(0).normal(1.0, 2.0, size=shape).astype("float32")


def close(actual, expected):
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-4, atol=1e-4)


def normalized(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


BATCH = [
    (nn.BatchNorm1D, (8, 4), "NCL", (0,), 1),
    (nn.BatchNorm1D, (8, 4, 3), "NCL", (0, 2), 1),
    (nn.BatchNorm1D, (8, 3, 4), "NLC", (0, 1), 2),
    (nn.BatchNorm2D, (8, 4, 3, 3), "NCHW", (0, 2, 3), 1),
    (nn.BatchNorm2D, (8, 3, 3, 4), "NHWC", (0, 1, 2), 3),
    (nn.BatchNorm3D, (4, 4, 2, 2, 2), "NCDHW", (0, 2, 3, 4), 1),
    (nn.SyncBatchNorm, (8, 4, 3, 3), "NCHW", (0, 2, 3), 1),
]


@pytest.mark.parametrize(("kind", "shape", "layout", "axes", "channel"), BATCH)
def test_batch_norm(kind, shape, layout, axes, channel):
    layer, x = kind(4, data_format=layout, momentum=0.8), drawn(*shape)
    scale = [1] * len(shape)
    scale[channel] = 4
    layer.weight.set_value([1.0, 2.0, 3.0, 4.0])
    close(layer(to_tensor(x)), normalized(x, axes) * layer.weight.numpy().reshape(scale))
    close(layer._mean, 0.2 * x.mean(axes))
    close(layer._variance, 0.8 + 0.2 * x.var(axes))
    layer.eval()
    mean, variance = layer._mean.numpy().reshape(scale), layer._variance.numpy().reshape(scale)
    close(layer(to_tensor(x)), (x - mean) / np.sqrt(variance + 1e-5) * layer.weight.numpy().reshape(scale))
    close(layer._mean, 0.2 * x.mean(axes))


def test_statistics_are_parameters_that_do_not_train():
    with guard():
        layer = nn.BatchNorm2D(3)
    assert [(name, p.name, p.trainable) for name, p in layer.named_parameters()] == [
        ("weight", "batch_norm2d_0.w_0", True),
        ("bias", "batch_norm2d_0.b_0", True),
        ("_mean", "batch_norm2d_0.w_1", False),
        ("_variance", "batch_norm2d_0.w_2", False),
    ]
    plain = nn.BatchNorm2D(3, weight_attr=False, bias_attr=False)
    assert list(plain.state_dict()) == ["_mean", "_variance"] and plain.weight is None


def test_global_statistics_may_be_forced_either_way():
    x = to_tensor(drawn(8, 4))
    forced = nn.BatchNorm1D(4, use_global_stats=True)
    close(forced(x), x.numpy() / np.sqrt(1 + 1e-5))
    batch = nn.BatchNorm1D(4, use_global_stats=False).eval()
    close(batch(x), normalized(x.numpy(), (0,)))


def test_batch_norm_of_old():
    x = drawn(8, 4, 3)
    layer = nn.BatchNorm(4, act="relu", moving_mean_name="mean", moving_variance_name="variance")
    close(layer(to_tensor(x)), np.maximum(normalized(x, (0, 2)), 0))
    assert layer._mean.name == "mean" and layer._variance.name == "variance"
    fixed = nn.BatchNorm(4, is_test=True)
    close(fixed(to_tensor(x)), x / np.sqrt(1 + 1e-5))
    close(nn.BatchNorm(4, trainable_statistics=True).eval()(to_tensor(x)), normalized(x, (0, 2)))


def test_running_statistics_in_a_program():
    eager, compiled = nn.BatchNorm1D(4), nn.BatchNorm1D(4)
    forward, x = to_static(compiled), to_tensor(drawn(8, 4))
    for _ in range(3):
        close(forward(x), eager(x).numpy())
    close(compiled._mean, eager._mean.numpy())
    close(compiled._variance, eager._variance.numpy())
    eager.eval()
    compiled.eval()
    close(forward(x), eager(x).numpy())


@pytest.mark.parametrize("compiled", [False, True])
def test_running_statistics_may_be_parameters(compiled):
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.mean, self.variance = self.create_parameter([4]), self.create_parameter([4])

        def forward(self, x):
            return nn.functional.batch_norm(x, self.mean, self.variance, training=True, momentum=0.5, data_format="NC")

    net, x = Net(), drawn(8, 4)
    before = net.mean.numpy()
    loss = ((to_static(net, full_graph=True) if compiled else net)(to_tensor(x, stop_gradient=False)) ** 2).sum()
    loss.backward()
    close(net.mean, (before + x.mean(0)) / 2)
    assert net.mean.grad is None and not net.mean.stop_gradient


@pytest.mark.parametrize("kind", [nn.BatchNorm1D, nn.BatchNorm, nn.SyncBatchNorm])
def test_batch_norm_called_twice_in_a_program(kind):
    eager, compiled = kind(4), kind(4)

    def twice(layer, x):
        y = layer(layer(x) * 2.0)
        return y, layer._mean + 0.0

    x = drawn(8, 4)
    for _ in range(2):
        ours, theirs = (to_tensor(x, stop_gradient=False) for _ in range(2))
        expected = twice(eager, ours)
        actual = to_static(twice, full_graph=True)(compiled, theirs)
        for a, b in zip(actual, expected):
            close(a, b.numpy())
        (expected[0] ** 3).sum().backward()
        (actual[0] ** 3).sum().backward()
        close(theirs.grad, ours.grad.numpy())
        close(compiled._variance, eager._variance.numpy())


def test_sync_batch_norm_takes_over():
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.Sequential(nn.BatchNorm2D(4))).eval()
    weight = net[1].weight
    assert nn.SyncBatchNorm.convert_sync_batchnorm(net) is net
    assert type(net[1]) is type(net[2][0]) is nn.SyncBatchNorm and net[1].weight is weight and not net[1].training
    single = nn.BatchNorm1D(4)
    assert nn.SyncBatchNorm.convert_sync_batchnorm(single)._mean is single._mean
    assert nn.SyncBatchNorm.convert_sync_batchnorm(net[1]) is net[1]


def test_half_types_pass_over_batch_norm():
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4)).bfloat16()
    assert [layer.weight.dtype.name for layer in net] == ["bfloat16", "float32"]


OTHERS = [
    (lambda: nn.LayerNorm(6), (2, 4, 6), lambda x: normalized(x, (2,))),
    (lambda: nn.LayerNorm([4, 6], epsilon=0.1), (2, 4, 6), lambda x: normalized(x, (1, 2), 0.1)),
    (lambda: nn.InstanceNorm1D(4), (2, 4, 6), lambda x: normalized(x, (2,))),
    (lambda: nn.InstanceNorm2D(4), (2, 4, 6, 5), lambda x: normalized(x, (2, 3))),
    (
        lambda: nn.GroupNorm(2, 4),
        (2, 4, 6),
        lambda x: normalized(x.reshape(2, 2, -1), (2,)).reshape(x.shape),
    ),
    (
        lambda: nn.GroupNorm(2, 4, data_format="NHWC"),
        (2, 3, 5, 4),
        lambda x: normalized(x.reshape(2, 15, 2, 2), (1, 3)).reshape(x.shape),
    ),
]


@pytest.mark.parametrize(("make", "shape", "expected"), OTHERS)
def test_other_norms(make, shape, expected):
    x = drawn(*shape)
    close(make()(to_tensor(x)), expected(x))


def test_a_size_may_be_an_integer_of_numpy():
    assert nn.LayerNorm(np.prod([2, 3])).weight.shape == [6]


def test_weights_can_be_left_out():
    assert nn.LayerNorm(3, elementwise_affine=False).state_dict() == {}
    assert list(nn.LayerNorm(3, bias=False).state_dict()) == ["weight"]
    assert list(nn.LayerNorm(3, weight_attr=False).state_dict()) == ["bias"]
    assert nn.GroupNorm(3, 6, affine=False).state_dict() == {}
    assert nn.InstanceNorm2D(3, weight_attr=False, bias_attr=False).scale is None
    assert nn.LayerNorm(3, dtype="float64").weight.dtype.name == "float64"
    with default_dtype_guard("float64"):
        made = (nn.BatchNorm1D(3), nn.LayerNorm(3), nn.GroupNorm(1, 3))
        assert {layer.weight.dtype.name for layer in made} == {"float64"}


def test_spectral_norm_divides_by_the_largest_singular_value():
    layer, weight = nn.SpectralNorm([4, 6, 2], dim=1, power_iters=50), drawn(4, 6, 2)
    largest = np.linalg.norm(weight.swapaxes(0, 1).reshape(6, -1), 2)
    before = layer.weight_u.numpy()
    close(layer(to_tensor(weight)), weight / largest)
    assert (layer.weight_u.numpy() == before).all() and layer.weight_u.stop_gradient


ERRORS = [
    (lambda: nn.BatchNorm2D(3)(to_tensor(drawn(2, 3, 4))), ShapeError, r"expected 4D input, got 3D .*\[2, 3, 4\]"),
    (lambda: nn.BatchNorm1D(3)(to_tensor(drawn(2, 3, 4, 5))), ShapeError, "expected 2D or 3D input"),
    (lambda: nn.InstanceNorm3D(3)(to_tensor(drawn(2, 3))), ShapeError, "expected 5D input"),
    (lambda: nn.InstanceNorm2D(3, weight_attr=False), ArgumentError, "False together"),
    (lambda: nn.LayerNorm(3)(to_tensor(drawn(2, 4))), ShapeError, "normalized_shape"),
]


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_a_channel_of_one_element_is_left_as_it_is():
    layer, x = nn.BatchNorm1D(2), to_tensor([[1.0, 5.0]], stop_gradient=False)
    y = layer(x)
    (y * to_tensor([[2.0, 7.0]])).sum().backward()
    assert y.tolist() == [[1.0, 5.0]] and x.grad.tolist() == [[2.0, 7.0]]
    assert layer.weight.grad.tolist() == layer.bias.grad.tolist() == layer._mean.tolist() == [0.0, 0.0]


def test_a_channel_of_one_element_in_a_program_of_any_batch_size():
    layer = nn.BatchNorm1D(2)
    program = to_static(layer, full_graph=True, input_spec=[InputSpec([None, 2], "float32")])
    assert program(to_tensor([[1.0, 5.0]])).tolist() == [[1.0, 5.0]] and layer._mean.tolist() == [0.0, 0.0]
    close(program(to_tensor([[1.0, 5.0], [3.0, 5.0]])), np.array([[-1.0, 0.0], [1.0, 0.0]]))
    close(layer._mean, np.array([0.2, 0.5]))


def test_is_test_starts_in_evaluation():
    layer = nn.BatchNorm(2, is_test=True)
    assert not layer.training
    layer.train()
    close(layer(to_tensor([[1.0, 2.0], [3.0, 6.0]])), np.array([[-1.0, -1.0], [1.0, 1.0]]))


def test_spectral_norm_adds_eps_to_lengths():
    layer = nn.SpectralNorm([2, 2], eps=0.1)
    layer.weight_u.set_value(np.array([1.0, 2.0], "float32"))
    w = to_tensor([[1.0, 2.0], [3.0, 4.0]])
    close(layer(w), np.array([[0.18788648, 0.37577295], [0.5636594, 0.7515459]]))


@pytest.mark.parametrize(
    ("layer", "shown"),
    [
        (nn.PixelShuffle(2, "NHWC"), "PixelShuffle(upscale_factor=2, data_format=NHWC)"),
        (nn.ChannelShuffle(2), "ChannelShuffle(groups=2)"),
        (nn.LocalResponseNorm(3, data_format="NHWC"), "LocalResponseNorm(size=3, alpha=0.0001, beta=0.75, k=1.0, "
         "data_format=NHWC)"),
        (nn.RReLU(0.1, 0.2, name="q"), "RReLU(lower=0.1, upper=0.2, training=True, dtype=float32, name=q)"),
        (nn.MaxPool1D(2, name="q"), "MaxPool1D(kernel_size=2, stride=None, padding=0)"),
        (nn.L1Loss(name="q"), "L1Loss()"),
        (nn.Bilinear(4, 3, 2, False), "Bilinear(in1_features=4, in2_features=3, out_features=2, dtype=None)"),
    ],
)  # fmt: skip
def test_what_layers_show(layer, shown):
    assert repr(layer) == shown


def test_the_name_of_a_batch_norm_is_in_those_of_its_averages():
    with guard():
        names = [p.name for p in nn.BatchNorm2D(4, name="stem").parameters()]
    assert names[2:] == ["stem_mean", "stem_variance"]


def test_a_named_batch_norm_becomes_a_sync_batch_norm():
    with guard():
        layer = nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm2D(4, name="stem"))
    assert layer._mean.name == "stem_mean" and "name=stem" in repr(layer)


def test_a_sync_batch_norm_holds_what_it_does_not_train():
    layer = nn.SyncBatchNorm(4, weight_attr=False)
    assert list(layer.state_dict()) == ["bias", "_mean", "_variance", "weight"]
    assert layer.weight.stop_gradient and layer.weight.tolist() == [1.0] * 4


def test_a_derived_norm_shows_its_own_parameters():
    class Fused(nn.BatchNorm2D):
        def __init__(self, channels, act="relu"):
            super().__init__(channels)

    class Named(nn.BatchNorm1D):
        pass

    assert str(inspect.signature(Fused)) == "(channels, act='relu')"
    assert inspect.signature(Named).parameters["data_format"].default == "NCL"
