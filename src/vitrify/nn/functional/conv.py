"""Convolutions. Source: paddle.nn.functional.conv."""

from __future__ import annotations

from typing import Any

from ...ops.conv import conv1d, conv2d, conv3d
from ...ops.conv_transpose import conv1d_transpose, conv2d_transpose, conv3d_transpose

_BY_RANK = {3: conv1d, 4: conv2d, 5: conv3d}


def _conv_nd(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, padding_algorithm: str | None = None,
    dilation: Any = 1, groups: int = 1, data_format: str = "NCHW", channel_dim: int = 1, op_type: str = "conv2d",
    use_cudnn: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """The convolution of x by its number of dimensions, with the padding that `padding_algorithm` names.

    Code written for Paddle calls it in quantized and custom layers. channel_dim, op_type and use_cudnn have no effect:
    data_format, groups and the place say as much.

    Example:
        >>> import vitrify as paddle
        >>> x, weight = paddle.ones([1, 1, 3, 3]), paddle.ones([1, 1, 2, 2])
        >>> paddle.nn.functional.conv._conv_nd(x, weight).tolist()
        [[[[4.0, 4.0], [4.0, 4.0]]]]
    """
    named = padding_algorithm in ("SAME", "VALID")
    fn = _BY_RANK[x.ndim]
    return fn(x, weight, bias, stride, padding_algorithm if named else padding, dilation, groups, data_format)


__all__ = ["conv1d", "conv1d_transpose", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose"]
