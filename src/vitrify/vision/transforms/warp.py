"""Turned, sheared and slanted tensors: a grid names the place of the picture that each place is read from.

Source: paddle.vision.transforms of tensors, whose interpolation and sizes are other ones than Pillow's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtype import float32, float64
from ...eager.tensor import Tensor
from ...eager.tensor import to_tensor as make_tensor
from ...nn.functional import grid_sample
from ...ops.expand import expand_as
from ...ops.join import concat
from ...ops.like import full_like
from ...ops.select import where
from .pictures import Array

_EXACT = 5  # digits of corners that count: cosines of right angles are not quite 0


def has_grid(img: Any, interpolation: str) -> bool:
    """Whether a picture is read through a grid: a tensor [c, h, w] of float32 or float64."""
    wanted = interpolation in ("nearest", "bilinear")
    return wanted and isinstance(img, Tensor) and img.ndim == 3 and img.dtype in (float32, float64)


def places(height: int, width: int) -> Array:
    """[h, w, 3] of x, y and 1 of the middle of each place of a picture, seen from the middle of the picture."""
    y, x = np.meshgrid(np.arange(height) - (height - 1) / 2, np.arange(width) - (width - 1) / 2, indexing="ij")
    return np.stack([x, y, np.ones_like(x)], axis=-1).astype(np.float32)


def room_for(matrix: Array, height: int, width: int) -> tuple[int, int]:
    """The height and width that hold the whole picture once it is turned: `matrix` tells where its places come from."""
    corners = np.asarray([[x * width / 2, y * height / 2, 1] for x in (-1, 1) for y in (-1, 1)])
    found = np.round(corners @ matrix.T, _EXACT)
    w, h = np.ceil(found.max(axis=0)) - np.floor(found.min(axis=0))
    return int(h), int(w)


def affine_map(image: Tensor, matrix: Sequence[float], interpolation: str, fill: Any, expand: bool = False) -> Tensor:
    """The picture whose place (x, y) is read at matrix @ (x, y, 1), both seen from the middles of the pictures."""
    height, width = image.shape[-2:]
    rows = np.asarray(matrix, np.float64).reshape(2, 3)
    size = room_for(rows, height, width) if expand else (height, width)
    return sampled(image, places(*size) @ (rows / _half(image)[:, None]).T.astype(np.float32), interpolation, fill)


def perspective_map(image: Tensor, coefficients: Sequence[float], interpolation: str, fill: Any) -> Tensor:
    """The picture whose place (x, y) is read where the eight coefficients of a perspective send it."""
    height, width = image.shape[-2:]
    middle = np.asarray([width / 2, height / 2, 0], np.float32)
    rows = np.asarray([*coefficients, 1.0]).reshape(3, 3)
    rows[:2] /= _half(image)[:, None]
    found = (places(height, width) + middle) @ rows.T.astype(np.float32)
    return sampled(image, found[..., :2] / found[..., 2:] - 1, interpolation, fill)


def _half(image: Tensor) -> Array:
    """Half the width and half the height: a grid's coordinates are 1 there."""
    return np.asarray(image.shape[:-3:-1]) / 2


def sampled(image: Tensor, where_from: Array, interpolation: str, fill: Any) -> Tensor:
    """The picture read at a grid's places [h, w, 2], from -1 to 1; `fill` comes from outside of it."""
    grid = make_tensor(where_from[None].astype(image.dtype.name))
    batch = image[None]
    both = concat([batch, full_like(batch[:, :1], 1.0)], axis=1)
    found = grid_sample(both, grid, interpolation, "zeros", align_corners=False)[0]
    inside, share = found[:-1], expand_as(found[-1:], found[:-1])
    colours = np.asarray(fill if isinstance(fill, (list, tuple)) else [fill], image.dtype.name)
    outside = expand_as(make_tensor(colours.reshape(-1, 1, 1)), inside)
    nearest = interpolation == "nearest"
    mixed: Tensor = where(share < 0.5, outside, inside) if nearest else inside * share + (1.0 - share) * outside
    return mixed
