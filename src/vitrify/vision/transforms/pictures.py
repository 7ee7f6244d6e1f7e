"""Pictures in their three forms, and a change of one form applied to the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import DTypeError
from ...core.lazy import is_available, require
from ...eager.tensor import Tensor, to_tensor

Array = np.ndarray[Any, Any]


def pillow(module: str = "Image") -> Any:
    """A module of Pillow; raises MissingPackageError without it."""
    return require(f"PIL.{module}", extra="vision", purpose="changing images")


def is_pil(img: Any) -> bool:
    """Whether `img` is an image of Pillow."""
    return is_available("PIL") and isinstance(img, pillow().Image)


def check(img: Any) -> None:
    """Raise DTypeError unless `img` is a PIL image, an array or a tensor."""
    if not (isinstance(img, (np.ndarray, Tensor)) or is_pil(img)):
        raise DTypeError(f"img must be a PIL image, an array or a tensor, got {type(img).__name__}")


def size_of(img: Any) -> tuple[int, int]:
    """Height and width."""
    check(img)
    if isinstance(img, Tensor):
        return int(img.shape[-2]), int(img.shape[-1])
    if isinstance(img, np.ndarray):
        return img.shape[0], img.shape[1]
    return img.size[1], img.size[0]


def on_array(change: Callable[[Array], Array], img: Any) -> Any:
    """`change` of arrays [h, w, c] (or [h, w]) applied to a picture of any form, whose form it keeps."""
    check(img)
    if isinstance(img, np.ndarray):
        return change(img)
    if isinstance(img, Tensor):
        found = change(np.moveaxis(img.numpy(), -3, -1) if img.ndim > 2 else img.numpy())
        return to_tensor(np.ascontiguousarray(np.moveaxis(found, -1, -3) if img.ndim > 2 else found))
    out = pillow().fromarray(change(np.asarray(img)))
    if img.mode == "P":  # its numbers are places of a palette
        out.putpalette(img.getpalette())
    return out


def on_pil(change: Callable[[Any], Any], img: Any) -> Any:
    """`change` of PIL images applied to a picture of any form: bytes as they are, other numbers channel by channel."""
    return change(img) if is_pil(img) else on_array(lambda array: _as_pil(change, array), img)


def _as_pil(change: Callable[[Any], Any], array: Array) -> Array:
    planes = array[..., None] if array.ndim == 2 else array
    if array.dtype == np.uint8 and planes.shape[-1] in (1, 3, 4):
        found = np.asarray(change(pillow().fromarray(planes[..., 0] if planes.shape[-1] == 1 else planes)))
    else:
        kind = np.uint8 if array.dtype == np.uint8 else np.float32
        layers = [pillow().fromarray(np.ascontiguousarray(p.astype(kind))) for p in np.moveaxis(planes, -1, 0)]
        found = np.stack([np.asarray(change(layer)) for layer in layers], axis=-1)
    found = found[..., None] if found.ndim == 2 else found
    return (found[..., 0] if array.ndim == 2 else found).astype(array.dtype)
