"""What all changes of images with settings share, and several of them one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class Compose:
    """Several changes one after the other. Source: paddle.vision.transforms.Compose.

    Example:
        >>> import numpy as np
        >>> from vitrify.vision import transforms as T
        >>> T.Compose([T.Resize(8), T.ToTensor()])(np.zeros([16, 16, 3], "uint8")).shape
        paddle.Size([3, 8, 8])
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, data: Any) -> Any:
        for transform in self.transforms:
            data = transform(data)
        return data

    def __repr__(self) -> str:
        return "\n".join([f"{type(self).__name__}(", *[f"    {t}" for t in self.transforms], ")"])


class BaseTransform:
    """A change of a picture and of what belongs to it. Source: paddle.vision.transforms.BaseTransform.

    keys: what each input is; "image" goes to `_apply_image`, "coords", "boxes" and "mask" to the methods of those
    names. Inputs beyond the keys, and those without a method, pass unchanged. `_get_params` draws what all share.

    Example:
        >>> import vitrify as paddle
        >>> class Invert(paddle.vision.transforms.BaseTransform):
        ...     def _apply_image(self, image):
        ...         return 255 - image
        >>> Invert(keys=("image", "label"))((paddle.to_tensor([0, 255]).numpy(), 7))
        (array([255,   0]), 7)
    """

    def __init__(self, keys: Sequence[str] | None = None) -> None:
        self.keys = ("image",) if keys is None else tuple(keys)
        self.params: Any = None

    def _get_params(self, inputs: Any) -> Any:
        return None

    def _get_apply(self, key: str) -> Callable[[Any], Any] | None:
        return getattr(self, f"_apply_{key}", None)

    def __call__(self, inputs: Any) -> Any:
        given = inputs if isinstance(inputs, tuple) else (inputs,)
        self.params = self._get_params(given)
        outputs = []
        for key, value in zip(self.keys, given):
            change = self._get_apply(key)
            outputs.append(value if change is None else change(value))
        outputs += given[len(self.keys) :]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)


__all__ = ["BaseTransform", "Compose"]
