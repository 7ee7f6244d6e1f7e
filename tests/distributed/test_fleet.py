"""`paddle.distributed.fleet` for one process: roles, settings, groups, data generators."""

import io
import sys

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError, UnsupportedError
from vitrify.distributed import fleet
from vitrify.distributed.fleet.utils import recompute_hybrid, recompute_sequential


def test_one_worker_and_no_server():
    assert fleet.init(fleet.PaddleCloudRoleMaker(is_collective=True)) is fleet
    assert (fleet.worker_index(), fleet.worker_num(), fleet.local_rank(), fleet.node_num()) == (0, 1, 0, 1)
    assert (fleet.rank(), fleet.nranks(), fleet.world_size()) == (0, 1, 1)
    assert fleet.is_first_worker() and fleet.is_worker() and not fleet.is_server() and not fleet.is_coordinator()
    assert (fleet.server_num(), fleet.server_index(), fleet.server_endpoints(), fleet.server_endpoints(True)) == (
        0,
        0,
        [],
        "",
    )
    assert fleet.worker_endpoints() == [fleet.worker_endpoints(to_string=True)]
    assert fleet.init_worker() is fleet.stop_worker() is fleet.barrier_worker() is None


def test_roles():
    role = fleet.UserDefinedRoleMaker(current_id=0, role=fleet.Role.WORKER, worker_endpoints=["127.0.0.1:6001"])
    assert role._get_trainer_endpoints() == ["127.0.0.1:6001"] and role._get_pserver_endpoints() == []
    assert role._is_worker() and role._is_first_worker() and not role._is_server()
    assert (role._worker_num(), role._worker_index(), role._server_num()) == (1, 0, 0) and "6001" in role.to_string()
    with pytest.raises(UnsupportedError, match="asks for 2 processes"):
        fleet.UserDefinedRoleMaker(worker_num=2)


def test_settings_keep_what_is_not_given():
    strategy = fleet.DistributedStrategy()
    assert not strategy.amp and strategy.hybrid_configs["dp_degree"] == -1
    strategy.amp_configs = {"init_loss_scaling": 128.0}
    strategy.hybrid_configs = {"dp_degree": 1}
    strategy.amp_configs["custom_white_list"].append("matmul")
    assert strategy.amp_configs["incr_ratio"] == 2.0 and strategy.hybrid_configs["mp_degree"] == 1
    assert fleet.DistributedStrategy().amp_configs["custom_white_list"] == []
    fleet.init(is_collective=True, strategy=strategy)
    with pytest.raises(ArgumentError, match="amp_configs has no 'speed'"):
        strategy.amp_configs = {"speed": 1}
    with pytest.raises(AttributeError, match="speed"):
        strategy.speed
    strategy.hybrid_configs = {"pp_degree": 2}
    with pytest.raises(UnsupportedError, match="pp_degree asks for 2"):
        fleet.init(strategy=strategy)


def test_groups():
    group = fleet.get_hybrid_communicate_group()
    assert (group.nranks, group.global_rank, group.get_global_rank(), group.get_sep_parallel_rank()) == (1, 0, 0, 0)
    assert group.is_first_stage and group.is_last_stage and group.get_rank_from_stage(0) == 0
    assert group.topology().world_size() == 1 and group.get_parallel_mode() is None
    assert group.get_sharding_parallel_group().nranks == 1


def test_a_grid_of_ranks():
    grid = fleet.CommunicateTopology(["data", "model"], [2, 3])
    assert (
        grid.get_hybrid_group_names() == ["data", "model"] and grid.get_dim("model") == grid.get_dim_size("model") == 3
    )
    assert grid.world_size() == 6 and grid.get_rank(data=1, model=2) == 5 and grid.get_coord(4) == (1, 1)
    assert grid.get_axis_list("model", 1) == [1, 4] and grid.get_rank_from_stage(4, data=0) == 1
    assert grid.get_comm_list("model") == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ArgumentError, match="no axis 'pipe'"):
        grid.get_dim("pipe")


def test_what_workers_do_together(capsys):
    assert fleet.util.all_reduce(np.array([1.0, 2.0]), mode="max").tolist() == [1.0, 2.0]
    assert fleet.util.all_gather(3) == 3 and fleet.util.barrier() is None
    assert fleet.util.get_file_shard(["a", "b"]) == ["a", "b"]
    fleet.util.print_on_rank("here", 0)
    fleet.util.print_on_rank("there", 1)
    assert capsys.readouterr().out == "here\n"
    with pytest.raises(ArgumentError, match="expected a list of paths"):
        fleet.util.get_file_shard("a")


class Words(fleet.MultiSlotDataGenerator):
    def generate_sample(self, line):
        def samples():
            for word in (line or "7").split():
                yield [("word", [int(word)]), ("label", [1, 0.5])]

        return samples

    def generate_batch(self, samples):
        return lambda: iter([*samples[::-1]])


def test_lines_become_slots(monkeypatch, capsys):
    words = Words()
    words.set_batch(2)
    monkeypatch.setattr(sys, "stdin", io.StringIO("1 2\n3\n"))
    words.run_from_stdin()
    assert capsys.readouterr().out == "1 2 2 1 0.5\n1 1 2 1 0.5\n1 3 2 1 0.5\n"
    words.run_from_memory()
    assert capsys.readouterr().out == "1 7 2 1 0.5\n"


class Other(fleet.MultiSlotDataGenerator):
    def generate_sample(self, line):
        return lambda: iter([[("word", line)]])


@pytest.mark.parametrize(
    ("values", "text"), [([], "an empty one"), ("ab", "expected a list"), (["a"], "expected numbers")]
)
def test_values_that_no_slot_has(values, text):
    with pytest.raises(ArgumentError, match=text):
        Other().written([values])


@pytest.mark.parametrize("segments", [1, 2, 3])
def test_segments_are_computed_again(segments):
    paddle.seed(0)
    net = paddle.nn.Sequential(*[paddle.nn.Linear(3, 3) for _ in range(4)])
    x = paddle.ones([2, 3])
    x.stop_gradient = False
    net(x).sum().backward()
    wanted = [p.grad.numpy() for p in net.parameters()]
    for fn in (lambda: recompute_sequential({"segments": segments}, net, x), lambda: recompute_hybrid({}, net, x)):
        net.clear_gradients()
        fn().sum().backward()
        for p, grad in zip(net.parameters(), wanted):
            np.testing.assert_allclose(p.grad.numpy(), grad, rtol=1e-6)
    with pytest.raises(ArgumentError, match="segments is 5"):
        recompute_sequential({"segments": 5}, net, x)
