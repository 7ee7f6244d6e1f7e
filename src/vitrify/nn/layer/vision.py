"""Layers that rearrange or resize images, and distances between vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...eager.layer import Layer
from .. import functional as F
from .functional_layer import REQUIRED, FunctionalLayer, layer_of

Size = int | Sequence[int] | None
Scale = float | Sequence[float] | None


def _rearranging(name: str, function: Any, setting: str) -> type[FunctionalLayer]:
    return partial(layer_of, module=__name__, shown=(setting,), told_apart=("data_format",))(
        name, function, **{setting: REQUIRED}, data_format="NCHW"
    )


PixelShuffle = _rearranging("PixelShuffle", F.pixel_shuffle, "upscale_factor")
PixelUnshuffle = _rearranging("PixelUnshuffle", F.pixel_unshuffle, "downscale_factor")
ChannelShuffle = _rearranging("ChannelShuffle", F.channel_shuffle, "groups")


class Upsample(Layer):
    """Resizes the spatial dimensions to `size`, or by `scale_factor`. Source: paddle.nn.Upsample.

    mode: "nearest", "linear", "bilinear", "trilinear", "bicubic" or "area".

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.Upsample(scale_factor=2)(paddle.to_tensor([[[[1.0, 2.0]]]])).tolist()
        [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]]]
    """

    def __init__(
        self,
        size: Size = None,
        scale_factor: Scale = None,
        mode: str = "nearest",
        align_corners: bool = False,
        align_mode: int = 0,
        data_format: str | None = None,
        recompute_scale_factor: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode.lower()
        self.align_corners = align_corners
        self.align_mode = align_mode
        self.data_format = data_format
        self.recompute_scale_factor = recompute_scale_factor
        self.name = name

    def forward(self, x: Any) -> Any:
        """x: [N, C, *] -> [N, C, *]."""
        return F.interpolate(
            x,
            size=self.size,
            scale_factor=self.scale_factor,
            mode=self.mode,
            align_corners=self.align_corners,
            align_mode=self.align_mode,
            data_format=self.data_format,
            recompute_scale_factor=self.recompute_scale_factor,
            name=self.name,
        )

    def extra_repr(self) -> str:
        """The settings."""
        name = f", name={self.name}" if self.name else ""
        return (
            f"{_target(self)}, mode={self.mode}, align_corners={self.align_corners}, align_mode={self.align_mode}, "
            f"data_format={self.data_format}{name}"
        )


class UpsamplingNearest2D(Layer):
    """Resizes images by repeating the nearest pixel. Source: paddle.nn.UpsamplingNearest2D.

    size: (H, W), or one integer for both.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.UpsamplingNearest2D(size=(4, 6))(paddle.ones([1, 3, 2, 2])).shape
        paddle.Size([1, 3, 4, 6])
    """

    def __init__(
        self, size: Size = None, scale_factor: Scale = None, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__()
        self.size = [size, size] if isinstance(size, int) else size
        self.scale_factor = scale_factor
        self.data_format = data_format
        self.name = name

    def forward(self, x: Any) -> Any:
        """x: [N, C, H, W] -> [N, C, H', W']."""
        return F.interpolate(
            x, size=self.size, scale_factor=self.scale_factor, mode="nearest", data_format=self.data_format
        )

    def extra_repr(self) -> str:
        """The settings."""
        name = f", name={self.name}" if self.name else ""
        return f"{_target(self)}, data_format={self.data_format}{name}"


class UpsamplingBilinear2D(UpsamplingNearest2D):
    """Resizes images bilinearly, corner to corner. Source: paddle.nn.UpsamplingBilinear2D.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.UpsamplingBilinear2D(size=(1, 3))(paddle.to_tensor([[[[1.0, 2.0]]]])).tolist()
        [[[[1.0, 1.5, 2.0]]]]
    """

    def forward(self, x: Any) -> Any:
        """x: [N, C, H, W] -> [N, C, H', W']."""
        return F.interpolate(
            x,
            size=self.size,
            scale_factor=self.scale_factor,
            mode="bilinear",
            align_corners=True,
            data_format=self.data_format,
        )


UpsamplingNearest2d, UpsamplingBilinear2d = UpsamplingNearest2D, UpsamplingBilinear2D


def _target(layer: Any) -> str:
    return f"scale_factor={layer.scale_factor}" if layer.scale_factor is not None else f"size={layer.size}"


class PairwiseDistance(Layer):
    """The p-norm of x - y + epsilon along the last dimension. Source: paddle.nn.PairwiseDistance.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.PairwiseDistance(epsilon=0.0)(paddle.zeros([1, 2]), paddle.to_tensor([[3.0, 4.0]])).tolist()
        [5.0]
    """

    def __init__(self, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None) -> None:
        super().__init__()
        self.p = p
        self.epsilon = epsilon
        self.keepdim = keepdim
        self.name = name

    def forward(self, x: Any, y: Any) -> Any:
        """x, y: [N, D] or [D] -> [N] or []; [N, 1] or [1] with keepdim."""
        return F.pairwise_distance(x, y, self.p, self.epsilon, self.keepdim, self.name)

    def extra_repr(self) -> str:
        """The settings that differ from the defaults."""
        parts = [f"p={self.p}"]
        if self.epsilon != 1e-6:
            parts.append(f"epsilon={self.epsilon}")
        if self.keepdim:
            parts.append(f"keepdim={self.keepdim}")
        return ", ".join(parts if self.name is None else [*parts, f"name={self.name}"])


__all__ = [
    "ChannelShuffle", "PairwiseDistance", "PixelShuffle", "PixelUnshuffle", "Upsample", "UpsamplingBilinear2D",
    "UpsamplingBilinear2d", "UpsamplingNearest2D", "UpsamplingNearest2d",
]  # fmt: skip
