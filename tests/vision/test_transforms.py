"""`paddle.vision.transforms`: one change on PIL images, arrays and tensors, drawn by chance or not."""

import random

import numpy as np
import pytest
from PIL import Image

import vitrify as paddle
from vitrify.core.errors import ArgumentError, DTypeError
from vitrify.vision import transforms as T

PIXELS = np.random.default_rng(0).integers(0, 255, (12, 16, 3)).astype("uint8")
IMAGE = Image.fromarray(PIXELS)
TENSOR = paddle.to_tensor(np.moveaxis(PIXELS, -1, 0).copy())

CHANGES = {
    "pad": lambda x: T.pad(x, (1, 2, 3, 4), 5),
    "pad by reflection": lambda x: T.pad(x, 3, padding_mode="reflect"),
    "crop": lambda x: T.crop(x, 2, 3, 5, 6),
    "center_crop": lambda x: T.center_crop(x, (5, 8)),
    "hflip": T.hflip,
    "vflip": T.vflip,
    "rotate": lambda x: T.rotate(x, 30),
    "rotate with room": lambda x: T.rotate(x, 30, "bilinear", expand=True, fill=9),
    "affine": lambda x: T.affine(x, 20, [1, 2], 1.2, [5, 3]),
    "perspective": lambda x: T.perspective(
        x, [[0, 0], [15, 0], [15, 11], [0, 11]], [[2, 1], [14, 0], [15, 10], [1, 11]]
    ),
    "brightness": lambda x: T.adjust_brightness(x, 1.4),
    "hue": lambda x: T.adjust_hue(x, 0.2),
    "erase": lambda x: T.erase(x, 1, 2, 3, 4, 7),
}


@pytest.mark.parametrize("name", list(CHANGES))
def test_every_form_of_a_picture_is_changed_alike(name):
    wanted = np.asarray(CHANGES[name](IMAGE)).astype(int)
    array, tensor = CHANGES[name](PIXELS), CHANGES[name](TENSOR)
    assert isinstance(array, np.ndarray) and array.dtype == np.uint8
    assert isinstance(tensor, paddle.Tensor) and tensor.dtype == paddle.uint8
    assert np.abs(array.astype(int) - wanted).max() <= 1
    assert np.abs(np.moveaxis(tensor.numpy(), 0, -1).astype(int) - wanted).max() <= 1


CORNERS = [[0, 0], [3, 0], [3, 2], [0, 2]]
WARPED = {  # as PaddlePaddle 3.3.1 has them
    "a right angle": (lambda x: T.rotate(x, 90), [[2, 2, 10, 10], [2, 2, 10, 10], [0, 0, 8, 8]]),
    "room": (lambda x: T.rotate(x, 90, expand=True), [[3, 3, 11, 11], [2, 2, 10, 10], [1, 1, 9, 9], [0, 0, 8, 8]]),
    "a colour outside": (
        lambda x: T.rotate(x, 30, "bilinear", fill=[9.0]),
        [[5.648, 2.269, 3.969, 5.903], [1.201, 4.067, 6.933, 9.799], [4.885, 7.031, 8.415, 7.063]],
    ),
    "sheared": (
        lambda x: T.affine(x, 15, [1, 0], 1.2, [5, 3], "bilinear"),
        [[0.141, 1.804, 1.900, 1.996], [1.584, 5.356, 5.452, 5.548], [2.972, 7.337, 9.004, 9.100]],
    ),
    "slanted": (
        lambda x: T.perspective(x, CORNERS, [[0, 0], [2, 1], [3, 2], [1, 2]], "bilinear", fill=[0]),
        [[0.246, 0, 0, 0], [0.677, 4.5, 5.071, 0], [0.347, 2.675, 7.794, 7.292]],
    ),
}


@pytest.mark.parametrize(("warp", "wanted"), WARPED.values(), ids=WARPED)
def test_tensors_are_read_through_a_grid(warp, wanted):
    x = paddle.arange(12, dtype="float32").reshape([1, 3, 4])
    x.stop_gradient = False
    found = warp(x)
    np.testing.assert_allclose(found[0].numpy(), wanted, atol=1e-3)
    found.sum().backward()
    assert x.grad.numpy().any()


@pytest.mark.parametrize(("angle", "size"), [(30, [14, 16]), (180, [10, 12]), (10.5, [12, 14])])
def test_room_is_counted_from_the_middle(angle, size):
    assert T.rotate(paddle.ones([3, 9, 12]), angle, expand=True).shape == [3, *size]


def test_colours_of_arrays_follow_pillow():
    for change in (
        lambda x: T.adjust_contrast(x, 1.5),
        lambda x: T.functional.adjust_saturation(x, 0.3),
        T.to_grayscale,
    ):
        wanted = np.asarray(change(IMAGE)).astype(int).reshape(12, 16, -1)
        assert np.abs(change(PIXELS).astype(int) - wanted).max() <= 2


def test_sizes():
    for size, shape in (((6, 20), (6, 20)), (6, (6, 8)), (12, (12, 16))):
        for mode in ("nearest", "bilinear", "bicubic"):
            wanted = np.asarray(T.resize(IMAGE, size, mode))
            np.testing.assert_array_equal(T.resize(PIXELS, size, mode), wanted)
            assert wanted.shape[:2] == shape and T.resize(TENSOR, size, mode).shape == [3, *shape]
    grey = PIXELS[..., 0].astype("float32")
    assert T.resize(grey, 6).shape == (6, 8) and T.resize(grey, 6).dtype == np.float32


def test_numbers():
    tensor = T.to_tensor(IMAGE)
    assert tensor.shape == [3, 12, 16] and tensor.dtype == paddle.float32
    np.testing.assert_allclose(tensor.numpy(), np.moveaxis(PIXELS, -1, 0) / 255, rtol=1e-6)
    assert T.to_tensor(PIXELS[..., 0], "HWC").shape == [12, 16, 1]
    found = T.Compose([T.ToTensor(), T.Normalize([0.5, 0.4, 0.3], [0.1, 0.2, 0.3])])(IMAGE)
    np.testing.assert_allclose(found.numpy()[1], (PIXELS[..., 1] / 255 - 0.4) / 0.2, rtol=1e-4, atol=1e-5)
    flat = T.Normalize(127.5, 127.5, "HWC")(PIXELS)
    np.testing.assert_allclose(flat, PIXELS / 127.5 - 1, atol=1e-6)
    assert T.Transpose()(PIXELS).shape == (3, 12, 16)


RANDOM = [
    T.RandomCrop(8), T.RandomCrop(20, padding=2, pad_if_needed=True), T.RandomResizedCrop(7), T.RandomHorizontalFlip(),
    T.RandomVerticalFlip(1.0), T.ColorJitter(0.3, 0.3, 0.3, 0.2), T.RandomRotation(20), T.RandomErasing(1.0),
    T.RandomAffine(10, (0.1, 0.2), (0.8, 1.2), 5), T.RandomPerspective(1.0), T.RandomErasing(1.0, value="random"),
    T.Pad(1), T.Grayscale(3), T.Resize(9),
]  # fmt: skip


@pytest.mark.parametrize("transform", RANDOM, ids=lambda t: type(t).__name__)
def test_chance_is_the_same_for_all_forms(transform):
    shapes = []
    for picture in (IMAGE, PIXELS, TENSOR):
        random.seed(4)
        np.random.seed(4)
        found = transform(picture)
        array = np.moveaxis(found.numpy(), 0, -1) if isinstance(found, paddle.Tensor) else np.asarray(found)
        shapes.append(array.shape)
    assert len(set(shapes)) == 1


def test_what_belongs_to_a_picture_is_changed_with_it():
    class Double(T.BaseTransform):
        def _get_params(self, inputs):
            return 2

        def _apply_image(self, image):
            return image * self.params

        def _apply_boxes(self, boxes):
            return boxes + self.params

    assert Double(keys=("image", "boxes", "label"))((1, 10, 5, "rest")) == (2, 12, 5, "rest")
    assert Double()(3) == 6


def test_what_is_no_picture_is_refused():
    with pytest.raises(DTypeError, match="PIL image"):
        T.hflip([1, 2])
    with pytest.raises(ArgumentError, match="interpolation"):
        T.resize(IMAGE, 5, "cubic")
    with pytest.raises(ArgumentError, match="hue_factor"):
        T.adjust_hue(IMAGE, 0.7)
    with pytest.raises(ArgumentError, match="larger than the picture"):
        T.RandomCrop(40)(IMAGE)
    with pytest.raises(ArgumentError, match="negative"):
        T.ColorJitter(brightness=-1)(IMAGE)


def test_hues_of_tensors_are_not_cut_to_bytes():
    """The colours of the circle, a third of it apart, and one between them."""
    colours = paddle.to_tensor(np.array([[[1.0, 0.0, 0.5]], [[0.0, 1.0, 0.25]], [[0.0, 0.0, 0.25]]], "float32"))
    turned = paddle.vision.transforms.adjust_hue(colours, 1 / 3).numpy()
    np.testing.assert_allclose(turned, np.roll(colours.numpy(), 1, axis=0), atol=1e-6)
    grey = paddle.full([3, 2, 2], 0.3)
    np.testing.assert_allclose(paddle.vision.transforms.adjust_hue(grey, 0.2).numpy(), grey.numpy())


@pytest.mark.parametrize("kind", ["BrightnessTransform", "ContrastTransform", "SaturationTransform", "HueTransform"])
def test_a_change_of_colours_by_nothing_is_none(kind):
    grey = np.full([2, 2, 1], 7, "uint8")
    assert getattr(paddle.vision.transforms, kind)(0)(grey) is grey


def test_tensors_in_other_forms():
    x = paddle.rand([3, 4, 5])
    assert paddle.vision.transforms.to_tensor(x, "HWC").shape == [4, 5, 3]
    assert paddle.vision.transforms.resize(x, (2, 3), "area").shape == [3, 2, 3]


NUMBERED = Image.fromarray(np.arange(192, dtype="uint8").reshape(12, 16)).convert("RGB")


@pytest.mark.parametrize(
    ("transform", "total", "left_for_others"),
    [
        (T.RandomResizedCrop(4, interpolation="nearest"), 1360, 0.0849),
        (T.RandomCrop((12, 16)), 18336, 0.956),
        (T.RandomErasing(1.0), 14751, 0.9478),
        (T.RandomAffine(0, (0.2, 0.3)), 14931, 0.0849),
        (T.RandomAffine(10, shear=5), 16999, 0.0566),
        (T.RandomPerspective(1.0, 0.5), 14042, 0.6068),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_seed_gives_the_pictures_of_paddlepaddle(transform, total, left_for_others):
    """Sums of places and the next number of Python's `random`, as PaddlePaddle 3.3.1 has them."""
    random.seed(2)
    np.random.seed(2)
    assert np.asarray(transform(NUMBERED))[..., 0].sum() == total
    assert round(random.random(), 4) == left_for_others


@pytest.mark.parametrize("dtype", ["float64", "int32", "int64", "bool", "float16"])
def test_arrays_that_are_no_bytes_keep_their_dtype(dtype):
    found = T.to_tensor(PIXELS.astype(dtype))
    assert found.dtype == getattr(paddle, dtype)
    np.testing.assert_array_equal(found.numpy(), np.moveaxis(PIXELS.astype(dtype), -1, 0))


def test_whole_numbers_of_images_are_int32():
    assert T.to_tensor(IMAGE.convert("I")).dtype == paddle.int32
    assert T.to_tensor(IMAGE.convert("F")).dtype == paddle.float32


@pytest.mark.parametrize("mode", ["P", "CMYK", "YCbCr", "L", "RGBA", "LA"])
@pytest.mark.parametrize("change", [T.hflip, T.vflip, lambda x: T.pad(x, 2)])
def test_images_keep_their_mode(mode, change):
    image = IMAGE.convert(mode)
    found = change(image)
    assert found.mode == mode and found.getpalette() == image.getpalette()


def test_images_keep_their_palette():
    image = IMAGE.convert("P")
    found = T.pad(image, 1, padding_mode="edge")
    assert found.mode == "P" and found.getpalette() == image.getpalette()


def test_grey_images_are_normalized_as_one_channel():
    assert T.normalize(IMAGE.convert("L"), 1, 2, "HWC").shape == (1, 12, 16)
    assert T.Normalize([127.5], [127.5], data_format="CHW")(IMAGE.convert("L")).shape == (1, 12, 16)


def test_brightness_of_tensors_has_paddlepaddles_weights():
    white = T.to_grayscale(paddle.ones([3, 1, 1]))
    np.testing.assert_allclose(white.numpy(), [[[0.9999]]], rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: T.Pad((1, 2, 3)), ArgumentError), (lambda: T.Pad("a"), DTypeError),
        (lambda: T.RandomErasing(2.0), ArgumentError), (lambda: T.RandomErasing(0.5, (0.5, 0.1)), ArgumentError),
        (lambda: T.RandomAffine(3, (2, 3)), ArgumentError), (lambda: T.RandomAffine(3, scale=(0, 1)), ArgumentError),
        (lambda: T.RandomPerspective(2.0), ArgumentError), (lambda: T.RandomPerspective(0.5, 3.0), ArgumentError),
    ],
)  # fmt: skip
def test_settings_are_looked_at_when_a_transform_is_made(make, error):
    with pytest.raises(error):
        make()
