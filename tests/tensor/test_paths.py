"""Functions of tensors by the paths under `paddle.tensor` that model code imports them from."""

import importlib

import numpy as np
import pytest

import vitrify as paddle

MODULES = ["attribute", "creation", "linalg", "logic", "manipulation", "math", "ops", "random", "search", "stat"]
USED = {
    "manipulation": ["concat", "split", "reshape", "unsqueeze", "squeeze", "gather", "cast", "stack", "flatten"],
    "math": ["multiply", "maximum", "minimum", "clip", "add", "divide", "sign", "add_n", "max", "min", "sum"],
    "ops": ["sigmoid", "floor", "exp", "atan", "reciprocal"],
    "linalg": ["transpose", "bmm", "matmul", "norm"],
    "creation": ["full", "ones_like", "zeros", "zeros_like", "meshgrid", "arange", "linspace", "to_tensor"],
    "logic": ["logical_and", "greater_than"],
    "search": ["where", "masked_select", "topk", "nonzero", "index_select"],
    "random": ["rand"],
    "stat": ["mean"],
}


UNDER_TENSOR_ALONE = {"fill_constant", "gaussian", "tensor_array_to_tensor"}


@pytest.mark.parametrize("name", MODULES)
def test_a_path_leads_to_the_one_function_there_is(name):
    module = importlib.import_module(f"vitrify.tensor.{name}")
    assert module is getattr(paddle.tensor, name)
    assert set(USED.get(name, ())) <= set(module.__all__)
    for member in module.__all__:
        places = [paddle.tensor] if member in UNDER_TENSOR_ALONE else [paddle, paddle.linalg, paddle.nn.functional]
        assert any(getattr(place, member, None) is getattr(module, member) for place in places), member
        assert getattr(paddle.tensor, member) is getattr(module, member)


@pytest.mark.parametrize("name", ["functional", "special"])
def test_a_second_path_leads_to_the_same_functions(name):
    module = getattr(paddle, name)
    assert module.__all__ and all(getattr(module, member) is getattr(paddle, member) for member in module.__all__)


def test_what_is_asked_of_gpus_without_one():
    cuda, device = paddle.cuda, paddle.device
    assert cuda.is_available() == device.is_available() and cuda.device_count() == device.cuda.device_count()
    assert cuda.stream is device.stream_guard and cuda.FloatTensor is paddle.FloatTensor
    assert all(hasattr(cuda, name) for name in cuda.__all__)
    with device.device_guard("cpu"):
        assert cuda.current_device() == 0 and not cuda.is_initialized()
        with pytest.raises(ValueError, match="device should be a gpu"):
            cuda.get_device_properties("cpu")


def test_one_seed_for_all_devices():
    cuda = paddle.cuda
    cuda.manual_seed_all(5)
    state, first = cuda.get_rng_state(), paddle.rand([3]).tolist()
    assert paddle.random.initial_seed() == 5
    cuda.set_rng_state(state)
    assert paddle.rand([3]).tolist() == first


def test_called_by_path_in_a_static_function():
    def fn(x, y):
        z = paddle.tensor.manipulation.concat([x, paddle.tensor.ops.sigmoid(y)], axis=0)
        return paddle.tensor.math.sum(paddle.tensor.math.multiply(z, z))

    x, y = paddle.to_tensor([1.0, -2.0]), paddle.to_tensor([0.5])
    static = paddle.jit.to_static(fn, full_graph=True)
    assert static(x, y).item() == fn(x, y).item()


def test_the_module_is_a_function_too():
    data = np.array([1.0, 2.0])
    found = paddle.tensor(data, dtype="float32", requires_grad=True)
    data[0] = 5
    assert found.tolist() == [1, 2] and found.dtype == paddle.float32 and not found.stop_gradient
    assert paddle.tensor(3).stop_gradient


def test_functions_that_change_their_tensor():
    x = paddle.to_tensor([-1.0, 4.0])
    assert paddle.abs_(x) is x and x.tolist() == [1, 4]
    assert paddle.tensor.math.sqrt_(x) is x and x.tolist() == [1, 2]
    assert paddle.scatter_(x, paddle.to_tensor([0]), paddle.to_tensor([7.0])) is x and x.tolist() == [7, 2]
