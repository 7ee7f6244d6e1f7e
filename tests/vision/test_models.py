"""`paddle.vision.models`: Paddle's parameter names, eager and static alike, forward and backward."""

import hashlib

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError, UnsupportedError
from vitrify.jit import to_static
from vitrify.vision import models as M

# Of the state dicts of PaddlePaddle 3.3.1 with 7 classes: how many entries, and the digest of their names and sizes.
PADDLE = {
    "resnet18": (102, "ee9e2c393351f597"),
    "resnet50": (267, "b8e7bbf37ecf7058"),
    "resnext50_32x4d": (267, "4e1026bb4d37e8e5"),
    "wide_resnet50_2": (267, "c8eef204eb89dc43"),
    "vgg11": (22, "8eb1fe9c96b7d923"),
    "alexnet": (16, "c1489c06fd400cfa"),
    "squeezenet1_0": (52, "e228af94d926b15c"),
    "squeezenet1_1": (52, "a10736faa4852145"),
    "mobilenet_v1": (137, "5dd0922da4cd7dc2"),
    "mobilenet_v2": (262, "f5993da3f9973292"),
    "mobilenet_v3_small": (210, "9d8ab94961d06745"),
    "mobilenet_v3_large": (266, "8023b19fd524646b"),
    "densenet121": (606, "6dab342ac8106ab8"),
    "googlenet": (69, "3e3848ccae3cf4a5"),
    "inception_v3": (472, "85c5896bf7ed3ac8"),
    "shufflenet_v2_x0_25": (282, "d80481a51d1a557d"),
    "shufflenet_v2_swish": (282, "686282e4458c4be5"),
    "LeNet": (10, "d7ea01380ded6bdb"),
}
# Image size for the models that take small images within a second or two; the others run with the slow tests.
QUICK = {
    "LeNet": 28, "resnet18": 32, "squeezenet1_1": 64, "mobilenet_v3_small": 32,
}  # fmt: skip
SLOW = {
    "resnet50": 32, "resnext50_32x4d": 32, "wide_resnet50_2": 32, "vgg11": 32, "alexnet": 224, "squeezenet1_0": 64,
    "mobilenet_v1": 32, "mobilenet_v2": 32, "mobilenet_v3_large": 32, "densenet121": 32, "googlenet": 224,
    "inception_v3": 80, "shufflenet_v2_x0_25": 32, "shufflenet_v2_swish": 32,
}  # fmt: skip


def build(name):
    paddle.seed(7)
    return M.LeNet(num_classes=7) if name == "LeNet" else getattr(M, name)(num_classes=7)


def digest(entries):
    """Of names with their sizes, in order, such as `fc.weight 84x7`."""
    lines = [f"{name} {'x'.join(map(str, shape))}" for name, shape in entries]
    return len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_parameters_have_paddles_names_order_and_sizes(name):
    assert digest((key, value.shape) for key, value in build(name).state_dict().items()) == PADDLE[name]


def outcome(net, forward, x):
    """Outputs, gradients and running statistics of one training step."""
    paddle.seed(3)
    found = forward(x)
    outputs = found if isinstance(found, list) else [found]
    sum(out.square().mean() for out in outputs).backward()
    arrays = [out.numpy() for out in outputs]
    arrays += [p.grad.numpy() for p in net.parameters() if p.grad is not None]
    arrays += [value.numpy() for key, value in net.state_dict().items() if key.endswith(("_mean", "_variance"))]
    net.clear_gradients()
    return arrays


def check_static(name, size):
    x = paddle.to_tensor(np.random.default_rng(0).normal(size=(2, 1 if name == "LeNet" else 3, size, size)), "float32")
    eager, static = build(name), build(name)
    compiled = to_static(static, full_graph=True)
    for _ in range(2):
        wanted, found = outcome(eager, eager, x), outcome(static, compiled, x)
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted):
            if not np.array_equal(a, b):  # the looser comparison of 100 million numbers takes a minute
                np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5 * max(np.abs(b).max(), 1))


@pytest.mark.parametrize("name", list(QUICK))
def test_eager_is_static(name):
    check_static(name, QUICK[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", list(SLOW))
def test_eager_is_static_in_large(name):
    check_static(name, SLOW[name])


def test_weights_are_not_downloaded():
    with pytest.raises(UnsupportedError, match=r"resnet50\(pretrained=True\) would download") as found:
        M.resnet50(pretrained=True)
    assert "set_state_dict" in str(found.value)
    with pytest.raises(ArgumentError, match="version"):
        M.SqueezeNet("2.0")
    with pytest.raises(ArgumentError, match="layers"):
        M.DenseNet(7)


def test_heads_can_be_left_out():
    x = paddle.ones([1, 3, 64, 64])
    assert M.resnet18(num_classes=0, with_pool=False)(x).shape == [1, 512, 2, 2]
    assert M.shufflenet_v2_x0_25(num_classes=0)(x).shape == [1, 512, 1, 1]


def test_a_model_is_found_where_code_looks_for_it():
    assert paddle.vision.models.resnet.BasicBlock is M.resnet.BasicBlock
    assert paddle.vision.LeNet is M.LeNet and paddle.vision.resnet18 is M.resnet18
    with pytest.raises(AttributeError, match="no attribute 'resnet7'"):
        paddle.vision.resnet7
