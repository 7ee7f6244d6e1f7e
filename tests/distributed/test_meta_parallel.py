"""Layers split over processes are whole in one process."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError, UnsupportedError
from vitrify.distributed.fleet import meta_parallel as mpu
from vitrify.distributed.fleet.meta_parallel.random_states import RNGStatesTracker
from vitrify.nn import functional as F


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = mpu.VocabParallelEmbedding(7, 4)
        self.up = mpu.ColumnParallelLinear(4, 6, has_bias=True, gather_output=False)
        self.down = mpu.RowParallelLinear(6, 7, input_is_parallel=True)

    def forward(self, ids):
        return self.down(F.relu(self.up(self.embed(ids))))


def test_split_layers_compute_what_whole_ones_do():
    net, ids = Net(), paddle.to_tensor([[1, 2], [3, 0]])
    up, down = net.up, net.down
    expected = F.relu(net.embed.weight[ids] @ up.weight + up.bias) @ down.weight + down.bias
    for run in (net, paddle.jit.to_static(net, full_graph=True)):
        np.testing.assert_allclose(run(ids).numpy(), expected.numpy(), rtol=1e-6)
    assert sorted(net.state_dict()) == ["down.bias", "down.weight", "embed.weight", "up.bias", "up.weight"]


def test_a_linear_layer_has_a_bias_where_asked_for():
    assert mpu.ColumnParallelLinear(2, 2).bias is None
    assert mpu.RowParallelLinear(2, 2, has_bias=False).bias is None


@pytest.mark.parametrize("labels", [[[1], [-100]], [1, -100]])
def test_the_loss_of_each_item_keeps_its_dimension(labels):
    loss = mpu.ParallelCrossEntropy()(paddle.arange(8.0).reshape([2, 4]), paddle.to_tensor(labels))
    np.testing.assert_allclose(loss.numpy(), [[2.44019], [0.0]], rtol=1e-5)


def test_a_pipeline_is_one_stage_and_shares_layers_by_key():
    shared = ("embed", paddle.nn.Embedding)
    net = mpu.PipelineLayer(
        [
            mpu.SharedLayerDesc(*shared, None, "weight", 5, 3),
            mpu.LayerDesc(paddle.nn.Linear, 3, 3),
            paddle.nn.functional.relu,
            mpu.SharedLayerDesc(*shared, lambda layer, x: x @ layer.weight.T, "weight", 5, 3),
        ],
        num_stages=1,
    )
    assert list(net.state_dict()) == ["shared_layers.embed.weight", "1.weight", "1.bias"]
    assert list(net(paddle.to_tensor([[1, 2]])).shape) == [1, 2, 5]
    with pytest.raises(UnsupportedError, match="2 processes"):
        mpu.PipelineLayer([], num_stages=2)
    with pytest.raises(ValueError, match="num_stages or topology"):
        mpu.PipelineLayer([])
    assert repr(mpu.LayerDesc(paddle.nn.Linear, 3, out_features=4)) == "Linear(3, out_features=4)"


def test_named_states_of_random_numbers_go_on_where_they_were():
    tracker = RNGStatesTracker()
    tracker.add("a", 1)
    paddle.seed(1)
    expected = paddle.rand([4]).tolist()
    found = []
    for _ in range(2):
        with tracker.rng_state("a"):
            found += paddle.rand([2]).tolist()
    assert found[:2] == expected[:2] and found[:2] != found[2:]
    for name, seed in (("a", 2), ("b", 1)):
        with pytest.raises(ArgumentError, match="already exists"):
            tracker.add(name, seed)
    with pytest.raises(ArgumentError, match="does not exist"), tracker.rng_state("c"):
        pass
    tracker.reset()
    assert not tracker.states_
    assert isinstance(mpu.get_rng_state_tracker(), RNGStatesTracker)
