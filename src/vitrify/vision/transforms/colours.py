"""Changes of colours, drawn by chance or not. Source: paddle.vision.transforms."""

from __future__ import annotations

import math
import numbers
import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from ...core.errors import ArgumentError, DTypeError
from . import functional as F
from .base import BaseTransform, Compose


def _check_input(
    value: Any, name: str, center: float = 1, bound: tuple[float, float] = (0, math.inf),
    clip_first_on_zero: bool = True,
) -> Any:  # fmt: skip
    """The range that one number, around `center`, or two of them mean; None where it holds `center` alone.

    Raises DTypeError for what is no number, ArgumentError for a negative one and for a range that leaves `bound`.
    """
    if isinstance(value, numbers.Number):
        width = float(value)  # type: ignore[arg-type]  # a Number promises no __float__
        if width < 0:
            raise ArgumentError(f"{name}: a single number must not be negative, got {value}")
        value = [center - width, center + width]
        if clip_first_on_zero:
            value[0] = max(value[0], 0.0)
    elif not isinstance(value, (list, tuple)) or len(value) != 2:
        raise DTypeError(f"{name}: expected a number or two of them, got {value!r}")
    if not bound[0] <= value[0] <= value[1] <= bound[1]:
        raise ArgumentError(f"{name}: expected a range within {bound}, got {list(value)}")
    return None if value[0] == value[1] == center else value


class _ColourTransform(BaseTransform, ABC):
    _settings: tuple[Any, ...] = ()  # of _check_input

    def __init__(self, value: Any, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.value = _check_input(value, type(self).__name__, *self._settings)

    def _get_params(self, inputs: Any) -> Any:
        return None if self.value is None else random.uniform(*self.value)

    def _apply_image(self, img: Any) -> Any:
        return img if self.value is None else self._changed(img)

    @abstractmethod
    def _changed(self, img: Any) -> Any:
        """The image with its colours moved by a factor that is drawn."""


class BrightnessTransform(_ColourTransform):
    """`functional.adjust_brightness` by up to `value`. Source: paddle.vision.transforms.BrightnessTransform.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.BrightnessTransform(0.4)(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 4, 6])
    """

    def _changed(self, img: Any) -> Any:
        return F.adjust_brightness(img, self.params)


class ContrastTransform(_ColourTransform):
    """`functional.adjust_contrast` by up to `value`. Source: paddle.vision.transforms.ContrastTransform.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.ContrastTransform(0.4)(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 4, 6])
    """

    def _changed(self, img: Any) -> Any:
        return F.adjust_contrast(img, self.params)


class SaturationTransform(_ColourTransform):
    """`functional.adjust_saturation` by up to `value`. Source: paddle.vision.transforms.SaturationTransform.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.SaturationTransform(0.4)(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 4, 6])
    """

    def _changed(self, img: Any) -> Any:
        return F.adjust_saturation(img, self.params)


class HueTransform(_ColourTransform):
    """`functional.adjust_hue` by up to `value` <= 0.5. Source: paddle.vision.transforms.HueTransform.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.HueTransform(0.1)(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 4, 6])
    """

    _settings = (0, (-0.5, 0.5), False)

    def _changed(self, img: Any) -> Any:
        return F.adjust_hue(img, self.params)


class ColorJitter(BaseTransform):
    """The four changes of colours in random order. Source: paddle.vision.transforms.ColorJitter.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.ColorJitter(0.4, 0.4, 0.4, 0.1)(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([3, 4, 6])
    """

    def __init__(
        self, brightness: Any = 0, contrast: Any = 0, saturation: Any = 0, hue: Any = 0,
        keys: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(keys)
        self.brightness, self.contrast, self.saturation, self.hue = brightness, contrast, saturation, hue

    def _get_params(self, inputs: Any) -> Any:
        kinds = (
            (BrightnessTransform, self.brightness), (ContrastTransform, self.contrast),
            (SaturationTransform, self.saturation), (HueTransform, self.hue),
        )  # fmt: skip
        changes = [kind(value) for kind, value in kinds if value]
        random.shuffle(changes)
        return Compose(changes)

    def _apply_image(self, img: Any) -> Any:
        return self.params(img)


class Grayscale(BaseTransform):
    """`functional.to_grayscale`. Source: paddle.vision.transforms.Grayscale.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.transforms.Grayscale()(paddle.zeros([3, 4, 6], "uint8")).shape
        paddle.Size([1, 4, 6])
    """

    def __init__(self, num_output_channels: int = 1, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.num_output_channels = num_output_channels

    def _apply_image(self, img: Any) -> Any:
        return F.to_grayscale(img, self.num_output_channels)


__all__ = [
    "BrightnessTransform", "ColorJitter", "ContrastTransform", "Grayscale", "HueTransform", "SaturationTransform",
]  # fmt: skip
