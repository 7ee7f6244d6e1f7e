"""How images are read. Source: paddle.vision.image."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import ArgumentError
from ..core.lazy import require
from ..core.setting import Setting

_BACKENDS = ("pil", "cv2", "tensor")
_backend = Setting("image backend", "pil")


def _known(backend: str) -> str:
    if backend not in _BACKENDS:
        raise ArgumentError(f"image backend must be one of {', '.join(_BACKENDS)}, got {backend!r}")
    return backend


def set_image_backend(backend: str) -> None:
    """None, after data sets give images as "pil" (Pillow's) or "cv2" (arrays, blue first) from now on.

    Source: paddle.vision.set_image_backend.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.set_image_backend("cv2")
        >>> paddle.vision.get_image_backend()
        'cv2'
        >>> paddle.vision.set_image_backend("pil")
    """
    _backend.set(_known(backend))


def get_image_backend() -> str:
    """What data sets give images as. Source: paddle.vision.get_image_backend.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vision.get_image_backend()
        'pil'
    """
    return _backend.get()


def in_backend(image: Any, backend: str | None = None) -> Any:
    """A PIL image as the backend wants it: itself, or for "cv2" an array with blue first."""
    if (backend or get_image_backend()) == "pil":
        return image
    array = np.asarray(image)
    return array[..., ::-1] if array.ndim == 3 else array


def image_load(path: str, backend: str | None = None) -> Any:
    """The image in a file, by Pillow. Source: paddle.vision.image_load.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> from PIL import Image
        >>> path = tempfile.mkdtemp() + "/red.png"
        >>> Image.new("RGB", (3, 2), "red").save(path)
        >>> with paddle.vision.image_load(path) as image:
        ...     image.size
        (3, 2)
        >>> paddle.vision.image_load(path, backend="cv2")[0, 0].tolist()
        [0, 0, 255]
    """
    chosen = get_image_backend() if backend is None else _known(backend)
    return in_backend(require("PIL.Image", extra="vision", purpose="image_load").open(path), chosen)


__all__ = ["get_image_backend", "image_load", "set_image_backend"]
