"""Normalization Layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from inspect import Signature, signature
from typing import Any, ClassVar

import numpy as np

from ...core.alias import aliased
from ...core.dtype import DTypeLike
from ...core.errors import ArgumentError, ShapeError
from ...core.place import PlaceLike
from ...eager.initializer import Constant
from ...eager.layer import Layer
from ...eager.param_attr import ParamAttr, ParamAttrLike
from ...ops.matmul import matmul
from ...ops.unary import sqrt
from .. import functional as F
from ..initializer import Normal
from .functional_layer import REQUIRED, layer_of

LocalResponseNorm = partial(
    layer_of,
    module=__name__,
    inputs=("input",),
    private=False,
    shown=("size", "alpha", "beta", "k"),
    told_apart=("data_format",),
)("LocalResponseNorm", F.local_response_norm, size=REQUIRED, alpha=0.0001, beta=0.75, k=1.0, data_format="NCHW")


def _check_ndim(layer: Any, x: Any, allowed: Sequence[int]) -> None:
    if x.ndim not in allowed:
        wanted = " or ".join(f"{n}D" for n in allowed)
        raise ShapeError(f"{type(layer).__name__}: expected {wanted} input, got {x.ndim}D of shape {list(x.shape)}")


class _BatchNormBase(Layer):
    """Scale and shift by batch statistics while training, by their running averages in evaluation."""

    keeps_float32 = True

    def _set(
        self,
        channels: int,
        momentum: float,
        epsilon: float,
        weight_attr: ParamAttrLike,
        bias_attr: ParamAttrLike,
        data_format: str,
        dtype: DTypeLike | None = None,
        mean_name: str | None = None,
        variance_name: str | None = None,
        average: bool = True,
    ) -> None:
        self._momentum = momentum
        self._epsilon = epsilon
        self._data_format = data_format
        one = Constant(1.0)
        self.weight = self.create_parameter([channels], weight_attr, dtype, default_initializer=one)
        self.bias = self.create_parameter([channels], bias_attr, dtype, is_bias=True)
        # As in Paddle these are parameters that don't train, so that state dicts and counts agree.
        for attribute, value, name in (("_mean", 0.0, mean_name), ("_variance", 1.0, variance_name)):
            attr = ParamAttr(name=name, initializer=Constant(value), trainable=False, do_model_average=average)
            setattr(self, attribute, self.create_parameter([channels], attr, dtype))

    def _normalized(self, x: Any, training: bool, use_global_stats: bool | None) -> Any:
        return F.batch_norm(
            x,
            self._mean,
            self._variance,
            weight=self.weight,
            bias=self.bias,
            training=training,
            momentum=self._momentum,
            epsilon=self._epsilon,
            data_format=self._data_format,
            use_global_stats=use_global_stats,
        )


def _show_layout(cls: Any) -> None:
    """Let help and `inspect` show the layout of this number of dimensions as the default of data_format.

    A class with an `__init__` of its own shows that one's parameters, not those of the class it is derived from.
    """
    _, *given = signature(cls.__init__).parameters.values()
    if "__init__" not in vars(cls):
        given = [p.replace(default=cls._layout) if p.name == "data_format" else p for p in given]
    cls.__signature__ = Signature(given)


class _BatchNormNd(_BatchNormBase):
    def __init_subclass__(cls) -> None:
        _show_layout(cls)

    _ndims: ClassVar[Sequence[int]] = ()
    _layout: ClassVar[str] = "NCHW"

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str | None = None,
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_features = num_features
        self._use_global_stats = use_global_stats
        self._name = name
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        layout = self._layout if data_format is None else data_format
        mean_name, variance_name = (None, None) if name is None else (f"{name}_mean", f"{name}_variance")
        self._set(num_features, momentum, epsilon, weight_attr, bias_attr, layout, None, mean_name, variance_name)

    def forward(self, input: Any) -> Any:
        """input: [N, C, *] or [N, *, C], as data_format says -> the same shape."""
        _check_ndim(self, input, self._ndims)
        return self._normalized(input, self.training, self._use_global_stats)

    def extra_repr(self) -> str:
        """The settings."""
        text = f"num_features={self._num_features}, momentum={self._momentum}, epsilon={self._epsilon}"
        if self._data_format != "NCHW":
            text += f", data_format={self._data_format}"
        return text if self._name is None else f"{text}, name={self._name}"


class BatchNorm1D(_BatchNormNd):
    """Batch normalization of [N, C] or [N, C, L]. Source: paddle.nn.BatchNorm1D; Ioffe, Szegedy 2015.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.BatchNorm1D(3)(paddle.ones([2, 3, 4])).shape
        paddle.Size([2, 3, 4])
    """

    _ndims = (2, 3)
    _layout = "NCL"


class BatchNorm2D(_BatchNormNd):
    """Batch normalization of [N, C, H, W]. Source: paddle.nn.BatchNorm2D; Ioffe, Szegedy 2015.

    x: floating, which the result is, too; weight, bias, mean and variance: [C], float32. In training the statistics are
    the batch's, and the running ones move by 1 - momentum towards them. Calls raise ShapeError for other channels and
    ranks.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.BatchNorm2D(3)(paddle.ones([2, 3, 4, 4])).shape
        paddle.Size([2, 3, 4, 4])
    """

    _ndims = (4,)
    _layout = "NCHW"


class BatchNorm3D(_BatchNormNd):
    """Batch normalization of [N, C, D, H, W]. Source: paddle.nn.BatchNorm3D; Ioffe, Szegedy 2015.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.BatchNorm3D(3)(paddle.ones([2, 3, 4, 4, 4])).shape
        paddle.Size([2, 3, 4, 4, 4])
    """

    _ndims = (5,)
    _layout = "NCDHW"


class SyncBatchNorm(_BatchNormNd):
    """Batch normalization over the batches of all processes; of this one alone when there is no other.

    Source: paddle.nn.SyncBatchNorm.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.SyncBatchNorm(3)(paddle.ones([2, 3, 4, 4])).shape
        paddle.Size([2, 3, 4, 4])
    """

    _ndims = (2, 3, 4, 5)
    _layout = "NCHW"

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name)
        # As in Paddle, state dicts hold what is not trained, too.
        for attribute, attr, value in (("weight", weight_attr, 1.0), ("bias", bias_attr, 0.0)):
            if attr is False:
                fixed = ParamAttr(initializer=Constant(value), trainable=False)
                setattr(self, attribute, self.create_parameter([num_features], fixed))

    def forward(self, x: Any) -> Any:
        """x: [N, C, *] or [N, *, C], as data_format says -> the same shape."""
        return super().forward(x)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Any) -> Any:
        """`layer` with every BatchNorm below (or itself) replaced by a SyncBatchNorm on the same parameters."""
        if isinstance(layer, _BatchNormNd) and not isinstance(layer, SyncBatchNorm):
            return cls._of(layer)
        for name, below in list(layer.named_children()):
            layer.add_sublayer(name, cls.convert_sync_batchnorm(below))
        return layer

    @classmethod
    def _of(cls, layer: _BatchNormNd) -> SyncBatchNorm:
        fresh = cls(
            layer._num_features, layer._momentum, layer._epsilon, layer._weight_attr, layer._bias_attr,
            layer._data_format,
        )  # fmt: skip
        fresh._name = layer._name
        for attribute in ("weight", "bias", "_mean", "_variance"):
            setattr(fresh, attribute, getattr(layer, attribute))
        fresh.training = layer.training
        return fresh


class BatchNorm(_BatchNormBase):
    """Batch normalization of input with any number of dimensions, then an activation by name.

    Source: paddle.nn.BatchNorm, the form of Paddle 1.x; prefer BatchNorm1D, 2D and 3D.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.BatchNorm(3, act="relu")(paddle.ones([2, 3, 4, 4])).shape
        paddle.Size([2, 3, 4, 4])
    """

    def __init__(
        self,
        num_channels: int,
        act: str | None = None,
        is_test: bool = False,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        param_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        dtype: DTypeLike = "float32",
        data_layout: str = "NCHW",
        in_place: bool = False,
        moving_mean_name: str | None = None,
        moving_variance_name: str | None = None,
        do_model_average_for_mean_and_var: bool = True,
        use_global_stats: bool = False,
        trainable_statistics: bool = False,
    ) -> None:
        super().__init__()
        self._act = act
        if is_test:
            self.eval()
        self._use_global_stats = use_global_stats
        self._trainable_statistics = trainable_statistics
        self._param_attr, self._bias_attr = param_attr, bias_attr
        self._data_layout = data_layout
        self._set(
            num_channels, momentum, epsilon, param_attr, bias_attr, data_layout, dtype, moving_mean_name,
            moving_variance_name, do_model_average_for_mean_and_var,
        )  # fmt: skip

    def forward(self, input: Any) -> Any:
        """input: [N, C, *] or [N, *, C], as data_layout says -> the same shape."""
        training = self.training or self._trainable_statistics
        # False, the default here, leaves the choice to the mode; in F.batch_norm it means the batch's statistics.
        out = self._normalized(input, training, self._use_global_stats or None)
        return out if self._act is None else getattr(F, self._act)(out)


class _InstanceNormBase(Layer):
    keeps_float32_in_amp = True

    def __init_subclass__(cls) -> None:
        _show_layout(cls)

    _ndims: ClassVar[Sequence[int]] = ()
    _layout: ClassVar[str] = "NCHW"

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if (weight_attr is False) != (bias_attr is False):
            raise ArgumentError(
                f"{type(self).__name__}: weight_attr and bias_attr must be False together or not at all"
            )
        self._num_features = num_features
        self._epsilon = epsilon
        self._momentum = momentum
        self._data_format = self._layout if data_format is None else data_format
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.scale = self.create_parameter([num_features], weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        """input: [N, C, *] or [N, *, C], as data_format says -> the same shape."""
        _check_ndim(self, input, self._ndims)
        return F.instance_norm(
            input,
            weight=self.scale,
            bias=self.bias,
            momentum=self._momentum,
            eps=self._epsilon,
            data_format=self._data_format,
        )

    def extra_repr(self) -> str:
        """The settings."""
        return f"num_features={self._num_features}, epsilon={self._epsilon}"


class InstanceNorm1D(_InstanceNormBase):
    """Instance normalization of [N, C] or [N, C, L]. Source: paddle.nn.InstanceNorm1D; Ulyanov 2016.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.InstanceNorm1D(1)(paddle.to_tensor([[[1.0, 3.0]]])).numpy().round(2)
        array([[[-1.,  1.]]], dtype=float32)
    """

    _ndims = (2, 3)
    _layout = "NCL"


class InstanceNorm2D(_InstanceNormBase):
    """Instance normalization of [N, C, H, W]. Source: paddle.nn.InstanceNorm2D; Ulyanov 2016.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.InstanceNorm2D(3)(paddle.ones([2, 3, 4, 4])).shape
        paddle.Size([2, 3, 4, 4])
    """

    _ndims = (4,)
    _layout = "NCHW"


class InstanceNorm3D(_InstanceNormBase):
    """Instance normalization of [N, C, D, H, W]. Source: paddle.nn.InstanceNorm3D; Ulyanov 2016.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.InstanceNorm3D(3)(paddle.ones([2, 3, 4, 4, 4])).shape
        paddle.Size([2, 3, 4, 4, 4])
    """

    _ndims = (5,)
    _layout = "NCDHW"


class LayerNorm(Layer):
    """Normalizes the last dimensions, of sizes `normalized_shape`. Source: paddle.nn.LayerNorm; Ba 2016.

    x: [*, *normalized_shape], floating -> the same. Calls raise ShapeError for other last sizes.
    elementwise_affine, bias: whether there are a weight and a bias at all.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.LayerNorm(4)(paddle.ones([2, 4])).shape
        paddle.Size([2, 4])
    """

    keeps_float32_in_amp = True

    @aliased(epsilon="eps")
    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        epsilon: float = 1e-5,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        name: str | None = None,
        *,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: PlaceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        if isinstance(normalized_shape, (int, np.integer)):
            normalized_shape = [int(normalized_shape)]
        self._normalized_shape = list(normalized_shape)
        self._epsilon = epsilon
        # The parameters are flat, in the row-major order of the normalized dimensions.
        size = [math.prod(self._normalized_shape)]
        weight_attr = weight_attr if elementwise_affine else False
        bias_attr = bias_attr if elementwise_affine and bias else False
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.create_parameter(size, weight_attr, dtype, False, Constant(1.0), device)
        self.bias = self.create_parameter(size, bias_attr, dtype, True, device=device)

    def forward(self, input: Any) -> Any:
        """input: [*, *normalized_shape] -> the same shape."""
        return F.layer_norm(input, self._normalized_shape, self.weight, self.bias, self._epsilon)

    def extra_repr(self) -> str:
        """The settings."""
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


class GroupNorm(Layer):
    """Normalizes the channels of [N, C, *] in groups. Source: paddle.nn.GroupNorm; Wu, He 2018.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.GroupNorm(num_groups=2, num_channels=6)(paddle.ones([2, 6, 4])).shape
        paddle.Size([2, 6, 4])
    """

    @aliased(epsilon="eps")
    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-5,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCHW",
        name: str | None = None,
        *,
        affine: bool = True,
        device: PlaceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self._num_groups = num_groups
        self._num_channels = num_channels
        self._epsilon = epsilon
        self._data_format = data_format
        weight_attr, bias_attr = (weight_attr, bias_attr) if affine else (False, False)
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.create_parameter([num_channels], weight_attr, dtype, False, Constant(1.0), device)
        self.bias = self.create_parameter([num_channels], bias_attr, dtype, True, device=device)

    def forward(self, input: Any) -> Any:
        """input: [N, C, *] or [N, *, C], as data_format says -> the same shape."""
        return F.group_norm(input, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format)

    def extra_repr(self) -> str:
        """The settings."""
        return f"num_groups={self._num_groups}, num_channels={self._num_channels}, epsilon={self._epsilon}"


class SpectralNorm(Layer):
    """Divides a weight by its largest singular value, found by power iteration from two kept vectors.

    weight_shape: what forward will be given. dim: the dimension that becomes the matrix's rows.
    Source: paddle.nn.SpectralNorm; Miyato 2018.

    Example:
        >>> import vitrify as paddle
        >>> norm = paddle.nn.SpectralNorm([2, 2], power_iters=20)
        >>> norm(paddle.to_tensor([[4.0, 0.0], [0.0, 2.0]])).numpy().round(2)
        array([[1. , 0. ],
               [0. , 0.5]], dtype=float32)
    """

    def __init__(
        self,
        weight_shape: Sequence[int],
        dim: int = 0,
        power_iters: int = 1,
        eps: float = 1e-12,
        dtype: DTypeLike = "float32",
    ) -> None:
        super().__init__()
        self._weight_shape = list(weight_shape)
        self._dim = dim
        self._power_iters = power_iters
        self._eps = eps
        rows = self._weight_shape[dim]
        attr = ParamAttr(initializer=Normal(0.0, 1.0), trainable=False)
        self.weight_u = self.create_parameter([rows], attr, dtype)
        self.weight_v = self.create_parameter([math.prod(self._weight_shape) // rows], attr, dtype)

    def forward(self, x: Any) -> Any:
        """x: [*weight_shape] -> the same shape."""
        order = [self._dim, *(d for d in range(len(self._weight_shape)) if d != self._dim)]
        matrix = x.transpose(order).reshape([self._weight_shape[self._dim], -1])
        u, v = power_iteration(matrix.detach(), self.weight_u, self.weight_v, self._power_iters, self._eps)
        return x / matmul(u, matmul(matrix, v))


def power_iteration(matrix: Any, u: Any, v: Any, rounds: int, eps: float) -> tuple[Any, Any]:
    """Left and right vectors closer to those of the largest singular value. matrix: [m, n], u: [m], v: [n]."""
    for _ in range(rounds):
        v = _unit(matmul(matrix, u, transpose_x=True), eps)
        u = _unit(matmul(matrix, v), eps)
    return u, v


def _unit(vector: Any, eps: float) -> Any:
    """The vector over its length plus eps."""
    return vector / (sqrt((vector * vector).sum()) + eps)


__all__ = [
    "BatchNorm", "BatchNorm1D", "BatchNorm2D", "BatchNorm3D", "GroupNorm", "InstanceNorm1D", "InstanceNorm2D",
    "InstanceNorm3D", "LayerNorm", "LocalResponseNorm", "SpectralNorm", "SyncBatchNorm",
]  # fmt: skip
