"""Library functions given numbers that only a run knows (offsets, windows, powers) do what eager code does."""

import numpy as np
import pytest

import vitrify as paddle
import vitrify.nn.functional as F
from vitrify.core.errors import ArgumentError, UnsupportedError
from vitrify.eager.late_call import library_function, library_name
from vitrify.ops.homes import HOMES
from vitrify.static import InputSpec

X = np.arange(24, dtype="float32").reshape(2, 3, 4) % 7 - 3
IMAGE = (np.arange(64, dtype="float32").reshape(1, 4, 4, 4) * 5 % 17 - 8) / 4

FUNCTIONS = {
    "offset": lambda x, y, n: paddle.diagonal(x, n),
    "offset by name": lambda x, y, n: paddle.tril(x, diagonal=n),
    "method": lambda x, y, n: x.triu(n),
    "size of the result": lambda x, y, n: paddle.diag(x[0, 0], n),
    "two results": lambda x, y, n: paddle.kthvalue(x, n, axis=1),
    "turns": lambda x, y, n: paddle.rot90(x, n),
    "times": lambda x, y, n: paddle.diff(x, n=n),
    "power": lambda x, y, n: paddle.linalg.matrix_power(x[0, :, :3], n + 4),
    "spectrum": lambda x, y, n: paddle.abs(paddle.fft.rfft(x, n=n + 1)),
    "no gradient": lambda x, y, n: paddle.histogram(x, n),
    "no tensor": lambda x, y, n: paddle.tril_indices(n + 2, 3, n) * x.sum(),
    "window": lambda x, y, n: F.avg_pool2d(y, n),
    "window in a list": lambda x, y, n: F.max_pool2d(y, [2, n], stride=[1, n]),
    "several numbers": lambda x, y, n: F.unfold(y, n, strides=n + 1, paddings=n - 1),
    "stride": lambda x, y, n: F.conv2d(y, y[:, :, :2, :2], stride=n, padding=[n, 0]),
    "groups": lambda x, y, n: F.group_norm(y, n),
    "negative slope": lambda x, y, n: F.leaky_relu(x, n * 0.1),
    "norm": lambda x, y, n: paddle.norm(x, n, axis=1),
    "strides of memory": lambda x, y, n: paddle.as_strided(x, [n, 2], [1, 1]),
    "flag": lambda x, y, n: paddle.std(x, unbiased=n > 1),
    "window of a Layer": lambda x, y, n: paddle.nn.AvgPool2D(n)(y),
    "axis of a Layer": lambda x, y, n: paddle.nn.Softmax(n)(x),
    "slope of a Layer": lambda x, y, n: paddle.nn.LeakyReLU(n * 0.1)(x),
    "blocks of a Layer": lambda x, y, n: paddle.nn.PixelShuffle(n)(y),
    "in a loop": lambda x, y, n: sum([paddle.trace(x, k) * k for k in range(3)]) * n,
    "in a loop of the run": lambda x, y, n: _sum_of_diagonals(x, n),
}


def _sum_of_diagonals(x, n):
    total = paddle.zeros([])
    for k in range(n):
        total = total + paddle.diagonal(x, k).sum() * (k + 1)
    return total


def called(function, number):
    x, y = (paddle.to_tensor(a, stop_gradient=False) for a in (X, IMAGE))
    try:
        found = function(x, y, paddle.to_tensor(number))
    except (ValueError, TypeError) as err:
        return type(err), str(err).split("\n")[0]
    parts = list(found) if isinstance(found, (list, tuple)) else [found]
    sum(((p * p).sum() for p in parts if p.is_floating_point() and not p.stop_gradient), paddle.zeros([])).backward()
    grads = [None if t.grad is None else t.grad.numpy().round(4).tolist() for t in (x, y)]
    return type(found), [p.stop_gradient for p in parts], [p.numpy().round(4).tolist() for p in parts], grads


@pytest.mark.parametrize("name", FUNCTIONS)
def test_number_of_a_run(name):
    use = FUNCTIONS[name]

    def function(x, y, t):
        return use(x, y, int(t))

    static = paddle.jit.to_static(function, full_graph=True)
    for number in (1, 2, 3, 0, -1):
        assert called(static, number) == called(function, number)


def cubes(x, t):
    return paddle.tril(x * x * x, int(t))


def test_gradients_of_gradients():
    def derivatives(function):
        x = paddle.to_tensor(X[0], stop_gradient=False)
        found, value = [], function(x, paddle.to_tensor(1))
        for _ in range(3):
            (value,) = paddle.grad(value.sum(), x, create_graph=True)
            found.append(value.numpy().tolist())
        return found

    assert derivatives(paddle.jit.to_static(cubes, full_graph=True)) == derivatives(cubes)


class Pooled(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([3, 4])

    def forward(self, x):
        return F.avg_pool2d(x, x.shape[2:]), paddle.tril(self.weight, x.shape[0] - 1)


def test_saved_programs_call_late(tmp_path):
    model = Pooled()
    paddle.jit.save(model, str(tmp_path / "m"), input_spec=[InputSpec([None, 3, None, None], "float32")])
    loaded = paddle.jit.load(str(tmp_path / "m"))
    for shape in ((1, 3, 4, 5), (2, 3, 2, 2)):
        x = paddle.rand(shape)
        for found, expected in zip(loaded(x), model(x)):
            assert np.allclose(found.numpy(), expected.numpy()) and found.shape == expected.shape


def test_what_shares_memory_is_not_changed():
    def function(x, t):
        x = x * 1
        shown = paddle.diagonal(x, int(t))
        shown[0] = 5.0
        return x

    with pytest.raises(UnsupportedError, match="waited for a number of the run"):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor(X[0]), paddle.to_tensor(1))


def test_random_numbers_do_not_wait():
    def function(x, t):
        return F.rrelu(x, float(t), float(t))

    with pytest.raises(UnsupportedError):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor(X), paddle.to_tensor(0.5))


def test_names_of_functions():
    assert library_name(paddle.kthvalue) == "sort.kthvalue"
    assert library_function("sort.kthvalue") is paddle.kthvalue
    assert library_name(paddle.tanh_) is None and library_name(np.tanh) is None and library_name(Pooled) is None


@pytest.mark.parametrize("name", ["os.system", "registry.define_op", "sort._topk_kernel", "sort.as_int", "sort", "..x"])
def test_files_can_name_no_other_function(name):
    with pytest.raises(ArgumentError, match="no function of the library"):
        library_function(name)


REFUSED = {
    "topk": (lambda x, n: paddle.topk(x, n)[0], 0),
    "repeats": (lambda x, n: paddle.repeat_interleave(x, n, 0), 0),
    "classes": (lambda x, n: F.one_hot(x.abs().astype("int64") * 0, n), 0),
    "adaptive average": (lambda x, n: F.adaptive_avg_pool1d(x, n), -1),
    "adaptive maximum": (lambda x, n: F.adaptive_max_pool1d(x, n), -1),
    "sizes": (lambda x, n: F.interpolate(x, size=[n], mode="linear", data_format="NCW"), 0),
    "samples": (lambda x, n: paddle.multinomial(x[0].abs() + 1, n, replacement=True), 0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_run_refuses_what_eager_code_does(name):
    function, number = REFUSED[name]
    static = paddle.jit.to_static(lambda x, t: function(x, int(t)), full_graph=True)
    x = paddle.to_tensor(X)
    assert static(x, paddle.to_tensor(2)).shape == function(x, 2).shape
    with pytest.raises(ValueError) as expected:
        function(x, number)
    with pytest.raises(type(expected.value)):
        static(x, paddle.to_tensor(number))


def test_the_op_is_found_by_programs_that_are_read():
    assert HOMES["late_call"] == "vitrify.eager.late_call"
