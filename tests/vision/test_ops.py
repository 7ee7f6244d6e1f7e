"""`paddle.vision.ops`: under to_static with known and unknown sizes, as Layers, and what they refuse."""

import io

import numpy as np
import pytest
from PIL import Image

import vitrify as paddle
from vitrify.core.errors import ArgumentError, ShapeError
from vitrify.jit import to_static
from vitrify.static import InputSpec
from vitrify.vision import ops as V


def boxes_of(n, seed=0):
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 20, (n, 2))
    return paddle.to_tensor(np.concatenate([low, low + rng.uniform(1, 15, (n, 2))], axis=1).astype("float32"))


def best_boxes(boxes, scores):
    kept = V.nms(boxes, 0.3, scores)
    total = paddle.zeros([])
    if kept.shape[0] > 3:
        total = scores[kept].sum()
    return boxes[kept], kept, total


@pytest.mark.parametrize("n", [None, 12])
def test_nms_has_a_length_that_the_data_decide(n):
    static = to_static(best_boxes, input_spec=[InputSpec([n, 4]), InputSpec([n])], full_graph=True)
    for seed in (0, 1) if n else (0, 1, 2):
        count = n or 5 + 3 * seed
        args = boxes_of(count, seed), paddle.to_tensor(np.random.default_rng(seed).random(count).astype("float32"))
        for found, wanted in zip(static(*args), best_boxes(*args)):
            np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-6)


def pyramid(x, rois, count):
    levels, restore, numbers = V.distribute_fpn_proposals(rois, 2, 4, 3, 10, rois_num=count)
    pooled = [V.roi_align(x, r, n, 2, 1 / 2**i) for i, (r, n) in enumerate(zip(levels, numbers))]
    return paddle.gather(paddle.concat(pooled), restore.flatten())


@pytest.mark.parametrize("n", [None, 9])
def test_regions_of_a_pyramid(n):
    spec = [InputSpec([1, 3, n and 16, n and 16]), InputSpec([n, 4]), InputSpec([1], "int32")]
    static = to_static(pyramid, input_spec=spec, full_graph=True)
    for count in (9,) if n else (9, 4, 1):
        results = []
        for fn in (static, pyramid):
            x = paddle.arange(768, dtype="float32").reshape([1, 3, 16, 16]).sin()
            x.stop_gradient = False
            out = fn(x, boxes_of(count), paddle.to_tensor([count], dtype="int32"))
            out.square().sum().backward()
            results.append((out.numpy(), x.grad.numpy()))
        for found, wanted in zip(*results):
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


class Deformed(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.offset = paddle.nn.Conv2D(4, 27, 3, padding=1)
        self.conv = V.DeformConv2D(4, 6, 3, padding=1, groups=2)

    def forward(self, x):
        found = self.offset(x)
        return self.conv(x, found[:, :18], paddle.nn.functional.sigmoid(found[:, 18:]))


def test_offsets_of_places_at_the_border_have_no_gradient():
    """Offsets start as zeros, so that windows over the border read at -1 and at the size exactly."""
    offset = paddle.zeros([1, 18, 4, 4])
    offset.stop_gradient = False
    V.deform_conv2d(
        paddle.arange(1.0, 17.0).reshape([1, 1, 4, 4]), offset, paddle.ones([1, 1, 3, 3]), padding=1
    ).sum().backward()
    of_first, of_last = offset.grad[0, :2].numpy(), offset.grad[0, 16:].numpy()
    assert not of_first[:, 0].any() and not of_first[:, :, 0].any() and of_first[:, 1:, 1:].all()
    assert not of_last[:, 3].any() and not of_last[:, :, 3].any()


def test_boxes_without_area_hide_nothing():
    points = paddle.to_tensor([[[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 2.0, 2.0]]])
    out, count, _ = V.matrix_nms(points, paddle.to_tensor([[[0.5, 0.75, 0.25]]]), 0.1, 0.2, -1, -1, background_label=-1)
    assert out[:, 1].tolist() == [0.75, 0.5, 0.25] and count.tolist() == [3]


@pytest.mark.parametrize("shape", [[2, 4, 5, 6], [None, 4, None, None]])
def test_deformable_convolution_trains_like_eager_code(shape):
    paddle.seed(0)
    net = Deformed()
    static = to_static(net, input_spec=[InputSpec(shape)], full_graph=True)
    for size in (5,) if shape[0] else (5, 7):
        found = []
        for fn in (static, net.forward.dygraph_function):
            x = paddle.arange(2 * 4 * size * 6, dtype="float32").reshape([2, 4, size, 6]).cos()
            x.stop_gradient = False
            out = fn(x)
            out.square().mean().backward()
            found.append([out.numpy(), x.grad.numpy(), *[p.grad.numpy() for p in net.parameters()]])
            net.clear_gradients()
        for a, b in zip(*found):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_layers_of_regions_are_their_functions():
    x, boxes, count = paddle.rand([1, 4, 8, 8]), boxes_of(3), paddle.to_tensor([3], dtype="int32")
    for layer, function in ((V.RoIAlign, V.roi_align), (V.RoIPool, V.roi_pool), (V.PSRoIPool, V.psroi_pool)):
        found = layer(2, spatial_scale=0.5)(x, boxes, count)
        np.testing.assert_array_equal(found.numpy(), function(x, boxes, count, 2, 0.5).numpy())


def test_a_call_says_whether_boxes_are_aligned():
    x, boxes, count = paddle.rand([1, 4, 8, 8]), boxes_of(3), paddle.to_tensor([3], dtype="int32")
    found = V.RoIAlign(2)(x, boxes, count, aligned=False)
    np.testing.assert_array_equal(found.numpy(), V.roi_align(x, boxes, count, 2, aligned=False).numpy())


def test_a_block_of_convolution_norm_and_activation():
    assert [type(part).__name__ for part in V.ConvNormActivation(3, 4)] == ["Conv2D", "BatchNorm2D", "ReLU"]
    plain = V.ConvNormActivation(3, 4, kernel_size=5, dilation=2, norm_layer=None, activation_layer=None)
    assert len(plain) == 1 and plain[0].bias is not None
    assert plain(paddle.ones([1, 3, 9, 9])).shape == [1, 4, 9, 9]


def test_files(tmp_path):
    pixels = (np.indices((16, 24)).sum(axis=0) * 5).astype("uint8")
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "jpeg", quality=95)
    (tmp_path / "a.jpg").write_bytes(buffer.getvalue())
    data = V.read_file(str(tmp_path / "a.jpg"))
    assert data.dtype == paddle.uint8 and data.shape == [len(buffer.getvalue())]
    assert V.decode_jpeg(data).shape == [1, 16, 24]
    colour = V.decode_jpeg(data, "rgb")
    assert colour.shape == [3, 16, 24]
    assert np.abs(colour.numpy()[1].astype(int) - pixels).max() < 8
    with pytest.raises(ArgumentError, match="mode"):
        V.decode_jpeg(data, "cmyk")


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda x, b, n: V.roi_align(x, b, n + 1, 2), ArgumentError, "boxes_num is"),
        (lambda x, b, n: V.roi_align(x[0], b, n, 2), ShapeError, "boxes_num"),
        (lambda x, b, n: V.psroi_pool(x, b, n, 3), ShapeError, "x has 4 channels"),
        (lambda x, b, n: V.nms(b, 0.5, n, n), ArgumentError, "categories"),
        (lambda x, b, n: V.nms(b[:, :3]), ShapeError, "boxes is"),
        (lambda x, b, n: V.deform_conv2d(x, x, paddle.ones([4, 4, 3, 3])), ShapeError, r"expected \[1, 18, 6, 6\]"),
        (lambda x, b, n: V.deform_conv2d(x, x, paddle.ones([4, 3, 3, 3])), ShapeError, "weight is for 3"),
        (lambda x, b, n: V.yolo_box(x, n, [1, 2], 1, 0.1, 8), ShapeError, r"\[n, 6, h, w\]"),
        (lambda x, b, n: V.yolo_box(x, n, [1], 1, 0.1, 8), ArgumentError, "pairs"),
        (lambda x, b, n: V.box_coder(b, None, b, "other"), ArgumentError, "code_type"),
        (lambda x, b, n: V.prior_box(x, x, 4.0, 2.0), ArgumentError, "max_sizes"),
    ],
)
def test_what_does_not_fit_is_named(call, error, text):
    with pytest.raises(error, match=text):
        call(paddle.ones([1, 4, 8, 8]), boxes_of(3), paddle.to_tensor([3], dtype="int32"))


def test_boxes_and_what_belongs_to_them_are_tuples():
    x, image = paddle.ones([1, 12, 2, 2]), paddle.ones([1, 3, 8, 8])
    size = paddle.to_tensor([[64, 64]], dtype="int32")
    assert isinstance(paddle.vision.ops.yolo_box(x, size, [16, 8, 8, 8], 1, 0.1, 32), tuple)
    assert isinstance(paddle.vision.ops.prior_box(x, image, [4.0]), tuple)
