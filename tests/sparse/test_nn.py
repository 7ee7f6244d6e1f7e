"""Networks on sparse tensors, compared with what dense ones give at the places that are stored."""

import numpy as np
import pytest

import vitrify as paddle
import vitrify.nn.functional as F
import vitrify.sparse.nn as nn
from vitrify.core.errors import ArgumentError, DTypeError, ShapeError

PLACES = {2: [(0, 0, 0), (0, 2, 3), (1, 1, 1), (1, 1, 2), (1, 3, 4)], 3: [(0, 0, 1, 1), (0, 2, 3, 3), (1, 1, 1, 2)]}
SIZES = {2: (2, 4, 5, 3), 3: (2, 3, 4, 4, 3)}
SETTINGS = [
    {"kernel_size": 3, "padding": 1},
    {"kernel_size": 2, "stride": 2},
    {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": 2, "dilation": 2, "padding": 1},
    {"kernel_size": 3, "padding": "same"},
    {"kernel_size": 3, "stride": 3, "padding": 2},
]


def dense_of(dims, seed=0):
    found = np.zeros(SIZES[dims], "float64")
    for place in PLACES[dims]:
        found[place] = np.random.default_rng(seed).normal(size=SIZES[dims][-1]) + len(place)
        seed += 1
    return paddle.to_tensor(found)


def sparse_of(dims, seed=0):
    return dense_of(dims, seed).to_sparse_coo(dims + 1)


def dense_conv(dims, x, weight, bias=None, **settings):
    """The dense convolution, channels last, with the weight as sparse ones have it: [*kernel, in, out]."""
    turned = weight.transpose([dims + 1, dims, *range(dims)])
    layout = {2: "NHWC", 3: "NDHWC"}[dims]
    return {2: F.conv2d, 3: F.conv3d}[dims](x, turned, bias, data_format=layout, **settings)


def made(layer, dims, **settings):
    paddle.seed(3)
    paddle.set_default_dtype("float64")
    try:
        return layer(SIZES[dims][-1], 2, **settings)
    finally:
        paddle.set_default_dtype("float32")


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_convolutions_are_dense_ones_where_a_window_holds_something(dims, settings):
    net = made({2: nn.Conv2D, 3: nn.Conv3D}[dims], dims, **settings)
    others = {k: v for k, v in settings.items() if k != "kernel_size"}
    found = net(sparse_of(dims))
    want = dense_conv(dims, dense_of(dims), net.weight, **others)
    marks = (dense_of(dims) != 0).astype("float64")
    used = dense_conv(dims, marks, paddle.ones_like(net.weight), **others).numpy() > 0.5
    assert found.shape == want.shape
    assert sorted(map(tuple, found.indices().numpy().T)) == sorted(map(tuple, np.argwhere(used.any(-1))))
    stored = (want + net.bias).numpy() * used
    np.testing.assert_allclose(found.to_dense().numpy(), stored, atol=1e-12)


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("settings", [{"kernel_size": 3}, {"kernel_size": 3, "dilation": 2}, {"kernel_size": 1}])
def test_submanifold_convolutions_are_stored_where_their_input_is(dims, settings):
    net = made({2: nn.SubmConv2D, 3: nn.SubmConv3D}[dims], dims, **settings)
    x = sparse_of(dims)
    found = net(x)
    edge = (settings["kernel_size"] // 2) * settings.get("dilation", 1)
    want = dense_conv(dims, dense_of(dims), net.weight, net.bias, padding=edge, dilation=settings.get("dilation", 1))
    np.testing.assert_array_equal(found.indices().numpy(), x.indices().numpy())
    np.testing.assert_allclose(found.values().numpy(), want.numpy()[tuple(x.indices().numpy())], atol=1e-12)


def test_gradients_are_those_of_the_dense_convolution():
    net = made(nn.Conv3D, 3, kernel_size=3, padding=1, stride=2, bias_attr=False)
    grads = []
    calls = [
        lambda x: net(x.to_sparse_coo(4)).to_dense(),
        lambda x: dense_conv(3, x, net.weight, padding=1, stride=2),
    ]
    for call in calls:
        x = dense_of(3)
        x.stop_gradient = False
        net.clear_gradients()
        (call(x) ** 2).sum().backward()
        grads.append((net.weight.grad.numpy(), x.grad.numpy() * (x.numpy() != 0)))
    for mine, want in zip(*grads):
        np.testing.assert_allclose(mine, want, atol=1e-10)


class Network(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.SubmConv3D(3, 4, 3, padding=1, bias_attr=False, key="a")
        self.norm = nn.BatchNorm(4)
        self.down = nn.Conv3D(4, 5, 2, stride=2)
        self.pool = nn.MaxPool3D(2, 1)

    def forward(self, x):
        found = nn.functional.relu(self.norm(self.first(x.to_sparse_coo(4))))
        found = self.pool(nn.LeakyReLU(0.2)(nn.functional.relu6(self.down(found))))
        return found.to_dense()


@pytest.mark.parametrize("training", [False, True])
def test_a_network_is_the_same_in_a_program(training):
    """How many elements are stored is known to each run alone."""
    paddle.seed(1)
    net = Network()
    net.train() if training else net.eval()
    spec = [paddle.static.InputSpec([2, 3, 4, 4, 3], "float32")]
    static = paddle.jit.to_static(net.forward, input_spec=spec, full_graph=True)
    start = {name: value.numpy() for name, value in net.state_dict().items()}
    for seed in (0, 5):
        results = []
        for call in (net, static):
            net.set_state_dict(start)
            net.clear_gradients()
            x = dense_of(3, seed).astype("float32")
            if seed:
                x[0, 0] = 0.5
            out = call(x)
            (out**2).sum().backward()
            grads = [p.grad.numpy() for p in net.parameters() if not p.stop_gradient]
            results.append([out.numpy(), *grads, *(v.numpy() for v in net.state_dict().values())])
        for mine, want in zip(*results, strict=True):
            np.testing.assert_allclose(mine, want, atol=1e-6)


def test_pools_take_the_largest_that_is_stored():
    x = sparse_of(3)
    x = x.with_values(-x.values().abs())
    found = nn.MaxPool3D(2, 2, ceil_mode=True)(x)
    filled = np.where(x.to_dense().numpy() == 0, -np.inf, x.to_dense().numpy())
    filled = np.pad(filled, [(0, 0), (0, 1), (0, 0), (0, 0), (0, 0)], constant_values=-np.inf)
    want = filled.reshape(2, 2, 2, 2, 2, 2, 2, 3).max((2, 4, 6))
    np.testing.assert_allclose(found.to_dense().numpy(), np.where(np.isinf(want), 0, want))
    assert found.nnz() == int(np.isfinite(want).any(-1).sum())


def test_batch_norm_counts_what_is_stored():
    x = sparse_of(2)
    norm = made(lambda _, __, **settings: nn.BatchNorm(3), 2)
    values = x.values().numpy()
    want = (values - values.mean(0)) / np.sqrt(values.var(0) + 1e-5)
    np.testing.assert_allclose(norm(x).values().numpy(), want, atol=1e-12)
    np.testing.assert_allclose(norm._mean.numpy(), 0.1 * values.mean(0))
    same = nn.SyncBatchNorm.convert_sync_batchnorm(norm)
    assert same is norm


@pytest.mark.parametrize("kind", ["coo", "csr"])
def test_softmax_is_over_what_is_stored(kind):
    dense = paddle.to_tensor([[1.0, 0.0, 900.0], [0.0, 2.0, 2.0], [0.0, 0.0, 0.0]])
    dense.stop_gradient = False
    found = nn.Softmax()(dense.to_sparse_coo(2) if kind == "coo" else dense.to_sparse_csr())
    assert found.is_sparse_csr() == (kind == "csr")
    np.testing.assert_allclose(found.to_dense().numpy(), [[0, 0, 1], [0, 0.5, 0.5], [0, 0, 0]], atol=1e-6)
    (found.values() * paddle.arange(4.0)).sum().backward()
    np.testing.assert_allclose(dense.grad.numpy(), [[0, 0, 0], [0, -0.25, 0.25], [0, 0, 0]], atol=1e-6)


def test_without_elements():
    x = paddle.zeros([1, 3, 4, 4, 3]).to_sparse_coo(4)
    assert nn.Conv3D(3, 2, 3, padding=1)(x).nnz() == 0
    assert nn.SubmConv3D(3, 2, 3)(x).shape == [1, 3, 4, 4, 2]
    assert nn.MaxPool3D(2)(x).to_dense().shape == [1, 1, 2, 2, 3]


@pytest.mark.parametrize(("call", "error", "says"), [
    (lambda: nn.Conv3D(3, 2, 3)(paddle.ones([1, 3, 4, 4, 3])), DTypeError, "sparse tensor"),
    (lambda: nn.Conv3D(3, 2, 3)(sparse_of(2)), ShapeError, "5 dimensions"),
    (lambda: nn.Conv3D(4, 2, 3)(sparse_of(3)), ShapeError, r"\[\*kernel of 3, 3, out\]"),
    (lambda: nn.Conv3D(3, 2, 3, data_format="NCDHW")(sparse_of(3)), ArgumentError, "'NDHWC'"),
    (lambda: nn.Conv3D(3, 2, 3, groups=3), ArgumentError, "groups 1"),
    (lambda: nn.functional.conv3d(sparse_of(3), paddle.ones([1, 1, 1, 3, 2]), groups=3), ArgumentError, "must be 1"),
    (lambda: nn.SubmConv3D(3, 2, 3, stride=2)(sparse_of(3)), ArgumentError, "stride must be 1"),
    (lambda: nn.MaxPool3D(2, return_mask=True), ArgumentError, "return_mask"),
    (lambda: nn.MaxPool3D(2, data_format="NCDHW")(sparse_of(3)), ArgumentError, "'NDHWC'"),
    (lambda: nn.Softmax(0)(dense_of(2).to_sparse_coo(4)), ArgumentError, "last one"),
    (lambda: nn.Softmax()(sparse_of(2)), ShapeError, "all with indices"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(call, error, says):
    with pytest.raises(error, match=says):
        call()
