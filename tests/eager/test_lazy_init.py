"""Parameters that get their values later than their Layer is made."""

import numpy as np
import pytest

import vitrify as paddle


def test_layers_without_memory():
    with paddle.LazyGuard():
        layer = paddle.nn.Linear(1000, 2000)
    assert layer.weight.shape == [1000, 2000] and not layer.weight._is_initialized()
    assert layer.weight._data.base.nbytes == 4 and np.isnan(layer.bias.numpy()).all()
    for parameter in layer.parameters():
        parameter.initialize()
        assert parameter._is_initialized() and parameter.persistable and not parameter.stop_gradient
    assert layer.bias.abs().sum().item() == 0 and layer.weight.std().item() > 0
    layer(paddle.ones([1, 1000])).sum().backward()
    assert layer.weight.grad.shape == [1000, 2000]


def test_values_may_be_loaded_instead():
    full = paddle.nn.Linear(2, 3)
    with paddle.LazyGuard():
        lazy = paddle.nn.Linear(2, 3)
    lazy.set_state_dict(full.state_dict())
    assert lazy.weight._is_initialized() and lazy.weight.tolist() == full.weight.tolist()


def test_a_parameter_has_its_first_values_once():
    with pytest.raises(AssertionError, match="has its values"):
        paddle.nn.Linear(2, 3).weight.initialize()


def test_kinds_of_tensors():
    x = paddle.ones([2, 3])
    assert x.to_dense() is x and x.dense_dim() == 2 and x.sparse_dim() == 0 and x.is_tensor() and x.type == "tensor"
    assert x.placements is None and x.process_mesh is None and x.num_shard is None
    assert paddle.ones([]).__nonzero__() is True and paddle.ones([]).__long__() == 1
    for method in ("values", "indices", "crows", "cols", "nnz", "coalesce", "is_coalesced"):
        with pytest.raises(TypeError, match=f"{method}\\(\\) is a method of"):
            getattr(x, method)()


def test_generators_by_device():
    assert paddle.Generator("cpu").manual_seed(5).initial_seed() == 5
    assert paddle.get_cuda_rng_state() == []
    paddle.set_cuda_rng_state([])
