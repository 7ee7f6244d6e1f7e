"""`paddle.distributed` with one process, eagerly and in programs; and what is refused."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import distributed as dist
from vitrify.core.errors import ArgumentError, UnsupportedError
from vitrify.jit import to_static


def test_one_process_is_rank_0_of_1():
    assert (dist.get_rank(), dist.get_world_size(), dist.is_available()) == (0, 1, True)
    env = dist.ParallelEnv()
    assert (env.rank, env.local_rank, env.world_size, env.nranks, env.dev_id) == (0, 0, 1, 1, 0)
    assert not dist.is_initialized()
    group = dist.init_parallel_env()
    assert dist.is_initialized() and group.ranks == [0]
    dist.destroy_process_group()
    assert not dist.is_initialized()
    assert dist.new_group([0]).get_group_rank(0) == 0 and dist.new_group().get_group_rank(3) == -1


def mean_over_processes(x):
    if dist.get_world_size() > 1:
        dist.all_reduce(x)
    total = x * 2
    dist.all_reduce(total, op=dist.ReduceOp.MAX)
    dist.broadcast(total, src=0)
    found = []
    dist.all_gather(found, total)
    dist.barrier()
    return paddle.concat(found) / dist.get_world_size() + dist.ParallelEnv().rank


@pytest.mark.parametrize("convert", [lambda fn: fn, lambda fn: to_static(fn, full_graph=True)])
def test_collectives_are_the_identity(convert):
    fn = convert(mean_over_processes)
    for _ in range(2):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        out = fn(x)
        out.sum().backward()
        assert out.tolist() == [2.0, 4.0] and x.grad.tolist() == [2.0, 2.0]


def test_what_collectives_put_where():
    x, other = paddle.to_tensor([1.0]), paddle.to_tensor([5.0])
    dist.scatter(x, [other])
    assert x.item() == 5
    dist.reduce_scatter(x, [other + 1])
    assert x.item() == 6
    dist.alltoall_single(x, other)
    assert x.item() == 5
    out = []
    assert dist.alltoall(out, [x]).wait() and out[0].item() == 5 and out[0] is not x
    objects = []
    dist.all_gather_object(objects, {"a": 1})
    assert objects == [{"a": 1}]
    gathered = []
    dist.gather(x, gathered)
    assert len(gathered) == 1


def test_more_than_one_process_is_refused(monkeypatch):
    x = paddle.ones([1])
    with pytest.raises(UnsupportedError, match="spawn asks for 2 processes"):
        dist.spawn(print, nprocs=2)
    with pytest.raises(UnsupportedError, match="no process 1 to talk to"):
        dist.send(x, 1)
    with pytest.raises(ArgumentError, match="there is no process 3"):
        dist.new_group([0, 3])
    with pytest.raises(ArgumentError, match="expected one entry"):
        dist.scatter(x, [x, x])
    strategy = dist.fleet.DistributedStrategy()
    strategy.hybrid_configs = {"dp_degree": 2}
    with pytest.raises(UnsupportedError, match="dp_degree asks for 2"):
        dist.fleet.init(is_collective=True, strategy=strategy)
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "4")
    with pytest.raises(UnsupportedError, match="the launcher asks for 4"):
        dist.init_parallel_env()
    dist.destroy_process_group()


def test_spawn_calls_here():
    seen = []
    dist.spawn(seen.append, args=(3,), nprocs=1)
    assert seen == [3]


def test_data_parallel_is_the_layer_itself():
    net = paddle.nn.Linear(2, 3)
    wrapped = paddle.DataParallel(net)
    assert list(wrapped.state_dict()) == ["weight", "bias"]
    assert [name for name, _ in wrapped.named_parameters()] == ["_layers.weight", "_layers.bias"]
    wrapped.set_state_dict({"weight": paddle.ones([2, 3]), "bias": paddle.zeros([3])})
    with wrapped.no_sync():
        loss = wrapped.scale_loss(wrapped(paddle.ones([1, 2])).sum())
    loss.backward()
    wrapped.apply_collective_grads()
    assert loss.item() == 6 and net.weight.grad.tolist() == [[1.0] * 3] * 2
    static = to_static(wrapped, full_graph=True)
    assert static(paddle.ones([1, 2])).tolist() == [[2.0] * 3]


def test_fleet_gives_back_what_it_gets():
    dist.fleet.init(is_collective=True)
    net = paddle.nn.Linear(2, 2)
    opt = paddle.optimizer.SGD(parameters=net.parameters())
    assert dist.fleet.distributed_model(net) is net and dist.fleet.distributed_optimizer(opt) is opt
    assert dist.fleet.is_first_worker() and dist.fleet.worker_num() == 1
    assert dist.fleet.get_hybrid_communicate_group().get_model_parallel_world_size() == 1
    dist.destroy_process_group()


def test_recompute_of_arguments_without_a_gradient():
    layer, x = paddle.nn.Linear(2, 2), paddle.ones([1, 2])
    assert dist.fleet.utils.recompute(layer, x).stop_gradient
    dist.fleet.utils.recompute(layer, x, use_reentrant=False).sum().backward()
    assert layer.weight.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_recompute_runs_the_function_again_with_the_same_random_numbers():
    calls = []

    def block(x, scale=1.0):
        calls.append(1)
        return paddle.nn.functional.dropout(x * x, 0.5) * scale

    for fn in (block, lambda x, **kw: dist.fleet.utils.recompute(block, x, **kw)):
        paddle.seed(3)
        x = paddle.arange(8, dtype="float32") + 1
        x.stop_gradient = False
        out = fn(x, scale=2.0)
        out.sum().backward()
        if fn is block:
            wanted = out.numpy(), x.grad.numpy()
    np.testing.assert_array_equal(out.numpy(), wanted[0])
    np.testing.assert_array_equal(x.grad.numpy(), wanted[1])
    assert len(calls) == 3
    static = to_static(lambda x: dist.fleet.utils.recompute(lambda v: v * v, x) + 1, full_graph=True)
    assert static(paddle.to_tensor([3.0])).tolist() == [10.0]


def test_rules_of_tables_are_texts_for_a_server():
    assert dist.CountFilterEntry(10)._to_attr() == "count_filter_entry:10"
    assert dist.ProbabilityEntry(0.1)._to_attr() == "probability_entry:0.1"
    assert dist.ShowClickEntry("show", "click")._to_attr() == "show_click_entry:show:click"
    for make in (
        lambda: dist.CountFilterEntry(-1),
        lambda: dist.ProbabilityEntry(1.5),
        lambda: dist.ShowClickEntry("show", 2),
    ):
        with pytest.raises(ValueError, match="must be"):
            make()


def test_one_process_has_no_connections():
    dist.gloo_init_parallel_env(0, 1, "127.0.0.1:80")
    assert dist.gloo_barrier() is dist.gloo_release() is dist.restart_process_group() is None
    assert dist.shutdown_process_group() is None and dist.ParallelMode.SEGMENT_PARALLEL == 4
    with pytest.raises(ValueError, match="gloo_init_parallel_env"):
        dist.gloo_init_parallel_env(1, 2, "127.0.0.1:80")
    for call in (dist.send_object_list, dist.recv_object_list):
        with pytest.raises(UnsupportedError, match="no process 1"):
            call([], 1)


def test_module_paths_of_collectives_and_groups():
    from vitrify.distributed.communication import all_to_all, broadcast, group

    assert broadcast is dist.broadcast and all_to_all is dist.alltoall
    assert group.Group is type(group._get_global_group()) and group.is_initialized is dist.is_initialized
