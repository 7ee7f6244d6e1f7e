"""Changes of one picture. Source: paddle.vision.transforms.functional."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import ArgumentError, DTypeError
from ...eager.tensor import Tensor
from ...eager.tensor import to_tensor as make_tensor
from ...nn.functional import interpolate
from .pictures import Array, check, is_pil, on_array, on_pil, pillow, size_of
from .warp import affine_map, has_grid, perspective_map

_is_pil_image = is_pil


def _is_tensor_image(img: Any) -> bool:
    """Whether the picture is a tensor."""
    return isinstance(img, Tensor)


def _is_numpy_image(img: Any) -> bool:
    """Whether the picture is an array [h, w] or [h, w, c]."""
    return isinstance(img, np.ndarray) and img.ndim in (2, 3)


_FILTERS = {
    "nearest": "NEAREST", "bilinear": "BILINEAR", "bicubic": "BICUBIC", "box": "BOX", "lanczos": "LANCZOS",
    "hamming": "HAMMING",
}  # fmt: skip


def _filter(op: str, interpolation: str) -> Any:
    if interpolation not in _FILTERS:
        raise ArgumentError(f"{op}: interpolation must be one of {', '.join(_FILTERS)}, got {interpolation!r}")
    return getattr(pillow().Resampling, _FILTERS[interpolation])


# --- numbers ---------------------------------------------------------------------------------------------------------


def to_tensor(pic: Any, data_format: str = "CHW") -> Tensor:
    """A PIL image or array [h, w, c] as tensor [c, h, w] (or [h, w, c] for "HWC"); bytes become float32 in [0, 1].

    Other numbers keep their values and, in arrays, their dtype; whole numbers of a PIL image are int32.

    Source: paddle.vision.transforms.to_tensor.

    Example:
        >>> import numpy as np, vitrify as paddle
        >>> paddle.vision.transforms.to_tensor(np.full([2, 3, 1], 255, "uint8")).shape
        paddle.Size([1, 2, 3])
    """
    if data_format not in ("CHW", "HWC"):
        raise ArgumentError(f"to_tensor: data_format must be CHW or HWC, got {data_format!r}")
    if isinstance(pic, Tensor):
        return pic if data_format == "CHW" else pic.moveaxis(-3, -1)
    check(pic)
    if is_pil(pic) and pic.mode == "1":
        pic = pic.convert("L")
    array = np.asarray(pic)
    array = array[..., None] if array.ndim == 2 else array
    if is_pil(pic) and pic.mode.startswith("I"):
        array = array.astype(np.int32)
    scaled = array.astype(np.float32) / np.float32(255) if array.dtype == np.uint8 else array
    out: Tensor = make_tensor(np.ascontiguousarray(np.moveaxis(scaled, -1, 0) if data_format == "CHW" else scaled))
    return out


def normalize(img: Any, mean: Any, std: Any, data_format: str = "CHW", to_rgb: bool = False) -> Any:
    """(img - mean) / std for each channel, float32; an image becomes an array, a tensor stays one.

    to_rgb: turn the channels of an array round first. Source: paddle.vision.transforms.normalize.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.normalize(paddle.ones([1, 1, 2]), [0.5], [0.25]).tolist()
        [[[2.0, 2.0]]]
    """
    shape = (-1, 1, 1) if data_format == "CHW" else (1, 1, -1)
    centre, spread = (np.asarray(v, np.float32).reshape(shape) for v in (mean, std))
    if isinstance(img, Tensor):
        return (img - make_tensor(centre)) / make_tensor(spread)
    array = np.asarray(img).astype(np.float32)
    if to_rgb:
        array = array[::-1] if data_format == "CHW" else array[..., ::-1]
    return ((array - centre) / spread).astype(np.float32)


def erase(img: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    """The picture with the rectangle from row i and column j holding v.

    Source: paddle.vision.transforms.erase.

    Example:
        >>> import vitrify as paddle
        >>> import numpy as np
        >>> image = np.array([[1, 2], [3, 4]], "uint8")
        >>> paddle.vision.transforms.erase(image, 0, 0, 1, 1, 9).tolist()
        [[9, 2], [3, 4]]
    """
    if isinstance(img, Tensor):
        out = img if inplace else img.clone()
        out[..., i : i + h, j : j + w] = v
        return out

    def change(array: Array) -> Array:
        out = array if inplace and array.flags.writeable else array.copy()
        out[i : i + h, j : j + w] = v
        return out

    return on_array(change, img)


# --- places ----------------------------------------------------------------------------------------------------------


def resize(img: Any, size: Any, interpolation: str = "bilinear") -> Any:
    """The picture in another size: (height, width), or an int for the shorter side with the proportions kept.

    Source: paddle.vision.transforms.resize.

    Example:
        >>> import numpy as np, vitrify as paddle
        >>> paddle.vision.transforms.resize(np.zeros([10, 20, 3], "uint8"), 5).shape
        (5, 10, 3)
    """
    h, w = size_of(img)
    if isinstance(size, numbers.Integral):
        short = int(size)
        target = (int(short * h / w), short) if w <= h else (short, int(short * w / h))
    elif len(size) == 2:
        target = (int(size[0]), int(size[1]))
    else:
        raise ArgumentError(f"resize: size must be an int or (height, width), got {size}")
    if target == (h, w):
        return img
    if isinstance(img, Tensor):
        batch = img if img.ndim == 4 else img.unsqueeze(0)
        found = interpolate(batch.astype("float32"), list(target), mode=interpolation).astype(img.dtype)
        return found if img.ndim == 4 else found[0]
    method = _filter("resize", interpolation)
    return on_pil(lambda image: image.resize(target[::-1], method), img)


def sides(op: str, padding: Any) -> tuple[int, int, int, int]:
    """Left, top, right and bottom; raises ArgumentError for another number of them, DTypeError for what is none."""
    if not isinstance(padding, (numbers.Integral, list, tuple)):
        raise DTypeError(f"{op}: padding must be an int or 2 or 4 of them, got {padding!r}")
    given = [int(padding)] if isinstance(padding, numbers.Integral) else [int(p) for p in padding]
    if len(given) not in (1, 2, 4):
        raise ArgumentError(f"{op}: padding must be an int or 2 or 4 of them, got {padding}")
    left, top, right, bottom = (given * 4)[:4]
    return left, top, right, bottom


def pad(img: Any, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Any:
    """The picture with a border: of one width, (left and right, top and bottom) or (left, top, right, bottom).

    padding_mode: "constant" (of `fill`), "edge", "reflect" or "symmetric". Source: paddle.vision.transforms.pad.

    Example:
        >>> import numpy as np, vitrify as paddle
        >>> paddle.vision.transforms.pad(np.ones([1, 1], "uint8"), (1, 0)).tolist()
        [[0, 1, 0]]
    """
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ArgumentError(f"pad: padding_mode must be constant, edge, reflect or symmetric, got {padding_mode!r}")
    left, top, right, bottom = sides("pad", padding)
    if is_pil(img) and padding_mode == "constant":
        # Pillow knows what a colour is in each mode, also with a palette; a number would be the first band alone
        colour = _colour(img, fill) if isinstance(fill, numbers.Number) else fill
        return pillow("ImageOps").expand(img, (left, top, right, bottom), colour)

    def change(array: Array) -> Array:
        width = [(top, bottom), (left, right)] + [(0, 0)] * (array.ndim - 2)
        if padding_mode != "constant":
            # NumPy's stubs ask for each mode by its literal, and this is one of three.
            padded: Array = np.pad(array, width, mode=padding_mode)  # type: ignore[call-overload]
            return padded
        h, w = array.shape[:2]
        out = np.empty((h + top + bottom, w + left + right, *array.shape[2:]), array.dtype)
        out[...] = fill
        out[top : top + h, left : left + w] = array
        return out

    return on_array(change, img)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """The part of the picture from row `top` and column `left`. Source: paddle.vision.transforms.crop.

    Example:
        >>> import vitrify as paddle
        >>> import numpy as np
        >>> image = np.array([[1, 2], [3, 4]], "uint8")
        >>> paddle.vision.transforms.crop(image, 0, 1, 2, 1).tolist()
        [[2], [4]]
    """
    if isinstance(img, Tensor):
        return img[..., top : top + height, left : left + width]
    if isinstance(img, np.ndarray):
        return img[top : top + height, left : left + width]
    check(img)
    return img.crop((left, top, left + width, top + height))


def center_crop(img: Any, output_size: Any) -> Any:
    """The middle of the picture. Source: paddle.vision.transforms.center_crop.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.center_crop(paddle.zeros([3, 4, 6], "uint8"), 2).shape
        paddle.Size([3, 2, 2])
    """
    height, width = [output_size] * 2 if isinstance(output_size, int) else [int(v) for v in output_size]
    h, w = size_of(img)
    return crop(img, round((h - height) / 2.0), round((w - width) / 2.0), height, width)


def hflip(img: Any) -> Any:
    """The picture with left and right exchanged. Source: paddle.vision.transforms.hflip.

    Example:
        >>> import vitrify as paddle
        >>> import numpy as np
        >>> image = np.array([[1, 2], [3, 4]], "uint8")
        >>> paddle.vision.transforms.hflip(image).tolist()
        [[2, 1], [4, 3]]
    """
    if isinstance(img, Tensor):
        return img.flip([-1])
    if is_pil(img):
        return img.transpose(pillow().Transpose.FLIP_LEFT_RIGHT)
    return on_array(lambda array: array[:, ::-1].copy(), img)


def vflip(img: Any) -> Any:
    """The picture upside down. Source: paddle.vision.transforms.vflip.

    Example:
        >>> import vitrify as paddle
        >>> import numpy as np
        >>> image = np.array([[1, 2], [3, 4]], "uint8")
        >>> paddle.vision.transforms.vflip(image).tolist()
        [[3, 4], [1, 2]]
    """
    if isinstance(img, Tensor):
        return img.flip([-2])
    if is_pil(img):
        return img.transpose(pillow().Transpose.FLIP_TOP_BOTTOM)
    return on_array(lambda array: array[::-1].copy(), img)


def rotate(
    img: Any, angle: float, interpolation: str = "nearest", expand: bool = False, center: Any = None, fill: Any = 0
) -> Any:
    """The picture turned counter-clockwise by degrees; `expand` makes room for all of it.

    Source: paddle.vision.transforms.rotate.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.rotate(paddle.zeros([3, 4, 6], "uint8"), 90, expand=True).shape
        paddle.Size([3, 6, 4])
    """
    method = _filter("rotate", interpolation)
    if has_grid(img, interpolation):
        matrix = _inverse_affine(_from_middle(img, center), -angle, (0.0, 0.0), 1.0, (0.0, 0.0))
        return affine_map(img, matrix, interpolation, fill, expand)
    return on_pil(
        lambda image: image.rotate(angle, method, expand=expand, center=center, fillcolor=_colour(image, fill)), img
    )


def _colour(image: Any, fill: Any) -> Any:
    """`fill` for each channel of the image."""
    bands = len(image.getbands())
    if isinstance(fill, numbers.Number):
        return fill if bands == 1 else (fill,) * bands
    return tuple(fill) if bands > 1 else fill[0]


def _from_middle(img: Any, center: Any) -> tuple[float, float]:
    """A centre that the picture is turned about, seen from its middle."""
    h, w = size_of(img)
    return (0.0, 0.0) if center is None else (center[0] - w * 0.5, center[1] - h * 0.5)


def _inverse_affine(
    centre: tuple[float, float], angle: float, translate: Sequence[float], scale: float, shear: Sequence[float]
) -> list[float]:
    """The map from places of the result to places of the picture: turned, sheared and scaled about the centre."""
    turn, sx, sy = (math.radians(v) for v in (angle, *shear))
    a = math.cos(turn - sy) / math.cos(sy)
    b = -math.cos(turn - sy) * math.tan(sx) / math.cos(sy) - math.sin(turn)
    c = math.sin(turn - sy) / math.cos(sy)
    d = -math.sin(turn - sy) * math.tan(sx) / math.cos(sy) + math.cos(turn)
    rows = [[d / scale, -b / scale], [-c / scale, a / scale]]
    shift = [-centre[0] - translate[0], -centre[1] - translate[1]]
    return [
        value for row, middle in zip(rows, centre) for value in (*row, row[0] * shift[0] + row[1] * shift[1] + middle)
    ]


def affine(
    img: Any, angle: float, translate: Sequence[float], scale: float, shear: Any, interpolation: str = "nearest",
    fill: Any = 0, center: Any = None,
) -> Any:  # fmt: skip
    """The picture turned clockwise by degrees, moved, scaled and sheared about its middle.

    Source: paddle.vision.transforms.affine.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.affine(paddle.zeros([3, 4, 6], "uint8"), 30, (0, 0), 1.0, (0, 0)).shape
        paddle.Size([3, 4, 6])
    """
    if scale <= 0:
        raise ArgumentError(f"affine: scale must be positive, got {scale}")
    method = _filter("affine", interpolation)
    h, w = size_of(img)
    slant = (float(shear), 0.0) if isinstance(shear, (int, float)) else (*shear, 0.0)[:2]
    if has_grid(img, interpolation):
        matrix = _inverse_affine(_from_middle(img, center), angle, translate, scale, slant)
        return affine_map(img, matrix, interpolation, fill)
    middle = (w * 0.5, h * 0.5) if center is None else tuple(center)
    matrix = _inverse_affine(middle, angle, translate, scale, slant)
    kind = pillow().Transform.AFFINE
    return on_pil(
        lambda image: image.transform((w, h), kind, matrix, method, fillcolor=_colour(image, fill)), img
    )  # fmt: skip


def _solved(rows: Array, values: Array) -> Array:
    """The least squares solution, to the last bits: versions of LAPACK differ there, and then in pixels on an edge."""
    found = np.linalg.lstsq(rows, values, rcond=None)[0]
    left = values.astype(np.longdouble) - rows.astype(np.longdouble) @ found.astype(np.longdouble)
    better: Array = found + np.linalg.lstsq(rows, left.astype(float), rcond=None)[0]
    return better


def perspective(img: Any, startpoints: Any, endpoints: Any, interpolation: str = "nearest", fill: Any = 0) -> Any:
    """The picture seen so that the four corners startpoints come to endpoints, each as (x, y).

    Source: paddle.vision.transforms.perspective.

    Example:
        >>> import vitrify as paddle
        >>> import numpy as np
        >>> image = np.zeros((4, 6, 3), "uint8")
        >>> start, end = [(0, 0), (5, 0), (5, 3), (0, 3)], [(1, 0), (5, 0), (5, 3), (0, 3)]
        >>> paddle.vision.transforms.perspective(image, start, end).shape
        (4, 6, 3)
    """
    method = _filter("perspective", interpolation)
    rows, values = [], []
    for (x, y), (u, v) in zip(endpoints, startpoints):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    coefficients = _solved(np.asarray(rows, float), np.asarray(values, float)).tolist()
    if has_grid(img, interpolation):
        return perspective_map(img, coefficients, interpolation, fill)
    h, w = size_of(img)
    kind = pillow().Transform.PERSPECTIVE
    return on_pil(
        lambda image: image.transform((w, h), kind, coefficients, method, fillcolor=_colour(image, fill)), img
    )  # fmt: skip


# --- colours ---------------------------------------------------------------------------------------------------------


def _blended(array: Array, other: Any, factor: float) -> Array:
    """factor * array + (1 - factor) * other, within the range of the dtype."""
    mixed = array.astype(np.float32) * factor + np.asarray(other, np.float32) * (1 - factor)
    top = 255 if array.dtype == np.uint8 else 1
    return np.clip(mixed, 0, top).astype(array.dtype)


def _grey(array: Array, img: Any) -> Array:
    """[h, w, 1] of how bright each place of `img` is, as ITU-R 601 weighs the colours, with PaddlePaddle's digits."""
    if array.ndim == 2 or array.shape[-1] == 1:
        return array.reshape(*array.shape[:2], 1)
    weights = [0.2989 if isinstance(img, Tensor) else 0.299, 0.587, 0.114]
    bright = array[..., :3].astype(np.float32) @ np.asarray(weights, np.float32)
    return bright[..., None].astype(np.float32)


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """The picture `brightness_factor` times as bright: 0 is black, 1 the same.

    Source: paddle.vision.transforms.adjust_brightness.

    Example:
        >>> import numpy as np, vitrify as paddle
        >>> paddle.vision.transforms.adjust_brightness(np.full([1, 1, 3], 100, "uint8"), 1.5).tolist()
        [[[150, 150, 150]]]
    """
    if is_pil(img):
        return pillow("ImageEnhance").Brightness(img).enhance(brightness_factor)
    return on_array(lambda array: _blended(array, 0, brightness_factor), img)


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """The picture with its distance from its mean grey multiplied: 0 is grey, 1 the same.

    Source: paddle.vision.transforms.adjust_contrast.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.adjust_contrast(paddle.zeros([3, 4, 6], "uint8"), 1.5).shape
        paddle.Size([3, 4, 6])
    """
    if is_pil(img):
        return pillow("ImageEnhance").Contrast(img).enhance(contrast_factor)
    return on_array(lambda array: _blended(array, _grey(array, img).mean(), contrast_factor), img)


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """The picture with its distance from grey multiplied at every place: 0 is without colours, 1 the same.

    Source: paddle.vision.transforms.functional.adjust_saturation.
    """
    if is_pil(img):
        return pillow("ImageEnhance").Color(img).enhance(saturation_factor)
    return on_array(lambda array: _blended(array, _grey(array, img), saturation_factor), img)


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """The picture with its colours moved round the circle by hue_factor in [-0.5, 0.5] of it.

    Raises ArgumentError outside. Source: paddle.vision.transforms.adjust_hue.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.adjust_hue(paddle.zeros([3, 4, 6], "uint8"), 0.1).shape
        paddle.Size([3, 4, 6])
    """
    if not -0.5 <= hue_factor <= 0.5:
        raise ArgumentError(f"adjust_hue: hue_factor must lie in [-0.5, 0.5], got {hue_factor}")

    if isinstance(img, Tensor) and img.dtype.is_floating:
        return on_array(lambda array: turned(array, hue_factor), img)

    def change(image: Any) -> Any:
        if image.mode in ("L", "1", "I", "F"):
            return image
        hue, saturation, value = image.convert("HSV").split()
        moved = (np.asarray(hue).astype(int) + int(hue_factor * 255)) % 256
        parts = (pillow().fromarray(moved.astype(np.uint8)), saturation, value)
        return pillow().merge("HSV", parts).convert(image.mode)

    return on_bytes(change, img)


def turned(rgb: Array, by: float) -> Array:
    """Colours [h, w, 3] of numbers in [0, 1], moved round the circle of hues; grey stays. Source: Smith 1978."""
    if rgb.shape[-1] != 3:
        return rgb
    parts = rgb.astype(np.float64)
    high, low = parts.max(axis=-1), parts.min(axis=-1)
    span = np.where(high == low, 1.0, high - low)
    r, g, b = np.moveaxis(parts, -1, 0)
    hue = np.where(high == r, (g - b) / span, np.where(high == g, 2 + (b - r) / span, 4 + (r - g) / span))
    place = np.mod(hue / 6 + by, 1.0)[..., None] * 6
    distance = np.abs(np.mod(place + np.array([0.0, 4.0, 2.0]), 6.0) - 3) - 1
    found = high[..., None] - (high - low)[..., None] * (1 - np.clip(distance, 0.0, 1.0))
    out: Array = found.astype(rgb.dtype)
    return out


def on_bytes(change: Any, img: Any) -> Any:
    """`change` of PIL images applied to a picture whose floating numbers are brought to bytes for it."""
    if is_pil(img):
        return change(img)

    def of_array(array: Array) -> Array:
        if array.dtype == np.uint8:
            return np.asarray(change(pillow().fromarray(array)))
        found = np.asarray(change(pillow().fromarray((array * 255).astype(np.uint8))))
        return (found / 255).astype(array.dtype)

    return on_array(of_array, img)


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """The picture without colours, in 1 or 3 channels. Source: paddle.vision.transforms.to_grayscale.

    Raises ArgumentError for other numbers of channels.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.to_grayscale(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([1, 4, 6])
    """
    if num_output_channels not in (1, 3):
        raise ArgumentError(f"to_grayscale: num_output_channels must be 1 or 3, got {num_output_channels}")
    if is_pil(img):
        grey = img.convert("L")
        return grey if num_output_channels == 1 else pillow().merge("RGB", (grey,) * 3)

    def change(array: Array) -> Array:
        bright = _grey(array, img)
        exact = np.rint(bright) if array.dtype == np.uint8 else bright
        return np.repeat(exact.astype(array.dtype), num_output_channels, axis=-1)

    return on_array(change, img)


__all__ = [
    "adjust_brightness", "adjust_contrast", "adjust_hue", "affine", "center_crop", "crop", "erase", "hflip",
    "normalize", "pad", "perspective", "resize", "rotate", "to_grayscale", "to_tensor", "vflip",
]  # fmt: skip
