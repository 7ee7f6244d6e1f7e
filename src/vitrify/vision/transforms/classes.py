"""Changes with settings, some of them drawn by chance. Source: paddle.vision.transforms.

What is drawn, in which order and by whom (Python's `random` or NumPy's) is PaddlePaddle's: a seed gives its pictures.
"""

from __future__ import annotations

import math
import numbers
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ...eager.tensor import Tensor
from ...ops.random import randn
from . import functional as F
from .base import BaseTransform, Compose
from .colours import (  # Paddle's path of all of them leads here
    BrightnessTransform,
    ColorJitter,
    ContrastTransform,
    Grayscale,
    HueTransform,
    SaturationTransform,
    _check_input,  # noqa: F401 (model code asks for it here)
)
from .pictures import is_pil, size_of


def _pair(value: Any) -> tuple[int, int]:
    return (int(value), int(value)) if isinstance(value, numbers.Number) else (int(value[0]), int(value[1]))  # type: ignore[call-overload]


class ToTensor(BaseTransform):
    """`functional.to_tensor`. Source: paddle.vision.transforms.ToTensor.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.ToTensor()(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 4, 6])
    """

    def __init__(self, data_format: str = "CHW", keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, img: Any) -> Any:
        return F.to_tensor(img, self.data_format)


class Resize(BaseTransform):
    """`functional.resize`. Source: paddle.vision.transforms.Resize.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.Resize((8, 8))(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 8, 8])
    """

    def __init__(self, size: Any, interpolation: str = "bilinear", keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.size = size
        self.interpolation = interpolation

    def _apply_image(self, img: Any) -> Any:
        return F.resize(img, self.size, self.interpolation)


def _share_and_ratio(scale: Sequence[float], bounds: Sequence[float]) -> tuple[float, float]:
    """A share of the area and a ratio of the sides, whose logarithm lies within `bounds`."""
    share = np.random.uniform(scale[0], scale[1])
    return share, math.exp(np.random.uniform(bounds[0], bounds[1]))


class RandomResizedCrop(BaseTransform):
    """A part of random size and proportions, resized. Source: paddle.vision.transforms.RandomResizedCrop.

    scale: the share of the area; ratio: of width to height.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.RandomResizedCrop(8)(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 8, 8])
    """

    def __init__(
        self,
        size: Any,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3 / 4, 4 / 3),
        interpolation: str = "bilinear",
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.size = _pair(size)
        self.scale = scale
        self.ratio = ratio
        self.interpolation = interpolation

    def _get_params(self, inputs: Any) -> Any:
        h, w = size_of(inputs[0])
        bounds = [math.log(r) for r in self.ratio]
        for _ in range(10):
            area, ratio = _share_and_ratio(self.scale, bounds)
            area *= h * w
            width, height = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < width <= w and 0 < height <= h:
                return random.randint(0, h - height), random.randint(0, w - width), height, width
        kept = min(max(w / h, min(self.ratio)), max(self.ratio))
        width, height = min(w, round(h * kept)), min(h, round(w / kept))
        return (h - height) // 2, (w - width) // 2, height, width

    def _apply_image(self, img: Any) -> Any:
        return F.resize(F.crop(img, *self.params), self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """`functional.center_crop`. Source: paddle.vision.transforms.CenterCrop.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.CenterCrop(2)(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 2, 2])
    """

    def __init__(self, size: Any, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.size = _pair(size)

    def _apply_image(self, img: Any) -> Any:
        return F.center_crop(img, self.size)


def _check_share(name: str, what: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ArgumentError(f"{name}: {what} must lie in [0, 1], got {value}")


class _RandomFlip(BaseTransform):
    def __init__(self, prob: float = 0.5, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        _check_share(type(self).__name__, "prob", prob)
        self.prob = prob

    def _get_params(self, inputs: Any) -> Any:
        return random.random() < self.prob


class RandomHorizontalFlip(_RandomFlip):
    """`functional.hflip` with probability `prob`. Source: paddle.vision.transforms.RandomHorizontalFlip.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.RandomHorizontalFlip(0.5)(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 4, 6])
    """

    def _apply_image(self, img: Any) -> Any:
        return F.hflip(img) if self.params else img


class RandomVerticalFlip(_RandomFlip):
    """`functional.vflip` with probability `prob`. Source: paddle.vision.transforms.RandomVerticalFlip.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.RandomVerticalFlip(0.5)(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 4, 6])
    """

    def _apply_image(self, img: Any) -> Any:
        return F.vflip(img) if self.params else img


class Normalize(BaseTransform):
    """`functional.normalize`; one number is for three channels. Source: paddle.vision.transforms.Normalize.

    Example:
        >>> import vitrify as paddle
        >>> import numpy as np
        >>> normalize = paddle.vision.transforms.Normalize(mean=[1.0], std=[2.0])
        >>> normalize(np.full((1, 2, 2), 3.0, "float32")).tolist()
        [[[1.0, 1.0], [1.0, 1.0]]]
    """

    def __init__(
        self,
        mean: Any = 0.0,
        std: Any = 1.0,
        data_format: str = "CHW",
        to_rgb: bool = False,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.mean = [mean] * 3 if isinstance(mean, numbers.Number) else mean
        self.std = [std] * 3 if isinstance(std, numbers.Number) else std
        self.data_format = data_format
        self.to_rgb = to_rgb

    def _apply_image(self, img: Any) -> Any:
        return F.normalize(img, self.mean, self.std, self.data_format, self.to_rgb)


class Transpose(BaseTransform):
    """An array with its dimensions in another order. Source: paddle.vision.transforms.Transpose.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.Transpose()(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([6, 3, 4])
    """

    def __init__(self, order: Sequence[int] = (2, 0, 1), keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.order = order

    def _apply_image(self, img: Any) -> Any:
        if isinstance(img, Tensor):
            return img.transpose(list(self.order))
        array = np.asarray(img)
        return (array[..., None] if array.ndim == 2 else array).transpose(self.order)


class RandomCrop(BaseTransform):
    """A random part, after padding if asked for. Source: paddle.vision.transforms.RandomCrop.

    pad_if_needed: pad smaller pictures up to the size; otherwise they raise ArgumentError.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.RandomCrop(3)(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 3, 3])
    """

    def __init__(
        self, size: Any, padding: Any = None, pad_if_needed: bool = False, fill: Any = 0,
        padding_mode: str = "constant", keys: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(keys)
        self.size = _pair(size)
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    def _padded(self, img: Any) -> Any:
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        h, w = size_of(img)
        if self.pad_if_needed:
            missing = (max(self.size[1] - w, 0), max(self.size[0] - h, 0))
            img = F.pad(img, missing, self.fill, self.padding_mode) if any(missing) else img
        return img

    def _get_params(self, inputs: Any) -> Any:
        h, w = size_of(self._padded(inputs[0]))
        height, width = self.size
        if height > h or width > w:
            raise ArgumentError(f"RandomCrop: size {self.size} is larger than the picture, {(h, w)}")
        if (height, width) == (h, w):
            return 0, 0, h, w
        return random.randint(0, h - height), random.randint(0, w - width), height, width

    def _apply_image(self, img: Any) -> Any:
        return F.crop(self._padded(img), *self.params)


class Pad(BaseTransform):
    """`functional.pad`. Source: paddle.vision.transforms.Pad.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.Pad(1)(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 6, 8])
    """

    def __init__(
        self, padding: Any, fill: Any = 0, padding_mode: str = "constant", keys: Sequence[str] | None = None
    ) -> None:
        super().__init__(keys)
        F.sides("Pad", padding)  # raises for what is no padding
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def _apply_image(self, img: Any) -> Any:
        return F.pad(img, self.padding, self.fill, self.padding_mode)


def _degrees(name: str, value: Any) -> tuple[float, float]:
    if isinstance(value, numbers.Number) and float(value) < 0:  # type: ignore[arg-type]
        raise ArgumentError(f"{name}: a single number of degrees must not be negative, got {value}")
    return (-value, value) if isinstance(value, numbers.Number) else tuple(value)  # type: ignore[operator]


class RandomRotation(BaseTransform):
    """`functional.rotate` by random degrees. Source: paddle.vision.transforms.RandomRotation.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.RandomRotation(30)(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 4, 6])
    """

    def __init__(
        self, degrees: Any, interpolation: str = "nearest", expand: bool = False, center: Any = None, fill: Any = 0,
        keys: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(keys)
        self.degrees = _degrees("RandomRotation", degrees)
        self.interpolation = interpolation
        self.expand = expand
        self.center = center
        self.fill = fill

    def _get_params(self, inputs: Any) -> Any:
        return random.uniform(*self.degrees)

    def _apply_image(self, img: Any) -> Any:
        return F.rotate(img, self.params, self.interpolation, self.expand, self.center, self.fill)


class RandomAffine(BaseTransform):
    """`functional.affine` by random amounts. Source: paddle.vision.transforms.RandomAffine.

    translate: how far at most, in parts of width and height. scale: from, to. shear: degrees along x, or along both.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.RandomAffine(30, translate=(0.1, 0.1))(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 4, 6])
    """

    def __init__(
        self, degrees: Any, translate: Any = None, scale: Any = None, shear: Any = None,
        interpolation: str = "nearest", fill: Any = 0, center: Any = None, keys: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(keys)
        self.degrees = _degrees("RandomAffine", degrees)
        if translate is not None and not all(0 <= t <= 1 for t in translate):
            raise ArgumentError(f"RandomAffine: translate is in parts of the size, from 0 to 1, got {translate}")
        if scale is not None and not all(s > 0 for s in scale):
            raise ArgumentError(f"RandomAffine: scale must be positive, got {scale}")
        self.translate = translate
        self.scale = scale
        self.shear = None if shear is None else _degrees("RandomAffine", shear)
        self.interpolation = interpolation
        self.fill = fill
        self.center = center

    def _get_params(self, inputs: Any) -> Any:
        h, w = size_of(inputs[0])
        reach = () if self.translate is None else (self.translate[0] * w, self.translate[1] * h)
        slant = () if self.shear is None else self.shear
        return {
            "angle": random.uniform(*self.degrees),
            "translate": [int(random.uniform(-r, r)) for r in reach] or [0, 0],
            "scale": 1.0 if self.scale is None else random.uniform(*self.scale),
            "shear": [random.uniform(*slant[i : i + 2]) for i in range(0, len(slant), 2)] or [0.0],
        }

    def _apply_image(self, img: Any) -> Any:
        return F.affine(img, **self.params, interpolation=self.interpolation, fill=self.fill, center=self.center)


class RandomPerspective(BaseTransform):
    """`functional.perspective`, corners moved inwards by chance. Source: paddle.vision.transforms.RandomPerspective.

    prob: how often; distortion_scale: how far, in parts of half the size.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.RandomPerspective()(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 4, 6])
    """

    def __init__(
        self, prob: float = 0.5, distortion_scale: float = 0.5, interpolation: str = "nearest", fill: Any = 0,
        keys: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(keys)
        _check_share("RandomPerspective", "prob", prob)
        _check_share("RandomPerspective", "distortion_scale", distortion_scale)
        self.prob = prob
        self.distortion_scale = distortion_scale
        self.interpolation = interpolation
        self.fill = fill

    def _get_params(self, inputs: Any) -> Any:
        if random.random() >= self.prob:
            return None
        h, w = size_of(inputs[0])
        start = [(0, 0), (w - 1, 0), (w - 1, h - 1), (0, h - 1)]
        end = [(self._moved(x, w), self._moved(y, h)) for x, y in start]
        return start, end

    def _moved(self, place: int, size: int) -> int:
        """Where a first or a last place goes: inwards."""
        far = int(self.distortion_scale * (size // 2)) + 1
        return int(random.uniform(0, far) if place == 0 else random.uniform(size - far, size))

    def _apply_image(self, img: Any) -> Any:
        if self.params is None:
            return img
        start, end = self.params
        return F.perspective(img, start, end, self.interpolation, self.fill)


class RandomErasing(BaseTransform):
    """A random rectangle overwritten, with probability `prob`. Source: paddle.vision.transforms.RandomErasing.

    scale: its share of the area; ratio: of its height to its width. value: a number, one for each channel, or "random".

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.RandomErasing(prob=0.5)(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 4, 6])
    """

    def __init__(
        self, prob: float = 0.5, scale: Sequence[float] = (0.02, 0.33), ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0, inplace: bool = False, keys: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(keys)
        if isinstance(value, str) and value != "random":
            raise ArgumentError(f'RandomErasing: value must be numbers or "random", got {value!r}')
        _check_share("RandomErasing", "prob", prob)
        if not 0 <= scale[0] <= scale[1] <= 1:
            raise ArgumentError(f"RandomErasing: scale must be (least, most) within [0, 1], got {scale}")
        self.prob = prob
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace

    def _get_params(self, inputs: Any) -> Any:
        if random.random() >= self.prob:
            return None
        h, w = size_of(inputs[0])
        bounds = [math.log(r) for r in self.ratio]
        for _ in range(10):
            area, ratio = _share_and_ratio(self.scale, bounds)
            area *= h * w
            height, width = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if height < h and width < w:
                fill = self._fill(inputs[0], height, width)
                return np.random.randint(0, h - height + 1), np.random.randint(0, w - width + 1), height, width, fill
        return None

    def _fill(self, img: Any, height: int, width: int) -> Any:
        first = isinstance(img, Tensor)
        if self.value == "random":
            if first:  # NumPy draws nothing here
                return randn([img.shape[-3], height, width]).numpy()
            channels = np.asarray(img).reshape(*size_of(img), -1).shape[-1]
            return np.random.normal(size=[height, width, channels]).astype("float32")
        value = np.asarray(self.value, "float32" if first else None)
        return value.reshape(-1, 1, 1) if first and value.ndim else value

    def _apply_image(self, img: Any) -> Any:
        if self.params is None:
            return img
        i, j, h, w, fill = self.params
        if is_pil(img):
            fill = np.clip(fill, 0, 255).astype("uint8")
        return F.erase(img, i, j, h, w, _like(fill, img) if isinstance(img, Tensor) else fill, self.inplace)


def _like(values: Any, img: Any) -> Any:
    return Tensor(values).astype(img.dtype) if np.ndim(values) else float(values)


__all__ = [
    "BaseTransform", "BrightnessTransform", "CenterCrop", "ColorJitter", "Compose", "ContrastTransform", "Grayscale",
    "HueTransform", "Normalize", "Pad", "RandomAffine", "RandomCrop", "RandomErasing", "RandomHorizontalFlip",
    "RandomPerspective", "RandomResizedCrop", "RandomRotation", "RandomVerticalFlip", "Resize", "SaturationTransform",
    "ToTensor", "Transpose",
]  # fmt: skip
