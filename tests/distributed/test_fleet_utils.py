"""What one process has of `fleet.utils`: its part of everything is the whole."""

import copy

import numpy as np
import pytest

import vitrify as paddle
from vitrify.distributed.fleet.model import PipelineParallel
from vitrify.distributed.fleet.utils import hybrid_parallel_util, recompute
from vitrify.distributed.fleet.utils import sequence_parallel_utils as utils
from vitrify.distributed.fleet.utils.log_util import logger


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


def test_optimizers_of_many_processes_are_those_of_one():
    from vitrify.distributed.fleet.meta_optimizers import dygraph_optimizer
    from vitrify.distributed.fleet.meta_parallel.sharding import GroupShardedOptimizerStage2

    for wrap in (
        lambda o: dygraph_optimizer.HybridParallelOptimizer(o, None, None),
        lambda o: dygraph_optimizer.DygraphShardingOptimizerV2(o, None),
        lambda o: GroupShardedOptimizerStage2([], o),
    ):
        net = paddle.nn.Linear(2, 1)
        inner = paddle.optimizer.SGD(0.5, parameters=net.parameters())
        opt = wrap(inner)
        before = net.weight.numpy().copy()
        net(paddle.ones([1, 2])).sum().backward()
        opt.step()
        opt.clear_grad()
        np.testing.assert_allclose(net.weight.numpy(), before - 0.5)
        assert opt._inner_opt is inner and copy.copy(opt).get_lr() == 0.5
        assert dygraph_optimizer.obtain_optimizer_parameters_list(inner) == net.parameters()


def test_a_pipeline_of_one_process_is_the_model():
    net = paddle.nn.Linear(2, 3)
    x = paddle.ones([1, 2])
    assert PipelineParallel(net, None, None)(x).tolist() == net(x).tolist()
    assert paddle.disable_signal_handler() is None and logger.name == "vitrify.distributed.fleet"


def test_what_is_computed_again_is_cast_again():
    net = paddle.nn.Sequential(paddle.nn.LayerNorm(3), paddle.nn.Linear(3, 3))

    def gradients(run):
        net.clear_gradients(set_to_zero=False)
        x = paddle.to_tensor([[1.0, 2.0, 4.0]], stop_gradient=False)
        with paddle.amp.auto_cast(dtype="bfloat16"):
            loss = run(x + 0).sum()
        loss.backward()
        return [x.grad.tolist(), *[p.grad.tolist() for p in net.parameters()]]

    assert gradients(lambda x: recompute(net, x)) == gradients(net)

    layer = paddle.nn.Linear(3, 3)
    with paddle.amp.auto_cast(dtype="bfloat16"):
        hidden = layer(paddle.ones([2, 3]))
        loss = recompute(layer, hidden).sum()
    loss.backward()  # in float32 what is given does not fit
    assert layer.weight.grad is not None
