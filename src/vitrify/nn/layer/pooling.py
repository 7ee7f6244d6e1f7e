"""Pooling Layers."""

from __future__ import annotations

from functools import partial

from .. import functional as F
from .functional_layer import REQUIRED, layer_of

_SHOWN = ("kernel_size", "stride", "padding")
_KSIZE = {"kernel_size": "ksize", "divisor_override": "divisor"}  # the names that Paddle's attributes have
_of = partial(layer_of, module=__name__, shows_name=False)
_pool = partial(_of, private=False, shown=_SHOWN, kernel_size=REQUIRED, stride=None, padding=0)
_lp_pool = partial(_of, private=False, shown=("norm_type", *_SHOWN), kinds={"norm_type": float},
                   norm_type=REQUIRED, kernel_size=REQUIRED, stride=None, padding=0, ceil_mode=False)  # fmt: skip
_adaptive = partial(_of, shown=("output_size",), output_size=REQUIRED)
_SIZE = {"output_size": "output_size"}
_adaptive_max = partial(
    _of,
    shown=("output_size", "return_mask"),
    read_as={"return_indices": "return_mask"},
    output_size=REQUIRED,
    return_mask=False,
)
_unpool = partial(_of, private=False, inputs=("x", "indices"), options={"output_size": None},
                  kept_as=_KSIZE, shown=("output_size",), kernel_size=REQUIRED, stride=None, padding=0)  # fmt: skip
_fractional = partial(_of, shown=("output_size", "return_mask"), output_size=REQUIRED,
                      kernel_size=None, random_u=None, return_mask=False)  # fmt: skip

AvgPool1D = _pool("AvgPool1D", F.avg_pool1d, exclusive=True, ceil_mode=False)
_average = partial(_pool, kept_as=_KSIZE, ceil_mode=False, exclusive=True, divisor_override=None)
AvgPool2D = _average("AvgPool2D", F.avg_pool2d, data_format="NCHW")
AvgPool3D = _average("AvgPool3D", F.avg_pool3d, data_format="NCDHW")
MaxPool1D = _pool("MaxPool1D", F.max_pool1d, inputs=("input",), return_mask=False, ceil_mode=False)
MaxPool2D = _pool("MaxPool2D", F.max_pool2d, kept_as=_KSIZE, return_mask=False, ceil_mode=False, data_format="NCHW")
MaxPool3D = _pool("MaxPool3D", F.max_pool3d, kept_as=_KSIZE, return_mask=False, ceil_mode=False, data_format="NCDHW")
LPPool1D = _lp_pool("LPPool1D", F.lp_pool1d, data_format="NCL")
LPPool2D = _lp_pool("LPPool2D", F.lp_pool2d, kept_as=_KSIZE, otherwise={"stride": "kernel_size"}, data_format="NCHW")
MaxUnPool1D = _unpool("MaxUnPool1D", F.max_unpool1d, data_format="NCL", output_size=None)
MaxUnPool2D = _unpool("MaxUnPool2D", F.max_unpool2d, data_format="NCHW", output_size=None)
MaxUnPool3D = _unpool("MaxUnPool3D", F.max_unpool3d, data_format="NCDHW", output_size=None)
AdaptiveAvgPool1D = _adaptive("AdaptiveAvgPool1D", F.adaptive_avg_pool1d, inputs=("input",), private=False)
AdaptiveAvgPool2D = _adaptive("AdaptiveAvgPool2D", F.adaptive_avg_pool2d, read_as=_SIZE, data_format="NCHW")
AdaptiveAvgPool3D = _adaptive("AdaptiveAvgPool3D", F.adaptive_avg_pool3d, read_as=_SIZE, data_format="NCDHW")
AdaptiveMaxPool1D = _adaptive_max("AdaptiveMaxPool1D", F.adaptive_max_pool1d, inputs=("input",), private=False)
AdaptiveMaxPool2D = _adaptive_max("AdaptiveMaxPool2D", F.adaptive_max_pool2d)
AdaptiveMaxPool3D = _adaptive_max("AdaptiveMaxPool3D", F.adaptive_max_pool3d)
FractionalMaxPool2D = _fractional("FractionalMaxPool2D", F.fractional_max_pool2d)
FractionalMaxPool3D = _fractional("FractionalMaxPool3D", F.fractional_max_pool3d)

AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d = AdaptiveAvgPool1D, AdaptiveAvgPool2D, AdaptiveAvgPool3D
AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d = AdaptiveMaxPool1D, AdaptiveMaxPool2D, AdaptiveMaxPool3D
LPPool1d, LPPool2d = LPPool1D, LPPool2D
MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = MaxUnPool1D, MaxUnPool2D, MaxUnPool3D

__all__ = [
    "AdaptiveAvgPool1D", "AdaptiveAvgPool1d", "AdaptiveAvgPool2D", "AdaptiveAvgPool2d", "AdaptiveAvgPool3D",
    "AdaptiveAvgPool3d", "AdaptiveMaxPool1D", "AdaptiveMaxPool1d", "AdaptiveMaxPool2D", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3D", "AdaptiveMaxPool3d", "AvgPool1D", "AvgPool2D", "AvgPool3D", "FractionalMaxPool2D",
    "FractionalMaxPool3D", "LPPool1D", "LPPool1d", "LPPool2D", "LPPool2d", "MaxPool1D", "MaxPool2D", "MaxPool3D",
    "MaxUnPool1D", "MaxUnPool2D", "MaxUnPool3D", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]  # fmt: skip
