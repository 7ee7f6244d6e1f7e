"""`paddle.vision.ops`: operations of detectors, and the Layers of those that have settings."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import ArgumentError
from ..core.lazy import require
from ..eager.layer import Layer
from ..eager.param_attr import ParamAttrLike
from ..eager.tensor import Tensor, to_tensor
from ..nn import BatchNorm2D, Conv2D, ReLU, Sequential
from ..nn.initializer import Normal
from ..nn.layer.functional_layer import REQUIRED, layer_of
from ..ops.boxes import box_coder, prior_box
from ..ops.deform_conv import deform_conv2d
from ..ops.matrix_nms import matrix_nms
from ..ops.nms import nms
from ..ops.proposals import distribute_fpn_proposals, generate_proposals
from ..ops.roi import psroi_pool, roi_align, roi_pool
from ..ops.sliding_window import per_dim
from ..ops.yolo import yolo_box, yolo_loss

Size = int | Sequence[int]
_roi_layer = partial(layer_of, module=__name__, inputs=("x", "boxes", "boxes_num"), named=False)
RoIAlign = _roi_layer("RoIAlign", roi_align, options={"aligned": True}, output_size=REQUIRED, spatial_scale=1.0)
RoIPool = _roi_layer("RoIPool", roi_pool, output_size=REQUIRED, spatial_scale=1.0)
PSRoIPool = _roi_layer("PSRoIPool", psroi_pool, output_size=REQUIRED, spatial_scale=1.0)


class DeformConv2D(Layer):
    """Deformable convolution: weight [out, in / groups, *kernel], bias [out]. Source: paddle.vision.ops.DeformConv2D.

    Example:
        >>> import vitrify as paddle
        >>> conv = paddle.vision.ops.DeformConv2D(3, 8, 3, padding=1)
        >>> conv(paddle.ones([1, 3, 5, 5]), paddle.zeros([1, 18, 5, 5])).shape
        paddle.Size([1, 8, 5, 5])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size = 0,
        dilation: Size = 1,
        deformable_groups: int = 1,
        groups: int = 1,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
    ) -> None:
        super().__init__()
        if in_channels % groups:
            raise ArgumentError(f"DeformConv2D: in_channels {in_channels} must be divisible by groups {groups}")
        kernel = list(per_dim("DeformConv2D", kernel_size, 2, "kernel_size"))
        self._in_channels = in_channels
        self._out_channels = out_channels
        self._kernel_size = kernel
        self._stride = list(per_dim("DeformConv2D", stride, 2, "stride"))
        self._padding = list(per_dim("DeformConv2D", padding, 2, "padding", least=0))
        self._dilation = list(per_dim("DeformConv2D", dilation, 2, "dilation"))
        self._deformable_groups = deformable_groups
        self._groups = groups
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        normal = Normal(0.0, math.sqrt(2.0 / (math.prod(kernel) * in_channels)))
        shape = [out_channels, in_channels // groups, *kernel]
        self.weight = self.create_parameter(shape, weight_attr, default_initializer=normal)
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any, offset: Any, mask: Any = None) -> Any:
        """x: [N, C, H, W], offset (and mask): as of `deform_conv2d` -> [N, out_channels, H', W']."""
        return deform_conv2d(
            x, offset, self.weight, self.bias, self._stride, self._padding, self._dilation, self._deformable_groups,
            self._groups, mask,
        )  # fmt: skip


class ConvNormActivation(Sequential):
    """A convolution, a norm and an activation; the convolution has a bias where there is no norm.

    padding: by default what keeps the size at stride 1. Source: paddle.vision.ops.ConvNormActivation.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int = 3,
        stride: int = 1,
        padding: int | None = None,
        groups: int = 1,
        norm_layer: Any = BatchNorm2D,
        activation_layer: Any = ReLU,
        dilation: int = 1,
        bias: bool | None = None,
    ) -> None:
        has_bias = norm_layer is None if bias is None else bias
        layers = [
            Conv2D(
                in_channels,
                out_channels,
                kernel_size,
                stride,
                (kernel_size - 1) // 2 * dilation if padding is None else padding,
                dilation=dilation,
                groups=groups,
                bias_attr=None if has_bias else False,
            )
        ]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer())
        super().__init__(*layers)


def _tensor(array: Any) -> Tensor:
    out: Tensor = to_tensor(array)
    return out


def read_file(filename: str, name: str | None = None) -> Tensor:
    """The bytes of a file: uint8 [n]. Source: paddle.vision.ops.read_file.

    Example:
        >>> import tempfile, vitrify as paddle
        >>> with tempfile.NamedTemporaryFile() as file:
        ...     _ = file.write(b"ab"), file.flush()
        ...     paddle.vision.ops.read_file(file.name).tolist()
        [97, 98]
    """
    return _tensor(np.frombuffer(Path(filename).read_bytes(), np.uint8).copy())


_MODES = {"unchanged": None, "gray": "L", "rgb": "RGB"}


def decode_jpeg(x: Any, mode: str = "unchanged", name: str | None = None) -> Tensor:
    """The image that the bytes x of a JPEG file hold, by Pillow: uint8 [channels, height, width].

    mode: "unchanged", "gray" or "rgb". Raises ArgumentError for others, MissingPackageError without Pillow.
    Source: paddle.vision.ops.decode_jpeg.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> from PIL import Image
        >>> path = tempfile.mkdtemp() + "/grey.jpg"
        >>> Image.new("L", (3, 2), 128).save(path)
        >>> paddle.vision.ops.decode_jpeg(paddle.vision.ops.read_file(path)).tolist()
        [[[128, 128, 128], [128, 128, 128]]]
    """
    if mode not in _MODES:
        raise ArgumentError(f"decode_jpeg: mode must be one of {', '.join(_MODES)}, got {mode!r}")
    image = require("PIL.Image", extra="vision", purpose="decode_jpeg").open(io.BytesIO(x.numpy().tobytes()))
    pixels = np.asarray(image if _MODES[mode] is None else image.convert(_MODES[mode]))
    return _tensor(pixels[None] if pixels.ndim == 2 else np.ascontiguousarray(np.moveaxis(pixels, -1, 0)))


__all__ = [
    "ConvNormActivation", "DeformConv2D", "PSRoIPool", "RoIAlign", "RoIPool", "box_coder", "decode_jpeg",
    "deform_conv2d", "distribute_fpn_proposals", "generate_proposals", "matrix_nms", "nms", "prior_box", "psroi_pool",
    "read_file", "roi_align", "roi_pool", "yolo_box", "yolo_loss",
]  # fmt: skip
