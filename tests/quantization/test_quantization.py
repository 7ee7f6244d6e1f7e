"""Models with quanters: what they compute, in both modes; what is replaced; what conversion leaves."""

import copy

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn
from vitrify.core.errors import ArgumentError, ShapeError
from vitrify.nn.quant import LinearDequanter, LinearQuanter, Stub
from vitrify.quantization import PTQ, QAT, BaseQuanter, QuantConfig, quanter
from vitrify.quantization.observers import AbsmaxObserver, GroupWiseWeightObserver
from vitrify.quantization.quanters import FakeQuanterWithAbsMaxObserver

FAKE = FakeQuanterWithAbsMaxObserver(moving_rate=0.9)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 2, 3, padding=1)
        self.act = nn.ReLU()
        self.tail = nn.Sequential(nn.Flatten(), nn.Linear(32, 3), nn.Tanh())
        for p in self.parameters():
            p.set_value(paddle.arange(p.size, dtype="float32").cos().reshape(p.shape) * 0.3)

    def forward(self, x):
        return self.tail(self.act(self.conv(x)))


def image():
    return paddle.arange(64, dtype="float32").sin().reshape([4, 1, 4, 4])


def kinds(model):
    return [type(layer).__name__ for layer in model.sublayers()]


def test_a_quanter_rounds_by_a_moving_average():
    layer = FAKE._instance(None)
    x = paddle.to_tensor([0.5, -2.0, 1.0], stop_gradient=False)
    out = layer(x)
    out.backward(paddle.to_tensor([1.0, 2.0, 3.0]))
    state, accum = 1.9, 0.9 + 2.0
    scale = accum / state
    np.testing.assert_allclose(layer.scales().numpy(), [scale], rtol=1e-6)
    steps = np.round(np.clip([0.5, -2.0, 1.0], -scale, scale) / scale * 127)
    np.testing.assert_allclose(out.numpy(), steps * scale / 127, rtol=1e-6)
    assert x.grad.tolist() == [1.0, 2.0, 3.0]
    layer.eval()
    layer(x * 9)
    np.testing.assert_allclose(layer.state_dict()["_state"].numpy(), [state], rtol=1e-6)


def test_what_is_replaced():
    model = QAT(QuantConfig(activation=FAKE, weight=FAKE)).quantize(Net())
    assert kinds(model).count("FakeQuanterWithAbsMaxObserverLayer") == 2 * 2 + 3
    assert [type(layer).__name__ for layer in model.tail] == ["ObserveWrapper", "QuantedLinear", "ObserveWrapper"]
    assert {"conv.weight", "conv.weight_quanter._scale", "act._observer._state"} < set(model.state_dict())
    assert "QuantedConv2D" in kinds(model) and not any(p.name.endswith("quanter") for p in model.parameters())


@pytest.mark.parametrize("weight", [None, FAKE])
def test_what_is_said_of_names_types_and_layers(weight):
    net, config = Net(), QuantConfig(None, None)
    config.add_type_config(nn.Linear, weight=weight)
    config.add_layer_config([net.conv], activation=FAKE)
    config.add_name_config("no such layer", FAKE, FAKE)
    model = QAT(config).quantize(net)
    assert net.conv.__class__ is nn.Conv2D and model.conv.weight_quanter is None is model.tail[1].activation_quanter
    assert (model.tail[1].weight_quanter is None) == (weight is None)
    assert "ObserveWrapper" not in kinds(model) and "Layer type config" in str(config)
    assert kinds(QAT(QuantConfig(None, None)).quantize(net, inplace=True)) == kinds(Net())


def test_models_that_are_evaluated_are_not_trained():
    with pytest.raises(ArgumentError, match="in evaluation mode"):
        QAT(QuantConfig(FAKE, FAKE)).quantize(Net().eval())


def test_own_mappings_and_leaves():
    class Twice(nn.Layer):
        def __init__(self, layer, config):
            super().__init__()
            self.inner = layer

        def forward(self, x):
            return 2 * self.inner(x)

    config = QuantConfig(FAKE, None)
    config.add_qat_layer_mapping(nn.ReLU, Twice)
    config.add_customized_leaf(nn.Sequential)
    model = QAT(config).quantize(Net())
    assert [type(layer).__name__ for layer in model.children()] == ["QuantedConv2D", "Twice", "ObserveWrapper"]
    assert config.customized_leaves == [nn.Sequential] and config.default_qat_layer_mapping.get(nn.ReLU) is None
    assert config.qat_layer_mappings[nn.ReLU] is Twice and config.global_config.weight is None


def test_training_is_the_same_when_compiled():
    losses = []
    for compiled in (False, True):
        model = QAT(QuantConfig(activation=FAKE, weight=FAKE)).quantize(Net())
        forward = paddle.jit.to_static(copy.deepcopy(model), full_graph=True) if compiled else model
        optimizer = paddle.optimizer.SGD(0.1, parameters=forward.parameters())
        for _ in range(4):
            loss = nn.functional.cross_entropy(forward(image()), paddle.to_tensor([0, 1, 2, 1]))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(loss.item())
    np.testing.assert_allclose(losses[4:], losses[:4], rtol=1e-5)
    assert losses[3] < losses[0]


@pytest.mark.parametrize("remain_weight", [False, True])
def test_conversion_keeps_what_the_model_gives(tmp_path, remain_weight):
    qat = QAT(QuantConfig(activation=FAKE, weight=FAKE))
    model = qat.quantize(Net())
    model(image())
    model.eval()
    fixed = qat.convert(model, remain_weight=remain_weight)
    np.testing.assert_allclose(fixed(image()).numpy(), model(image()).numpy(), atol=1e-6)
    weight = fixed.tail[1].weight.numpy()
    assert (np.abs(weight) <= 0.3).all() if remain_weight else (weight == np.round(weight)).all()
    paddle.jit.save(fixed, str(tmp_path / "net"), input_spec=[paddle.static.InputSpec([None, 1, 4, 4])])
    loaded = paddle.jit.load(str(tmp_path / "net"))
    np.testing.assert_allclose(loaded(image()).numpy(), fixed(image()).numpy(), atol=1e-6)


def test_observers_see_a_model_that_is_not_trained():
    net = Net()
    ptq = PTQ(QuantConfig(activation=AbsmaxObserver(quant_bits=8), weight=AbsmaxObserver(quant_bits=8)))
    with pytest.raises(ArgumentError, match="in training mode"):
        ptq.quantize(net)
    net.eval()
    observed = ptq.quantize(net)
    for factor in (1, 2):
        np.testing.assert_array_equal(observed(image() * factor).numpy(), net(image() * factor).numpy())
    scale = observed.conv.activation_quanter.scales().item()
    assert abs(scale - 2 * image().abs().max().item()) < 1e-5
    np.testing.assert_allclose(ptq.convert(observed)(image()).numpy(), net(image()).numpy(), atol=0.02)


def test_groups_of_rows():
    observer = GroupWiseWeightObserver(quant_bits=4, group_size=2)._instance(None)
    weight = paddle.to_tensor([[1.0, -2.0], [3.0, 0.5], [-7.0, 1.0], [0.0, 14.0]])
    assert observer(weight) is weight and observer.scales().tolist() == [[3.0, 2.0], [7.0, 14.0]]
    assert observer.bit_length() == 4 and observer.zero_points().shape == [2, 2]
    steps = LinearQuanter.from_quanter(observer)(weight)
    assert steps.tolist() == [[2.0, -7.0], [7.0, 2.0], [-7.0, 0.0], [0.0, 7.0]]
    assert LinearDequanter.from_quanter(observer)(steps)[3].tolist() == [0.0, 14.0]
    with pytest.raises(ShapeError, match="groups of 2 rows"):
        observer(paddle.ones([3, 2]))


def test_scales_of_an_axis():
    quant = LinearQuanter(paddle.to_tensor([1.0, 2.0]), quant_axis=1)
    assert quant(paddle.to_tensor([[1.0, 1.0], [-1.0, -4.0]])).tolist() == [[127.0, 64.0], [-127.0, -128.0]]


def test_stubs():
    class Model(nn.Layer):
        def __init__(self, own):
            super().__init__()
            self.stub, self.fc = Stub(own), nn.Linear(2, 2)

        def forward(self, x):
            return self.fc(self.stub(x))

    for own, given in ((None, FAKE), (FAKE, None)):
        model = QAT(QuantConfig(given, AbsmaxObserver())).quantize(Model(own))
        assert type(model.stub).__name__ == "QuantStub" and model(paddle.ones([1, 2])).shape == [1, 2]
        assert type(model.stub._observer).__name__ == "FakeQuanterWithAbsMaxObserverLayer"
    model = QAT(QuantConfig(None, FAKE)).quantize(Model(None))
    assert model.stub._observer is None and model(paddle.ones([1, 2])).shape == [1, 2]


@quanter("Halves")
class HalvesLayer(BaseQuanter):
    def __init__(self, layer, part=0.5):
        super().__init__()
        self.part = part

    def forward(self, x):
        return x * self.part


def test_own_quanters():
    factory = Halves(part=0.25)  # noqa: F821 - the decorator puts it here
    assert str(factory) == "Halves(part=0.25)" and str(FAKE).startswith("FakeQuanterWithAbsMaxObserver(name=None,")
    model = QAT(QuantConfig(factory, None)).quantize(nn.Sequential(nn.ReLU()))
    assert model(paddle.to_tensor([4.0])).tolist() == [1.0]
    own = HalvesLayer(None)
    assert own.zero_points() is None and own.quant_axis() == -1 and own.bit_length() == 8
    with pytest.raises(NotImplementedError, match="HalvesLayer needs scales"):
        own.scales()
