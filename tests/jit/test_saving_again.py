"""What a file holds besides `forward` survives loading, fine-tuning and saving again."""

import tracemalloc

import numpy as np
import pytest

import vitrify as paddle
from vitrify.static import InputSpec

SPEC = [InputSpec([None, 3], name="x")]
X = np.array([[1.0, -2.0, 3.0], [0.5, 0.25, 0.0]], "float32")
nn = paddle.nn


class Net(nn.Layer):
    """Several methods, of tensors and of plain data, and a buffer that one of them changes."""

    def __init__(self):
        super().__init__()
        self.body, self.norm, self.head = nn.Linear(3, 3), nn.BatchNorm1D(3), nn.Linear(3, 2)
        self.register_buffer("calls", paddle.zeros([1]))
        self.words = ["a", "b"]

    @paddle.jit.to_static(input_spec=SPEC)
    def forward(self, x):
        return self.norm(self.body(x))

    @paddle.jit.to_static(input_spec=SPEC)
    def features(self, x):
        self.calls += 1
        return {"head": self.head(x), "same": (x, None, "text")}

    @paddle.jit.to_static(input_spec=[])
    def size(self):
        return self.head.weight.sum()

    @paddle.jit.to_static
    def scaled(self, x, *, by=2):
        return x * by

    @paddle.jit.to_static
    @property
    def weight_sum(self):
        return self.body.weight.sum()

    @paddle.jit.to_static(property=True)
    def labels(self):
        return list(self.words)

    @paddle.jit.to_static(property=True)
    @property
    def rates(self):
        return {"fps": 30, "scale": (0.5, float("inf"))}

    def helper(self):
        """Plain Python, which no file keeps."""


def told(net):
    """Whatever the Layer gives in evaluation mode."""
    net.eval()
    x = paddle.to_tensor(X)
    features = net.features(x)
    assert features["same"][1:] == (None, "text")
    tensors = [net(x), features["head"], net.calls, net.size(), net.scaled(x, by=3), net.weight_sum]
    return [t.numpy() for t in tensors], net.labels(), net.rates


def trained(net):
    net.train()
    optimizer = paddle.optimizer.Adam(0.1, parameters=net.parameters())
    for _ in range(2):
        (net(paddle.to_tensor(X)) ** 2).sum().backward()
        net.features(paddle.to_tensor(X))["head"].sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    return net


def agree(found, wanted):
    assert found[1:] == wanted[1:]
    for a, b in zip(found[0], wanted[0]):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_methods_and_values_after_training_and_saving_twice(tmp_path):
    paddle.seed(1)
    net = Net()
    net.scaled(paddle.to_tensor(X), by=3)
    files = [str(tmp_path / name) for name in "abc"]
    paddle.jit.save(net, files[0])
    loaded = paddle.jit.load(files[0])
    agree(told(loaded), told(net))
    for file in files[1:]:
        trained(loaded), trained(net)
        paddle.jit.save(loaded, file)
        loaded = paddle.jit.load(file)
        agree(told(loaded), told(net))
    assert {p.name for p in loaded.parameters()} == {p.name for p in net.parameters()}
    with pytest.raises(AttributeError):
        loaded.helper


def test_another_spec_of_forward_leaves_the_other_methods(tmp_path):
    net = Net()
    net.scaled(paddle.to_tensor(X), by=3)
    paddle.jit.save(net, str(tmp_path / "a"))
    paddle.jit.save(paddle.jit.load(str(tmp_path / "a")), str(tmp_path / "b"), input_spec=[InputSpec([2, 3])])
    loaded = paddle.jit.load(str(tmp_path / "b"))
    agree(told(loaded), told(net))
    with pytest.raises(ValueError, match=r"saved for float32\[2, 3\]"):
        loaded(paddle.ones([4, 3]))


def test_saving_makes_no_copy_of_the_parameters(tmp_path):
    net = nn.Linear(1024, 4096)
    size = 4 * 1024 * 4096
    paddle.jit.save(net, str(tmp_path / "warm"), input_spec=[InputSpec([None, 1024])])
    for layer in (net, paddle.jit.load(str(tmp_path / "warm"))):
        tracemalloc.start()
        try:
            paddle.jit.save(layer, str(tmp_path / "large"), input_spec=[InputSpec([None, 1024])])
            assert tracemalloc.get_traced_memory()[1] < size // 8
        finally:
            tracemalloc.stop()


def test_a_value_that_no_file_can_hold_is_named(tmp_path):
    class Wrong(nn.Linear):
        @paddle.jit.to_static(property=True)
        def made(self):
            return {"of": [object()]}

    with pytest.raises(TypeError, match=r"\['made'\]\['of'\]\[0\]"):
        paddle.jit.save(Wrong(3, 2), str(tmp_path / "a"), input_spec=SPEC)


def test_methods_go_to_paddles_files_and_come_back(tmp_path):
    class Two(nn.Linear):
        @paddle.jit.to_static(input_spec=SPEC)
        def doubled(self, x):
            return self.forward(x) * 2

    net = Two(3, 2)
    paddle.jit.save(net, str(tmp_path / "a"), input_spec=SPEC)
    paddle.jit.save(paddle.jit.load(str(tmp_path / "a")), str(tmp_path / "p"), format="paddle3")
    found = paddle.jit.load(str(tmp_path / "p.doubled"))(paddle.to_tensor(X))
    np.testing.assert_allclose(found.numpy(), net.doubled(paddle.to_tensor(X)).numpy(), rtol=1e-6)


@pytest.mark.parametrize("example", [paddle.ones([2, 3]), np.ones((2, 3), "float32")])
def test_tensors_in_an_input_spec_are_examples(example, tmp_path):
    class Scaled(paddle.nn.Linear):
        def forward(self, x, by=1):
            return super().forward(x) * by

    net = Scaled(3, 4)
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[example, 3])
    loaded = paddle.jit.load(str(tmp_path / "net"))
    x = paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    np.testing.assert_allclose(loaded(x).numpy(), net(x, 3).numpy(), 1e-6)


def test_a_method_that_takes_nothing_needs_no_input_spec(tmp_path):
    class Measured(paddle.nn.Linear):
        @paddle.jit.to_static
        def length(self):
            return self.weight.norm()

    net = Measured(3, 4)
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([None, 3])])
    assert paddle.jit.load(str(tmp_path / "net")).length().item() == net.length().item()


def test_a_property_that_is_a_tensor_is_refused_by_name(tmp_path):
    class Labelled(paddle.nn.Linear):
        @paddle.jit.to_static(property=True)
        def weights(self):
            return [paddle.ones([3])]

    with pytest.raises(TypeError, match="`weights` gives a Tensor, and with property=True numbers, texts") as caught:
        paddle.jit.save(Labelled(3, 4), str(tmp_path / "net"), input_spec=[InputSpec([None, 3])])
    assert "leave property=True out" in str(caught.value)
