"""Small facts of Paddle's functions that the comparison with Paddle brought up, each as one call and its result."""

import inspect
from fractions import Fraction

import numpy as np
import pytest

import vitrify as paddle
from vitrify.nn import functional as F


def t(value, dtype="float32"):
    return paddle.to_tensor(value, dtype=dtype)


ONE, TWO = t([1.0, 2.0]), t([[1.0, 2.0], [3.0, 4.0]])
EMPTY, NO_HEAD = paddle.zeros([0]), paddle.zeros([1, 1, 1, 0])


@pytest.mark.parametrize(
    ("call", "wanted", "dtype"),
    [
        (lambda: paddle.maximum(ONE, t(3.0, "float64")), [3, 3], "float64"),
        (lambda: paddle.add(ONE, t(3.0, "float64")), [4, 5], "float32"),
        (lambda: paddle.where(ONE > 1, ONE, t(3.0, "float64")), [3, 2], "float64"),
        (lambda: t([4, 6], "int32") / t(4.0, "float64"), [1, 1.5], "float64"),
        (lambda: t([True, False], "bool") ** 2, [1, 0], "int64"),
        (lambda: paddle.clip(t(1.0), t([2.0])), 2, "float32"),
        (lambda: paddle.scale(t([4, 9], "int32"), t(2.5), bias=0.5), [8, 18], "int32"),
        (lambda: paddle.scale(t([True, False], "bool"), 2.0), [True, False], "bool"),
        (lambda: paddle.renorm(t([-1.0, 2.0, 3.0]), 2.0, 0, 1.5), [-1, 1.5, 1.5], "float32"),
        (lambda: paddle.reduce_as(t([[1, 2], [3, 4]], "int32"), t([0, 0], "int32")), [4, 6], "int64"),
        (lambda: paddle.reduce_as(TWO > 1, t([0, 0], "bool")), [1, 2], "int64"),
        (lambda: paddle.trace(t([[1, 2], [3, 4]], "int32")), 5, "int32"),
        (lambda: paddle.histogram_bin_edges(t([1.0, 1.0]), bins=2), [0.5, 1, 1.5], "float32"),
        (lambda: paddle.histogram_bin_edges(t([1.0, 1.0]), bins=2, min=3, max=3), [2.5, 3, 3.5], "float32"),
        (lambda: paddle.histogram_bin_edges(ONE, bins=0), [1], "float32"),
        (lambda: paddle.histogram_bin_edges(ONE, bins=-1), [], "float32"),
        (lambda: paddle.histogram_bin_edges(t([1.0, 3.0]), bins=2.5), [1, 2, 3], "float32"),
        (lambda: paddle.histogram_bin_edges(t([1.0, 3.0]), bins=t(2, "int64")), [1, 2, 3], "float32"),
        (lambda: paddle.histogram_bin_edges(EMPTY, bins=2, max=1), [0, 0.5, 1], "float32"),
        (lambda: paddle.quantile(EMPTY, 0.5), 0, "float32"),
        (lambda: paddle.nanquantile(EMPTY, [0.1, 0.9]), [0, 0], "float32"),
        (lambda: paddle.masked_fill(ONE, t([0, 2], "int64"), 5.0), [1, 5], "float32"),
        (lambda: paddle.masked_fill(ONE, t([0.0, 0.5]), 5.0), [1, 5], "float32"),
        (lambda: paddle.cross(t([0.0, 1.0, 0.0]), t([0.0, 0.0, 1.0]), axis=None), [1, 0, 0], "float32"),
        (lambda: paddle.var(EMPTY), np.nan, "float32"),
        (lambda: paddle.var(EMPTY, unbiased=False), np.nan, "float32"),
        (lambda: paddle.std(paddle.zeros([0, 2]), axis=0), [np.nan, np.nan], "float32"),
        (lambda: paddle.var(t([1.0, 2.0, 5.0]), correction=2), 26 / 3, "float32"),
        (lambda: paddle.linalg.cov(t([[1.0, 3.0]])), 2, "float32"),
        (lambda: paddle.linalg.corrcoef(t([[1.0, 3.0]])), 1, "float32"),
        (lambda: paddle.combinations(ONE, 0), [], "float32"),
        (lambda: paddle.arange(1, 5.5, 2, dtype="int64"), [1, 3], "int64"),
        (lambda: paddle.arange(0.5, 4, 1, dtype="int64"), [0, 1, 2, 3], "int64"),
        (lambda: paddle.range(1, 4.5, 2), [1, 3], "float32"),
        (lambda: paddle.range(0.5, 4, 1, dtype="int64"), [0, 1, 2, 3, 4], "int64"),
        (lambda: paddle.range(np.int64(1), np.array([2])), [1, 2], "float32"),
        (lambda: paddle.arange(np.array([1]), 3), [1, 2], "int64"),
        (lambda: paddle.nn.functional.one_hot(t([1], "int64"), np.array([2])), [[0, 1]], "float32"),
        (lambda: paddle.topk(ONE, np.array([1]))[0], [2], "float32"),
        (lambda: paddle.quantile(t([1.0, 2.0, 5.0]), [0.5]), 2, "float32"),
        (lambda: paddle.nanquantile(t([[1.0, 2.0, 5.0]]), t([0.5]), axis=1), [2], "float32"),
        (lambda: paddle.logsumexp(paddle.zeros([1, 2]), axis=range(1)), [0, 0], "float32"),
        (lambda: paddle.histogram_bin_edges(t([1.0, 3.0]), bins=np.int64(2)), [1, 2, 3], "float32"),
        (lambda: paddle.linspace(1, 2.5, 4, dtype="int64"), [1, 1, 1, 2], "int64"),
        (lambda: paddle.logspace(0, 3.5, 4, dtype="int32"), [1, 10, 100, 1000], "int32"),
        (lambda: paddle.assign(1.5), [1.5], "float64"),
        (lambda: paddle.assign([1.5, 2]), [1.5, 2], "float64"),
        (lambda: paddle.assign(True), [True], "bool"),
        (lambda: paddle.dot(t([1, 2], "int32"), t([3, 4], "int32")), 11, "int32"),
        (lambda: paddle.nansum(ONE, dtype="int32"), 3, "int32"),
        (lambda: t([1, 2], "int32").cumsum_(), [1, 3], "int32"),
        (lambda: t([True, False, True], "bool").where()[0], [0, 2], "int64"),
        (lambda: t([1, 2], "int64") * np.float32(1.5), [1, 2], "int64"),
        (lambda: t([3, 4], "int64") / np.float32(1.5), [3, 4], "float32"),
        (lambda: t([1, 2], "int64") + np.float64(1.5), [2.5, 3.5], "float32"),
        (lambda: t([1, 2], "int32") + np.int64(1), [2, 3], "int32"),
        (lambda: t([True, False], "bool") + np.int64(1), [2, 1], "int64"),
        (lambda: t([3, 4], "int64") / np.array(1.5), [2, 8 / 3], "float64"),
        (lambda: ONE @ np.array([3, 4]), 11, "float32"),
        (lambda: np.ones((2, 2)) @ TWO, [[4, 6], [4, 6]], "float32"),
        (lambda: TWO @ t([1.0, 1.0], "float64"), [3, 7], "float32"),
        (lambda: t([1, 2], "int64") @ t([1.5, 1.0]), 3, "int64"),
        (lambda: paddle.var(t([1, 2, 4], "int64")), 2, "int64"),
        (lambda: paddle.std(t([1, 2, 5], "int32")), 5**0.5, "float32"),
        (lambda: paddle.nanmedian(t([1, 2, 4, 8], "int64")), 3, "int64"),
        (lambda: paddle.linalg.cov(paddle.zeros([2, 0])), [[np.nan, np.nan]] * 2, "float32"),
        (lambda: paddle.isclose(ONE > 1, ONE > 0), [False, True], "bool"),
        (lambda: F.sequence_mask(t([1.6, 0.5])), [[1], [1]], "int64"),
        (lambda: F.cross_entropy(TWO * 0, TWO[0] > 1), np.log(2), "float32"),
        (lambda: F.scaled_dot_product_attention(NO_HEAD, NO_HEAD, paddle.ones([1, 1, 1, 1])), [[[[1]]]], "float32"),
        (lambda: paddle.linalg.lstsq(TWO, paddle.zeros([2, 0]))[0], [[], []], "float32"),
        (lambda: F.conv1d_transpose(paddle.zeros([1, 1, 0]), paddle.ones([1, 1, 2])), [[[0]]], "float32"),
        (lambda: paddle.histogram(t([-1.0, 0.5, 2.0, 3.0]), bins=4, min=0.5, max=0.5), [1, 1, 0, 2], "int64"),
        (lambda: t([-5, 1, 5], "int32").clip_(0.5, 2.7), [0, 1, 2], "int32"),
        (lambda: paddle.to_tensor([np.int32(3)]), [3], "int64"),
        (lambda: paddle.to_tensor([np.float16(3)]), [3], "float32"),
        (lambda: paddle.to_tensor([np.int8(3)]), [3], "int8"),
    ],
)  # fmt: skip
def test_results(call, wanted, dtype):
    found = call()
    assert found.dtype == getattr(paddle, dtype)
    assert tuple(found.shape) == np.shape(wanted)
    np.testing.assert_allclose(found.numpy(), np.asarray(wanted), rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: paddle.ones([2, 1]).add_(paddle.ones([2, 3])), ValueError),
        (lambda: paddle.ones([2, 1]).lerp_(paddle.ones([2, 3]), 0.5), ValueError),
        (lambda: paddle.ones([2, 1]).less_than_(paddle.ones([2, 3])), ValueError),
        (lambda: paddle.sum(ONE, axis=5), ValueError),
        (lambda: paddle.sum(ONE, axis=5), IndexError),
        (lambda: paddle.bitwise_and(ONE, ONE), ValueError),
        (lambda: paddle.bitwise_and(ONE, ONE), TypeError),
        (lambda: paddle.clip(ONE, 2, 1), ValueError),
        (lambda: paddle.histogram_bin_edges(EMPTY), ValueError),
        (lambda: paddle.histogram_bin_edges(ONE, bins=-2), ValueError),
        (lambda: paddle.histogram_bin_edges(ONE, bins="2"), TypeError),
        (lambda: paddle.histogram(ONE, bins=2.5), TypeError),
        (lambda: paddle.var(ONE, unbiased=True, correction=2), ValueError),
        (lambda: paddle.median(TWO, axis=[0, 1]), ValueError),
        (lambda: paddle.nanmedian(TWO, axis=[]), ValueError),
        (lambda: paddle.transpose(t(1.0), [0]), ValueError),
        (lambda: paddle.squeeze(t(1.0), [0, 2]), ValueError),
        (lambda: paddle.repeat_interleave(ONE, 0), ValueError),
        (lambda: paddle.roll(TWO, [1, 2]), ValueError),
        (lambda: paddle.split(TWO, [2, -1]), ValueError),
        (lambda: paddle.ldexp(ONE, 2), TypeError),
        (lambda: ONE.item(5), ValueError),
        (lambda: t([1, 2], "int32") // t([1, 0], "int32"), ValueError),
        (lambda: t([1, 2], "int32") % 0, ValueError),
        (lambda: paddle.to_tensor([1 + 1j]) // 2, TypeError),
        (lambda: t([1], "int8") / t([1], "int16"), TypeError),
        (lambda: paddle.matmul(ONE, 2), TypeError),
        (lambda: paddle.kron(ONE, 2), ValueError),
        (lambda: paddle.equal_all(ONE, 2), ValueError),
        (lambda: paddle.where_(ONE > 1, 1.0, ONE), TypeError),
        (lambda: paddle.where_(t([True, False], "bool"), t([1.0]), 2.0), ValueError),
        (lambda: paddle.where_(True, ONE.reshape([1]), t([[1.0], [2.0]])), ValueError),
        (lambda: paddle.scale(ONE, 2.0, act="rule"), ValueError),
        (lambda: paddle.scale(ONE, 2.0, act="ndim"), ValueError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error):
        call()


def test_where_in_place_changes_x():
    condition, x = t([True, False], "bool"), t([1.0, 2.0])
    assert paddle.where_(condition, x, t([5.0, 6.0])) is x
    assert x.tolist() == [1, 6]
    assert condition.tolist() == [True, False]


def gradient(function, values):
    x = t(values)
    x.stop_gradient = False
    function(x).sum().backward()
    return x.grad.numpy()


def test_gradients_where_functions_are_nearly_undefined():
    np.testing.assert_allclose(gradient(paddle.acosh, [-2.0, 2.0]), [3**-0.5, 3**-0.5], rtol=1e-6)
    np.testing.assert_array_equal(gradient(paddle.logit, [2.0, -1.0]), [np.nan, np.nan])
    np.testing.assert_array_equal(gradient(lambda x: paddle.logit(x, 0.1), [2.0, 0.5]), [0, 4])


def test_renorm_in_place_has_a_gradient():
    wanted = gradient(lambda x: paddle.renorm(x, 2.0, 0, 1.0), [[1.0, 2.0]])
    np.testing.assert_allclose(gradient(lambda x: x.clone().renorm_(2.0, 0, 1.0), [[1.0, 2.0]]), wanted)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (paddle.argmax, ()), (paddle.argmin, (1,)), (paddle.isclose, (TWO,)), (paddle.isfinite, ()), (paddle.isinf, ()),
        (paddle.isnan, ()), (paddle.roll, (1,)), (paddle.roll, ([1], 0)), (paddle.expand_as, (TWO,)),
        (paddle.index_put, ((t([0], "int64"),), t([9.0]))), (paddle.index_put, ((t([0], "int64"),), t([9.0]), True)),
        (paddle.nn.functional.gelu, ()),
    ],
)  # fmt: skip
def test_results_are_put_into_out(function, args):
    x, out = paddle.to_tensor([[0.0, 1.0], [1.0, -1.0]]), paddle.zeros([1])
    x = x if function is not paddle.expand_as else x[0]
    assert function(x, *args, out=out) is out
    np.testing.assert_array_equal(out.numpy(), function(x, *args).numpy())


def test_a_diagonal_and_samples_are_put_into_out():
    diagonal, samples = paddle.zeros([1]), paddle.zeros([1])
    paddle.diagonal(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), out=diagonal)
    grid_sample = paddle.nn.functional.grid_sample
    for mode in ("bilinear", "nearest"):
        grid_sample(paddle.ones([1, 1, 2, 2]), paddle.zeros([1, 1, 1, 2]), mode=mode, out=samples)
        assert samples.tolist() == [[[[1.0]]]]
    assert diagonal.tolist() == [1.0, 4.0]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("bitwise_and", ["x", "y", "out", "name"]),
        ("bitwise_not", ["x", "out", "name"]),
        ("prod", ["x", "axis", "keepdim", "dtype", "out", "name"]),
        ("var", ["x", "axis", "unbiased", "keepdim", "name", "correction", "out"]),
        ("quantile", ["x", "q", "axis", "keepdim", "interpolation", "name", "out"]),
        ("cumprod", ["x", "dim", "dtype", "out", "name"]),
        ("full_like", ["x", "fill_value", "dtype", "name", "device", "requires_grad", "pin_memory"]),
        ("zeros_like", ["x", "dtype", "name", "device", "requires_grad", "pin_memory"]),
    ],
)
def test_signatures(name, parameters):
    assert list(inspect.signature(getattr(paddle, name)).parameters) == parameters
    assert paddle.zeros_like(ONE, requires_grad=True).stop_gradient is False


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ("int8", "int16", "int16"),
        ("int64", "int32", "int64"),
        ("float32", "float64", "float64"),
        ("float16", "int32", "float16"),
    ],
)
def test_a_quotient_of_a_0d_tensor_has_the_wider_dtype(a, b, wanted):
    many, one = paddle.ones([2]), paddle.to_tensor(3.0)
    for x, y in ((many, one), (one, many)):
        for first, second in ((a, b), (b, a)):
            assert (x.astype(first) // y.astype(second)).dtype == getattr(paddle, wanted)


@pytest.mark.parametrize("value", [None, {"a": 1}])
def test_what_holds_no_numbers_is_no_tensor(value):
    with pytest.raises(TypeError, match=f"cannot make a tensor of {type(value).__name__}"):
        paddle.to_tensor(value)


def test_a_number_alone_is_no_operand():
    with pytest.raises(ValueError, match="gelu: argument 0 must be a tensor, got float"):
        paddle.nn.functional.gelu(3.0)


@pytest.mark.parametrize(
    "loss",
    [
        lambda x, y: F.kl_div(F.log_softmax(x), y),
        lambda x, y: F.binary_cross_entropy(F.sigmoid(x), y),
        F.binary_cross_entropy_with_logits,
        lambda x, y: F.cross_entropy(x, y, soft_label=True),
        lambda x, y: F.cross_entropy(F.softmax(x), y, soft_label=True, use_softmax=False),
        lambda x, y: F.log_loss(F.sigmoid(x), y).sum(),
    ],
)
def test_labels_get_no_gradient(loss):
    """Two models that learn from each other are each compared with what the other one gave."""
    x, y = (paddle.to_tensor([[0.2, 0.8]], stop_gradient=False) for _ in range(2))
    loss(x, y).backward()
    assert x.grad is not None and y.grad is None


W = paddle.to_tensor([0.5, 2.0])


@pytest.mark.parametrize(
    "loss",
    [
        lambda x, given: paddle.lerp(x, x * 3, given),
        lambda x, given: paddle.scale(x, given[0]),
        lambda x, given: F.label_smooth(x, given),
        lambda x, given: F.gaussian_nll_loss(x, x * 2, given.expand([1, 2])),
        lambda x, given: F.nll_loss(x, paddle.to_tensor([1]), given),
        lambda x, given: F.binary_cross_entropy_with_logits(x, x.detach(), pos_weight=given),
        lambda x, given: F.batch_norm(x, W, W, weight=given),
        lambda x, given: F.batch_norm(x, W.clone(), W.clone(), bias=given, training=True),
        lambda x, given: F.instance_norm(x.unsqueeze(-1), weight=given),
    ],
)
@pytest.mark.parametrize("wrap", [lambda f: f, paddle.jit.to_static])
def test_factors_that_are_given_get_no_gradient(wrap, loss):
    x, given = paddle.to_tensor([[0.2, 0.8]]), paddle.to_tensor([0.5, 1.5])
    x.stop_gradient = given.stop_gradient = False
    wrap(loss)(x, given).sum().backward()
    assert x.grad is not None and given.grad is None


def test_the_gradient_of_soft_labels_takes_them_to_add_up_to_one():
    x, label = t([[0.0, 0.0]]), t([[1.0, 2.0]])
    x.stop_gradient = False
    F.cross_entropy(x, label, soft_label=True).backward()
    assert x.grad.tolist() == [[-0.5, -1.5]]


def test_predictions_that_are_certain_have_a_finite_slope():
    p, y = paddle.to_tensor([0.0, 1.0, 0.0, 1.0], stop_gradient=False), paddle.to_tensor([0.0, 1.0, 1.0, 0.0])
    F.binary_cross_entropy(p, y, reduction="sum").backward()
    assert np.allclose(p.grad.numpy(), [0.0, 0.0, -1e12, 1e12])


@pytest.mark.parametrize(
    "call",
    [
        lambda x: paddle.exp(None),
        lambda x: paddle.exp("a"),
        lambda x: paddle.imag(None),
        lambda x: paddle.roll(None, 1),
        lambda x: paddle.add(x, None),
        lambda x: x * None,
        lambda x: paddle.matmul(x, None),
    ],
)
def test_what_is_no_tensor_is_a_type_error(call):
    with pytest.raises(TypeError):
        call(ONE)


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        (lambda: F.pixel_shuffle(paddle.zeros([1, 0, 2, 2]), 2), [1, 0, 4, 4]),
        (lambda: F.pixel_shuffle(paddle.zeros([1, 4, 0, 2]), 2), [1, 1, 0, 4]),
        (lambda: F.pixel_shuffle(paddle.zeros([1, 4, 3, 0]), 2), [1, 1, 6, 0]),
        (lambda: F.pixel_shuffle(paddle.zeros([0, 2, 3, 4]), 2, "NHWC"), [0, 4, 6, 1]),
        (lambda: F.pixel_unshuffle(paddle.zeros([2, 1, 0, 4]), 2), [2, 4, 0, 2]),
        (lambda: F.channel_shuffle(paddle.zeros([1, 4, 0, 2]), 2), [1, 4, 0, 2]),
        (lambda: F.channel_shuffle(paddle.zeros([1, 3, 0, 4]), 2, "NHWC"), [1, 3, 0, 4]),
        (lambda: paddle.linalg.pinv(paddle.zeros([2, 3, 0])), [2, 0, 3]),
        (lambda: paddle.linalg.pinv(paddle.zeros([0, 0]), hermitian=True), [0, 0]),
    ],
)
def test_no_elements_have_a_shape(call, shape):
    assert call().shape == shape


@pytest.mark.parametrize("shuffle", [F.pixel_shuffle, F.pixel_unshuffle, F.channel_shuffle])
@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_shuffles_of_open_sizes(shuffle, data_format):
    fixed = 1 if data_format == "NCHW" else 3
    spec = [4 if i == fixed else None for i in range(4)]
    compiled = paddle.jit.to_static(
        lambda x: shuffle(x, 2, data_format), input_spec=[paddle.static.InputSpec(spec, "float32")], full_graph=True
    )
    for sizes in ([2, 4, 6, 4], [1, 4, 0, 4]):
        sizes = sizes if fixed == 1 else [sizes[0], sizes[2], sizes[3], 4]
        x = paddle.arange(np.prod(sizes), dtype="float32").reshape(sizes)
        np.testing.assert_array_equal(compiled(x).numpy(), shuffle(x, 2, data_format).numpy())


@pytest.mark.parametrize("rounded", [paddle.floor, paddle.ceil, paddle.trunc])
def test_complex_numbers_have_no_steps(rounded):
    with pytest.raises(TypeError, match="complex64"):
        rounded(t([1 + 2j], "complex64"))


def test_the_trace_of_bools_is_refused():
    with pytest.raises(TypeError, match=r"trace: .* bool"):
        paddle.trace(t([[True]], "bool"))


@pytest.mark.parametrize("other", [[1.0, 2.0], (1.0, 2.0), "text", None])
def test_what_is_no_number_is_not_equal_to_a_tensor(other):
    assert ONE.__eq__(other) is NotImplemented and ONE.__ne__(other) is NotImplemented


@pytest.mark.parametrize(
    "loss",
    [
        F.smooth_l1_loss, F.log_loss, F.sigmoid_focal_loss, F.kl_div, F.poisson_nll_loss, paddle.cross,
        lambda x, y: F.triplet_margin_loss(x, x, y), lambda x, y: F.triplet_margin_with_distance_loss(x, y, x),
    ],
)  # fmt: skip
@pytest.mark.parametrize("shape", [[3], [1, 3], [2, 1], [1, 2, 3]])
def test_losses_do_not_broadcast(loss, shape):
    with pytest.raises(ValueError, match="differ in shape"):
        loss(paddle.full([2, 3], 0.5), paddle.full(shape, 0.5))


def test_a_running_product_in_place_keeps_what_its_gradient_needs():
    x = t([1.0, 2.0, 3.0])
    x.stop_gradient = False
    y = x * 1
    y.cumprod_().sum().backward()
    assert y.tolist() == [1.0, 2.0, 6.0] and x.grad.tolist() == [9.0, 4.0, 2.0]


def test_bounds_get_no_gradient():
    x, low = t([0.0, 3.0]), t([1.0])
    x.stop_gradient = low.stop_gradient = False
    paddle.clip(x, min=low).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0] and low.grad is None


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.embedding(t([[1, 2]], "int64"), x.reshape([3, 0])),
        lambda x: x.reshape([0, 3]).unfold(1, 2, 1),
        lambda x: paddle.stanh(x, 0.0, 0.0),
    ],
)
def test_gradients_of_nothing(call):
    x = paddle.zeros([0])
    x.stop_gradient = False
    call(x).sum().backward()
    assert x.grad.shape == [0]


def test_on_its_edge_a_triplet_has_a_gradient():
    x = t([[1.0, 2.0]])
    x.stop_gradient = False
    F.triplet_margin_loss(x, x.detach() - 1, x.detach() - 1, margin=0.0, swap=True).backward()
    assert abs(x.grad.numpy()).sum() > 0


@pytest.mark.parametrize("error", [TypeError, ValueError, AssertionError])
@pytest.mark.parametrize(
    "call",
    [
        lambda: paddle.frexp("2.5"),
        lambda: paddle.abs_(2.5),
        lambda: paddle.sort(TWO, axis="text"),
        lambda: paddle.unbind(TWO, axis=[0]),
        lambda: paddle.cumsum(TWO, axis=1.5),
        lambda: paddle.histogram_bin_edges(TWO, bins=Fraction(2)),
    ],
)
def test_bad_arguments_are_caught_as_what_paddle_raises(call, error):
    with pytest.raises(error):
        call()


def test_where_is_a_method_of_the_condition_and_fills_out():
    x, y, out = t([1.0, 2.0]), t([3.0, 4.0]), paddle.zeros([2])
    found = (x > 1).where(input=x, other=y, out=out)
    assert found is out and out.tolist() == [3.0, 2.0] and x.where(x > 1, 5.0).tolist() == [5.0, 2.0]
    assert [list(p.shape) for p in (x > 1).where()] == [[1]]


def test_functions_in_place_show_the_parameters_of_their_function():
    assert [*inspect.signature(paddle.Tensor.unsqueeze_).parameters] == ["x", "axis", "name"]
    assert paddle.cumprod_(t([2.0, 3.0]), 0, "float64").tolist() == [2.0, 6.0]


@pytest.mark.parametrize(
    "shape, given", [((4, 2), (4, 1)), ((4, 2, 3), (4, 1, 3)), ((4, 2, 3), (4, 3, 1)), ((1, 2), (1, 1))]
)
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_nll_loss_takes_labels_with_one_more_dimension(shape, given, reduction):
    x = paddle.rand(shape)
    label = paddle.randint(0, 2, given)
    plain = label.reshape([shape[0], *shape[2:]])
    found, wanted = (F.nll_loss(x, v, reduction=reduction) for v in (label, plain))
    assert found.shape == wanted.shape and found.tolist() == wanted.tolist()
    static = paddle.jit.to_static(lambda x, v: F.nll_loss(x, v, reduction=reduction), full_graph=True)
    assert static(x, label).tolist() == wanted.tolist()
    with pytest.raises(ValueError, match="nll_loss: input has shape"):
        F.nll_loss(x, label.unsqueeze(-1))
