"""What one process has of `fleet.utils`: its part of everything is the whole."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.distributed.fleet.utils import hybrid_parallel_util, recompute
from vitrify.distributed.fleet.utils import sequence_parallel_utils as utils


@pytest.mark.parametrize("name", ["ScatterOp", "GatherOp", "AllGatherOp", "ReduceScatterOp"])
def test_the_part_of_one_process_is_the_whole(name):
    def fn(x):
        return getattr(utils, name).apply(x * 2) + 1

    for form in (fn, paddle.jit.to_static(fn, full_graph=True)):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        out = form(x)
        out.sum().backward()
        assert out.tolist() == [3, 5] and x.grad.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("layer", "settings"),
    [
        (utils.ColumnSequenceParallelLinear, {"has_bias": True, "gather_output": False}),
        (utils.RowSequenceParallelLinear, {"input_is_parallel": True}),
    ],
)
def test_layers_of_split_sequences_are_linear(layer, settings):
    net, x = layer(4, 6, **settings), paddle.randn([3, 4])
    np.testing.assert_allclose(net(x).numpy(), (x @ net.weight + net.bias).numpy(), rtol=1e-6)


def test_marks_and_what_there_is_not_to_do():
    net = paddle.nn.Linear(2, 2)
    assert not utils.is_sequence_parallel_parameter(net.weight)
    utils.mark_as_sequence_parallel_parameter(net.weight)
    assert utils.is_sequence_parallel_parameter(net.weight)
    net(paddle.ones([1, 2])).sum().backward()
    before = net.weight.grad.numpy()
    utils.register_sequence_parallel_allreduce_hooks(net, 1, False)
    hybrid_parallel_util.fused_allreduce_gradients(net.parameters(), None)
    np.testing.assert_array_equal(net.weight.grad.numpy(), before)
    assert recompute(net, paddle.ones([1, 2])).shape == [1, 2]
