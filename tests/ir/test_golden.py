"""Files of every version of our format that was ever written: all of them load, and give what they gave."""

from pathlib import Path

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn

DATA = Path(__file__).parent.parent / "data" / "native"
VERSIONS = sorted(path.name for path in DATA.iterdir())
X = np.random.default_rng(0).standard_normal((2, 1, 4, 4)).astype("float32")


def test_there_is_a_folder_for_each_version():
    assert VERSIONS == ["v1"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_layer(version):
    net = paddle.jit.load(DATA / version / "net")
    wanted = np.load(DATA / version / "net.npy")
    found = net(paddle.to_tensor(X))
    np.testing.assert_allclose(found["y"].numpy(), wanted, rtol=1e-5)
    assert found["parts"][0].tolist() == wanted.argmax(-1).tolist()
    assert found["parts"][1][1:] == (None, "text")
    layers = {name.partition(".")[0] for name, value in net.named_parameters() if not value.stop_gradient}
    assert layers == {"conv", "norm", "fc"} and net.norm._mean.stop_gradient
    np.testing.assert_allclose(net.norm._mean.numpy(), [0.1, -0.2], rtol=1e-6)
    h = paddle.ones([1, 8])
    np.testing.assert_allclose(
        net.head(h).numpy(), nn.functional.linear(h, net.fc.weight, net.fc.bias).numpy(), rtol=1e-5
    )
    net.train()
    net(paddle.to_tensor(X))["y"].sum().backward()
    assert net.fc.weight.grad is not None
    assert abs(float(net.norm._mean[0]) - 0.1) > 1e-4


@pytest.mark.parametrize("version", VERSIONS)
def test_control_flow(version):
    function = paddle.jit.load(DATA / version / "control")
    total, power = function(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor(4))
    assert total.tolist() == [12.0, 24.0] and power.tolist() == [1.0, 16.0]
    total, power = function(paddle.to_tensor([-3.0]), paddle.to_tensor(2))
    assert total.tolist() == [3.0] and power.tolist() == [9.0]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_state(version):
    state = paddle.load(str(DATA / version / "state.pdparams"))
    for name in ("float32", "int8", "bfloat16"):
        assert state[name].dtype == getattr(paddle, name)
        assert state[name].astype("float32").tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert state["half"].shape == [] and float(state["half"]) == 1.5
    assert state["flags"].tolist() == [True, False] and state["nested"] == [(1, None), 2.5]
    assert state["complex"].tolist() == [1 + 2j] and state["empty"].shape == [0, 3]
