"""Native programs of images whose height and width are left open."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn
from vitrify.aot import load
from vitrify.core.errors import ShapeError
from vitrify.nn import functional as F
from vitrify.static import InputSpec

TOLERANCE = 2e-5
SIZES = [(1, 9, 9), (2, 16, 23), (3, 57, 40), (1, 131, 12)]


def images(n, h, w, channels=3):
    return np.random.default_rng(h * w).standard_normal((n, channels, h, w)).astype("float32")


def saved(model, path, *specs, **settings):
    if isinstance(model, nn.Layer):
        model.eval()
    specs = specs or (InputSpec([None, 3, None, None], name="x"),)
    paddle.jit.save(model, str(path), input_spec=[*specs], format="native", **settings)
    return load(str(path))


def checked(model, program, sizes=SIZES, channels=3):
    for size in sizes:
        x = images(*size, channels)
        wanted = model(paddle.to_tensor(x))
        wanted = wanted if isinstance(wanted, (list, tuple)) else [wanted]
        for ours, theirs in zip(program(x), wanted, strict=True):
            assert list(ours.shape) == theirs.shape
            np.testing.assert_allclose(ours, theirs.numpy(), TOLERANCE, TOLERANCE)


def pad_to_windows(x):
    return F.pad(x, [1, 2, 0, 1], mode="reflect")


POOLS = {
    "conv": nn.Conv2D(3, 4, 3, stride=2, padding=1),
    "conv without padding": nn.Conv2D(3, 4, 3, stride=3),
    "conv of groups": nn.Conv2D(3, 6, (3, 2), stride=(2, 3), padding=1, dilation=2, groups=3),
    "conv transposed": nn.Conv2DTranspose(3, 4, 3, stride=2, padding=1),
    "max pool": nn.MaxPool2D(3, 2, 1),
    "max pool, rounded up": nn.MaxPool2D(2, 2, ceil_mode=True),
    "max pool with places": lambda x: F.max_pool2d(x, 3, 2, 1, return_mask=True),
    "average": nn.AvgPool2D(3, 2, 1),
    "average with padding": nn.AvgPool2D(3, 2, 1, exclusive=False),
    "average, rounded up": nn.AvgPool2D(2, 2, ceil_mode=True),
    "average to bins": nn.AdaptiveAvgPool2D((3, 7)),
    "average to one": nn.AdaptiveAvgPool2D(1),
    "channels last": lambda x: F.avg_pool2d(x.transpose([0, 2, 3, 1]), 3, 2, 1, data_format="NHWC"),
    "bins, channels last": lambda x: F.adaptive_avg_pool2d(x.transpose([0, 2, 3, 1]), 5, data_format="NHWC"),
    "padding": pad_to_windows,
    "group norm": nn.GroupNorm(3, 3),
    "columns": nn.Unfold(3, paddings=1, strides=2),
    "response norm": nn.LocalResponseNorm(3),
    "halved": lambda x: F.interpolate(x, scale_factor=0.5, mode="nearest"),
    "nearest": lambda x: F.interpolate(x, scale_factor=2, mode="nearest"),
    "half as much again": lambda x: F.interpolate(x, scale_factor=1.5, mode="bilinear"),
    "corners": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True),
    "edges": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_mode=1),
    "cubic": lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"),
    "cubic corners": lambda x: F.interpolate(F.max_pool2d(x, 2), x.shape[2:], mode="bicubic", align_corners=True),
    "to the size before": lambda x: F.interpolate(F.max_pool2d(x, 2), x.shape[2:], mode="bilinear"),
    "levels side by side": lambda x: paddle.concat([x.flatten(2), F.max_pool2d(x, 2).flatten(2)], 2).exp(),
    "half of a row": lambda x: x[:, :, x.shape[2] // 2 :, : x.shape[3] // 3],
}


@pytest.mark.parametrize("name", POOLS)
def test_sizes_that_are_divided_with_rounding(name, tmp_path):
    model = POOLS[name]
    checked(model, saved(model, tmp_path / "net"))


class Halves(nn.Layer):
    """Halves an image twice, and doubles it again beside what it was."""

    def __init__(self, doubles):
        super().__init__()
        self.down = nn.LayerList([nn.Conv2D(3, 3, 3, 2, 1), nn.Conv2D(3, 3, 3, 2, 1)])
        self.doubles = doubles

    def forward(self, x):
        kept = []
        for layer in self.down:
            kept.append(x)
            x = F.relu(layer(x))
        for other in reversed(kept):
            size = {"scale_factor": 2} if self.doubles else {"size": other.shape[2:]}
            x = F.interpolate(x, mode="bilinear", **size) + other
        return x


def test_an_image_that_is_halved_and_resized_may_have_any_size(tmp_path):
    net = Halves(doubles=False)
    checked(net, saved(net, tmp_path / "net"))


def test_an_image_that_is_halved_and_doubled_has_sizes_that_are_multiples(tmp_path):
    net = Halves(doubles=True)
    program = saved(net, tmp_path / "net")
    checked(net, program, [(1, 8, 8), (2, 16, 24), (3, 56, 40), (1, 132, 12)])
    with pytest.raises(ShapeError, match="input x: dimension 2 must be a multiple of 4, got 10"):
        program(images(1, 10, 8))


def test_images_smaller_than_a_window_are_refused(tmp_path):
    program = saved(nn.Conv2D(3, 4, 5), tmp_path / "net")
    with pytest.raises(ShapeError, match="input x: dimension 3 must be at least 5, got 4"):
        program(images(1, 8, 4))


def test_sequences_of_any_length_are_pooled(tmp_path):
    net = nn.Sequential(nn.Conv1D(3, 4, 4, stride=3, padding=1), nn.MaxPool1D(3, 2), nn.AdaptiveAvgPool1D(5))
    program = saved(net, tmp_path / "net", InputSpec([None, 3, None], name="x"))
    for length in (12, 31, 64, 200):
        x = np.random.default_rng(length).standard_normal((2, 3, length)).astype("float32")
        np.testing.assert_allclose(program(x)[0], net(paddle.to_tensor(x)).numpy(), TOLERANCE, TOLERANCE)


def test_volumes_of_any_size_are_pooled(tmp_path):
    net = nn.Sequential(nn.Conv3D(2, 3, 3, stride=2, padding=1), nn.AvgPool3D(2, 2, padding=1))
    specs = InputSpec([1, 2, None, None, None], name="x")
    program = saved(net, tmp_path / "net", specs)
    for shape in ((1, 2, 5, 6, 7), (1, 2, 12, 9, 20)):
        x = np.random.default_rng(1).standard_normal(shape).astype("float32")
        np.testing.assert_allclose(program(x)[0], net(paddle.to_tensor(x)).numpy(), TOLERANCE, TOLERANCE)


def test_a_network_of_strides_takes_images_of_any_size(tmp_path):
    net = paddle.vision.models.resnet18(num_classes=10)
    program = saved(net, tmp_path / "net")
    checked(net, program, [(1, 64, 64), (2, 33, 97), (1, 127, 50)])
