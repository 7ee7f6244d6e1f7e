"""Activation Layers."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...core.errors import ShapeError
from ...eager.initializer import Constant
from ...eager.layer import Layer
from ...eager.param_attr import ParamAttrLike
from .. import functional as F
from .functional_layer import REQUIRED, layer_of

_activation = partial(layer_of, module=__name__, shown=None)

CELU = _activation("CELU", F.celu, alpha=1.0)
ELU = _activation("ELU", F.elu, alpha=1.0)
GELU = _activation("GELU", F.gelu, approximate=False)
GLU = _activation("GLU", F.glu, read_as={"dim": "axis"}, axis=-1)
Hardshrink = _activation("Hardshrink", F.hardshrink, read_as={"lambd": "threshold"}, threshold=0.5)
Hardsigmoid = _activation("Hardsigmoid", F.hardsigmoid, private=False)
Hardswish = _activation("Hardswish", F.hardswish)
Hardtanh = _activation("Hardtanh", F.hardtanh, min=-1.0, max=1.0)
LeakyReLU = _activation("LeakyReLU", F.leaky_relu, negative_slope=0.01)
LogSigmoid = _activation("LogSigmoid", F.log_sigmoid)
LogSoftmax = _activation("LogSoftmax", F.log_softmax, axis=-1)
Maxout = _activation("Maxout", F.maxout, groups=REQUIRED, axis=1)
Mish = _activation("Mish", F.mish)
ReLU = _activation("ReLU", F.relu)
ReLU6 = _activation("ReLU6", F.relu6)
SELU = _activation(
    "SELU", F.selu, form=".16f", scale=1.0507009873554804934193349852946, alpha=1.6732632423543772848170429916717
)
Sigmoid = _activation("Sigmoid", F.sigmoid, private=False)
Silu = _activation("Silu", F.silu, inplace=False)
Softmax = _activation("Softmax", F.softmax, axis=-1)
Softplus = _activation("Softplus", F.softplus, beta=1, threshold=20)
Softshrink = _activation("Softshrink", F.softshrink, read_as={"lambd": "threshold"}, threshold=0.5)
Softsign = _activation("Softsign", F.softsign)
Swish = _activation("Swish", F.swish)
Tanh = _activation("Tanh", F.tanh)
Tanhshrink = _activation("Tanhshrink", F.tanhshrink)
ThresholdedReLU = _activation("ThresholdedReLU", F.thresholded_relu, threshold=1.0, value=0.0)
SiLU = Silu


class RReLU(Layer):
    """Leaky ReLU whose slope is drawn from [lower, upper) for each element while training, and their mean afterwards.

    Source: paddle.nn.RReLU.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.RReLU(0.25, 0.75).eval()(paddle.to_tensor([-2.0, 2.0])).tolist()
        [-1.0, 2.0]
    """

    def __init__(self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, name: str | None = None) -> None:
        super().__init__()
        self._lower = lower
        self._upper = upper
        self._name = name

    def forward(self, x: Any) -> Any:
        """x: [*] floating -> [*]."""
        return F.rrelu(x, self._lower, self._upper, training=self.training)

    def extra_repr(self) -> str:
        """The settings."""
        name = "" if self._name is None else f", name={self._name}"
        return f"lower={self._lower}, upper={self._upper}, training={self.training}, dtype={self._dtype}{name}"


class PReLU(Layer):
    """max(0, x) + weight * min(0, x) with a learned weight, one for all channels or one each.

    num_parameters: 1 or the number of channels. Source: paddle.nn.PReLU.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.PReLU(init=0.5)(paddle.to_tensor([-2.0, 2.0])).tolist()
        [-1.0, 2.0]
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: ParamAttrLike = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_parameters = num_parameters
        self._init = init
        self._name = name
        self._data_format = data_format
        self._weight = self.create_parameter([num_parameters], weight_attr, default_initializer=Constant(init))

    def forward(self, x: Any) -> Any:
        """x: [N, C, *] or [N, *, C], as data_format says -> the same shape."""
        return F.prelu(x, self._weight, data_format=self._data_format)

    def extra_repr(self) -> str:
        """The settings."""
        name = f", name={self._name}" if self._name else ""
        return (
            f"num_parameters={self._num_parameters}, data_format={self._data_format}, init={self._init}, "
            f"dtype={self._dtype}{name}"
        )


class Softmax2D(Layer):
    """Softmax over the channels of [N, C, H, W] or [C, H, W]. Source: paddle.nn.Softmax2D.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.Softmax2D()(paddle.ones([2, 1, 1])).tolist()
        [[[0.5]], [[0.5]]]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Any) -> Any:
        """x: [*, C, H, W] -> the same shape; raises ShapeError for other numbers of dimensions."""
        if x.ndim not in (3, 4):
            raise ShapeError(f"Softmax2D: x must have 3 or 4 dimensions, got {x.ndim}")
        return F.softmax(x, axis=-3)

    def extra_repr(self) -> str:
        """The name, if one was given."""
        return f"name={self._name}" if self._name else ""


__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Maxout",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Silu",
    "Softmax",
    "Softmax2D",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Swish",
    "Tanh",
    "Tanhshrink",
    "ThresholdedReLU",
]  # fmt: skip
