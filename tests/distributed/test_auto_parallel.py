"""Tensors laid out over a mesh of one process are whole, collectives of its streams the identity."""

import numpy as np
import pytest

import vitrify as paddle
import vitrify.distributed as dist
from vitrify.core.errors import ArgumentError, UnsupportedError
from vitrify.distributed import collective, sharding, stream
from vitrify.distributed.fleet import auto

ONE = dist.ProcessMesh([0], dim_names=["dp"])
FOUR = dist.ProcessMesh([[0, 1], [2, 3]], dim_names=["dp", "mp"])


def test_a_mesh_is_read_with_any_number_of_processes():
    assert (FOUR.shape, FOUR.ndim, FOUR.size, FOUR.dim_names) == ([2, 2], 2, 4, ["dp", "mp"])
    assert FOUR.process_ids == [0, 1, 2, 3] and FOUR.get_dim_size("mp") == 2 and FOUR.mesh.tolist() == [[0, 1], [2, 3]]
    assert FOUR[0] == dist.ProcessMesh([0, 1], ["mp"]) and FOUR[:, 1] == dist.ProcessMesh([1, 3], ["dp"])
    assert FOUR[1, 1].process_ids == [3]
    assert FOUR.get_mesh_with_dim("mp").process_ids == [0, 2, 1, 3]
    assert FOUR.get_mesh_with_dim("mp", 1) == dist.ProcessMesh([1, 3], ["dp"])
    assert FOUR.get_rank_by_dim_and_process_id("mp", 2) == 0 and FOUR.get_rank_by_dim_and_process_id(0, 9) == -1
    assert dist.ProcessMesh(shape=[1, 2], process_ids=[4, 5]).shape == [1, 2]
    assert {FOUR: 1}[dist.ProcessMesh([[0, 1], [2, 3]], ["dp", "mp"])] == 1 and ONE != FOUR
    assert repr(ONE) == "ProcessMesh(shape=[1], process_ids=[0], dim_names=['dp'])"


def test_placements_tell_what_they_are():
    assert repr([dist.Shard(1), dist.Replicate(), dist.Partial()]) == (
        "[Shard(dim=1), Replicate(), Partial(reduce_type=SUM)]"
    )
    assert dist.Shard(1).is_shard() and dist.Shard(1).is_shard(1) and not dist.Shard(1).is_shard(0)
    assert dist.Shard(2).get_dim() == 2 and dist.Shard(2) == dist.Shard(2) and not dist.Shard(2).is_partial()
    assert dist.Replicate().is_replicated() and not dist.Replicate().is_shard()
    assert dist.Partial().is_partial() and not dist.Partial().is_replicated()
    assert dist.Partial(dist.ReduceType.kRedMax).reduce_type() is dist.ReduceType.kRedMax
    assert isinstance(dist.Shard(0), dist.Placement)


def test_a_tensor_is_whole_and_learns():
    layer = paddle.nn.Linear(2, 3)

    def shard_fn(name, sublayer, mesh):
        sublayer.weight = dist.shard_tensor(sublayer.weight, mesh, [dist.Shard(0)])

    def forward(x):
        return dist.reshard(net(dist.shard_tensor(x, ONE, [dist.Shard(0)])), ONE, [dist.Replicate()]).sum()

    net = dist.shard_layer(
        layer, ONE, shard_fn, lambda xs, mesh: (xs[0] * 2,), lambda out, mesh: dist.unshard_dtensor(out) + 1
    )
    optimizer = dist.shard_optimizer(paddle.optimizer.SGD(0.1, parameters=net.parameters()), dist.ShardingStage1("dp"))
    x, before = paddle.ones([4, 2]), layer.weight.numpy()
    for run in (forward, paddle.jit.to_static(forward, full_graph=True)):
        expected = (2.0 * np.ones([4, 2]) @ layer.weight.numpy() + layer.bias.numpy() + 1).sum()
        loss = run(x)
        assert loss.item() == pytest.approx(expected, rel=1e-5)
        loss.backward()
        np.testing.assert_array_equal(layer.weight.grad.numpy(), np.full([2, 3], 8.0))
        optimizer.step()
        optimizer.clear_grad()
    np.testing.assert_allclose(layer.weight.numpy(), before - 1.6, rtol=1e-5)


def test_values_become_tensors():
    made = dist.shard_tensor([1, 2], ONE, [dist.Replicate()], dtype="float32", stop_gradient=False)
    assert made.tolist() == [1.0, 2.0] and made.dtype == paddle.float32 and not made.stop_gradient
    assert dist.shard_tensor(made, ONE, [], dtype="float64").dtype == paddle.float64
    assert dist.dtensor_from_fn(paddle.ones, ONE, [dist.Replicate()], shape=[2]).tolist() == [1.0, 1.0]


def test_a_mesh_for_all():
    assert auto.create_mesh([("dp", 1), ("mp", 1)]) == auto.get_mesh() == dist.get_mesh()
    dist.set_mesh(ONE)
    assert dist.get_mesh() is ONE
    assert dist.shard_dataloader([1], ONE) == [1] and dist.shard_dataloader([1], [ONE]) == [1]
    assert auto.shard_op(len, ONE) is len and dist.shard_scaler(1) == 1


def test_streams_do_what_collectives_do():
    x, found = paddle.to_tensor([1.0, 2.0]), []
    for task in (
        stream.all_gather(found, x), stream.alltoall(found, [x]), stream.gather(x, found), stream.all_reduce(x),
        stream.reduce(x, 0), stream.broadcast(x, 0),
    ):  # fmt: skip
        assert task.wait()
    assert [t.tolist() for t in found] == [[1.0, 2.0]]
    for call in (stream.all_gather, stream.alltoall, stream.alltoall_single, stream.reduce_scatter, stream.scatter):
        out = paddle.zeros([2])
        call(out, x)
        assert out.tolist() == [1.0, 2.0], call
    with pytest.raises(UnsupportedError, match="there is no process 1"):
        stream.send(x, 1)
    with pytest.raises(UnsupportedError, match="there is no process 1"):
        stream.recv(x, 1)


def test_a_part_of_a_table():
    table = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
    rows = collective._c_lookup_table(table, paddle.to_tensor([5, 4, 6]), start_index=4)
    assert rows.tolist() == [[3.0, 4.0], [1.0, 2.0], [0.0, 0.0]]
    rows.sum().backward()
    assert table.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_a_model_that_would_be_split_is_saved_whole(tmp_path):
    net = paddle.nn.Linear(2, 2)
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    assert sharding.group_sharded_parallel(net, optimizer, "p_g_os") == (net, optimizer, None)
    sharding.save_group_sharded_model(net, str(tmp_path / "out"), optimizer)
    saved = paddle.load(str(tmp_path / "out" / "model.pdmodel"))
    np.testing.assert_array_equal(saved["weight"].numpy(), net.weight.numpy())
    assert (tmp_path / "out" / "model.pdopt").exists()


ERRORS = [
    (lambda: dist.shard_tensor([1.0], FOUR, []), UnsupportedError, "asks for 4 processes"),
    (lambda: dist.shard_tensor([1.0], "mesh", []), ArgumentError, "expected a ProcessMesh, got str"),
    (lambda: dist.shard_tensor([1.0], ONE, [dist.Shard(0)] * 2), ArgumentError, "2 placements for a mesh of 1"),
    (lambda: dist.ShardingStage2("dp", FOUR), UnsupportedError, "ShardingStage2: the mesh asks for 4"),
    (lambda: dist.shard_optimizer(None, None, 2), UnsupportedError, "gradient_accumulation_steps is 2"),
    (lambda: auto.create_mesh([("dp", 2)]), UnsupportedError, "asks for 2 processes"),
    (lambda: dist.ProcessMesh([0], ["a", "b"]), ArgumentError, "2 dim_names for 1 dimensions"),
    (lambda: dist.ProcessMesh(), ArgumentError, "give mesh, or both shape and process_ids"),
    (lambda: FOUR.get_dim_size("pp"), ArgumentError, "no dimension 'pp', there are dp, mp"),
    (lambda: sharding.group_sharded_parallel(1, 2, "os_os"), ArgumentError, "level must be one of"),
]


@pytest.mark.parametrize(("call", "kind", "text"), ERRORS, ids=[text for *_, text in ERRORS])
def test_what_needs_more_is_refused(call, kind, text):
    with pytest.raises(kind, match=text):
        call()
