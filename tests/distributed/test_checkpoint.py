"""Checkpoints that are folders: what was saved comes back, the newest one; nothing changes where it does not fit."""

import numpy as np
import pytest

import vitrify as paddle
import vitrify.distributed as dist
from vitrify.core.errors import (
    ArgumentError,
    DTypeError,
    FileFormatError,
    MissingFileError,
    ShapeError,
    UnsupportedError,
)


def step(net, optimizer, seed):
    net(paddle.to_tensor(np.random.default_rng(seed).random((4, 2), "float32"))).sum().backward()
    optimizer.step()
    optimizer.clear_grad()


def test_training_goes_on_as_if_it_had_never_stopped(tmp_path):
    nets = [paddle.nn.Linear(2, 3, weight_attr=f"w{i}", bias_attr=f"b{i}") for i in range(2)]
    optimizers = [paddle.optimizer.Momentum(0.1, parameters=net.parameters()) for net in nets]
    step(nets[0], optimizers[0], 0)
    step(nets[1], optimizers[1], 7)  # has states of its own, to be replaced
    velocities = {"w": optimizers[0].state_dict()["w0_velocity_0"], "b": optimizers[0].state_dict()["b0_velocity_0"]}
    dist.save_state_dict({"model": nets[0].state_dict(), "velocity": velocities}, str(tmp_path / "at"))
    mine = optimizers[1].state_dict()
    weight = nets[1].weight
    state = {"model": nets[1].state_dict(), "velocity": {"w": mine["w1_velocity_0"], "b": mine["b1_velocity_0"]}}
    dist.load_state_dict(state, str(tmp_path / "at"))
    assert nets[1].weight is weight
    optimizers[1].set_state_dict(mine)
    for net, optimizer in zip(nets, optimizers):
        step(net, optimizer, 1)
    np.testing.assert_array_equal(nets[0].weight.numpy(), nets[1].weight.numpy())
    np.testing.assert_array_equal(nets[0].bias.numpy(), nets[1].bias.numpy())


def test_the_newest_is_read_unless_another_is_named(tmp_path):
    def read(**which):
        state = {"w": paddle.zeros([2])}
        dist.load_state_dict(state, str(tmp_path), **which)
        return state["w"].tolist()

    for value in (1.0, 2.0):
        dist.save_state_dict({"w": paddle.full([2], value)}, str(tmp_path))
    assert read() == [2.0, 2.0] and read(unique_id=0) == [1.0, 1.0]
    dist.save_state_dict({"w": paddle.full([2], 3.0)}, str(tmp_path), unique_id=10)
    dist.save_state_dict({"w": paddle.full([2], 4.0)}, str(tmp_path), unique_id=0)
    assert read() == [3.0, 3.0] and read(unique_id=0) == [4.0, 4.0]
    dist.save_state_dict({"w": paddle.full([2], 5.0)}, str(tmp_path), async_save=True)
    assert read() == read(unique_id=11) == [5.0, 5.0]
    with pytest.raises(MissingFileError, match="no checkpoint 7 of save_state_dict; there are 0, 1, 10, 11"):
        read(unique_id=7)


def test_what_does_not_fit_changes_nothing(tmp_path):
    dist.save_state_dict({"a": paddle.ones([2]), "b": paddle.ones([3], "bfloat16")}, str(tmp_path))
    first = paddle.zeros([2])
    for wrong, error in (
        (paddle.zeros([4], "bfloat16"), ShapeError),
        (paddle.zeros([3]), DTypeError),
    ):
        with pytest.raises(error, match="load_state_dict: b is"):
            dist.load_state_dict({"a": first, "b": wrong}, str(tmp_path))
    with pytest.raises(KeyError, match="has no c"):
        dist.load_state_dict({"a": first, "c": paddle.ones([1])}, str(tmp_path))
    assert first.tolist() == [0.0, 0.0]
    dist.load_state_dict({"a": first}, str(tmp_path))
    assert first.tolist() == [1.0, 1.0]


def test_what_one_process_of_paddlepaddle_wrote_is_read(tmp_path):
    paddle.save({"w": paddle.arange(3, dtype="float32")}, str(tmp_path / "0_0.distcp"), format="paddle")
    (tmp_path / "0.metadata").write_bytes(b"not looked at")
    state = {"w": paddle.zeros([3])}
    dist.load_state_dict(state, str(tmp_path))
    assert state["w"].tolist() == [0.0, 1.0, 2.0]


def test_errors(tmp_path):
    path = str(tmp_path / "new")
    with pytest.raises(MissingFileError, match="has no checkpoint of save_state_dict"):
        dist.load_state_dict({}, path)
    with pytest.raises(DTypeError, match=r"optimizer\.step must be a dict or a Tensor, got int"):
        dist.save_state_dict({"optimizer": {"step": 3}}, path)
    with pytest.raises(DTypeError, match="state_dict must be a dict, got list"):
        dist.save_state_dict([paddle.ones([1])], path)
    with pytest.raises(ArgumentError, match=r"two tensors of state_dict have the name a\.b"):
        dist.save_state_dict({"a.b": paddle.ones([1]), "a": {"b": paddle.ones([1])}}, path)
    with pytest.raises(UnsupportedError, match="safetensors"):
        dist.save_state_dict({}, path, safetensors=True)
    with pytest.raises(UnsupportedError, match="aoa_config"):
        dist.load_state_dict({}, path, aoa_config={"aoa_statements": ["a -> b"]})
    assert not (tmp_path / "new").exists()
    paddle.save([1, 2], str(tmp_path / "other" / "0_0.distcp"))
    with pytest.raises(FileFormatError, match="was not written by save_state_dict"):
        dist.load_state_dict({}, str(tmp_path / "other"))
