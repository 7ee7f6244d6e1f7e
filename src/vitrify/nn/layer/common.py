"""Linear, embedding, dropout, and Layers that reshape, resize or compare."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...core.dtype import DTypeLike
from ...core.errors import ArgumentError
from ...core.place import PlaceLike
from ...eager.create_parameter import change_initial
from ...eager.initializer import XavierUniform
from ...eager.layer import Layer
from ...eager.param_attr import ParamAttrLike
from ...eager.parameter import Parameter
from ...ops.scatter import index_fill
from ...ops.shape import flatten, unflatten
from .. import functional as F
from .functional_layer import REQUIRED, layer_of
from .padding import *  # noqa: F403 - Paddle's paths lead here
from .vision import Upsample, UpsamplingBilinear2D, UpsamplingNearest2D  # noqa: F401 - likewise

_public = partial(layer_of, module=__name__, private=False)
_INPUT = ("input",)

Dropout2D = _public("Dropout2D", F.dropout2d, inputs=_INPUT, shown=None, trains=True, p=0.5, data_format="NCHW")
Dropout3D = _public("Dropout3D", F.dropout3d, inputs=_INPUT, shown=None, trains=True, p=0.5, data_format="NCDHW")
AlphaDropout = _public("AlphaDropout", F.alpha_dropout, inputs=_INPUT, shown=None, trains=True, p=0.5)
FeatureAlphaDropout = _public(
    "FeatureAlphaDropout", F.feature_alpha_dropout, inputs=_INPUT, shown=None, trains=True, p=0.5
)
CosineSimilarity = partial(layer_of, module=__name__, inputs=("x1", "x2"), named=False, shown=None)(
    "CosineSimilarity", F.cosine_similarity, read_as={"dim": "axis"}, axis=1, eps=1e-8
)
Flatten = _public("Flatten", flatten, inputs=_INPUT, named=False, start_axis=1, stop_axis=-1)
Unflatten = _public("Unflatten", unflatten, inputs=_INPUT, shown=None, axis=REQUIRED, shape=REQUIRED)


class Identity(Layer):
    """Returns its input; takes and ignores any arguments. Source: paddle.nn.Identity.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.Identity()(paddle.to_tensor([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """The input itself."""
        return input


class Linear(Layer):
    """x @ weight + bias, with weight [in_features, out_features]. Source: paddle.nn.Linear.

    x: [*, in_features], of the weight's dtype (the default one) -> [*, out_features], likewise. Calls raise ShapeError
    for another last size, DTypeError for another dtype.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.Linear(2, 3)(paddle.ones([4, 2])).shape
        paddle.Size([4, 3])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)
        self.name = name

    def forward(self, input: Any) -> Any:
        """input: [*, in_features] -> [*, out_features]."""
        return F.linear(input, self.weight, self.bias, self.name)

    def extra_repr(self) -> str:
        """The sizes and dtype."""
        name = f", name={self.name}" if self.name else ""
        if self.weight is None:
            return f"dtype=None{name}"
        # No attributes of their own: as in Paddle, models may make properties of these names.
        rows, columns = self.weight.shape
        return f"in_features={rows}, out_features={columns}, dtype={self.weight.dtype.name}{name}"


class Bilinear(Layer):
    """x1 @ weight[i] @ x2 + bias[i] for each output i, with weight [out, in1, in2]. Source: paddle.nn.Bilinear.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.Bilinear(3, 4, 5)(paddle.ones([2, 3]), paddle.ones([2, 4])).shape
        paddle.Size([2, 5])
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self._name = name
        self._in1_features = in1_features
        self._in2_features = in2_features
        self._out_features = out_features
        self.weight = self.create_parameter([out_features, in1_features, in2_features], weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Any, x2: Any) -> Any:
        """x1: [N, in1], x2: [N, in2] -> [N, out]."""
        return F.bilinear(x1, x2, self.weight, self.bias, self._name)

    def extra_repr(self) -> str:
        """The sizes and dtype."""
        name = f", name={self._name}" if self._name else ""
        dtype = None if self.weight is None else self.weight.dtype.name
        return (
            f"in1_features={self._in1_features}, in2_features={self._in2_features}, "
            f"out_features={self._out_features}, dtype={dtype}{name}"
        )


class Embedding(Layer):
    """Row `x[...]` of weight [num_embeddings, embedding_dim]; the row `padding_idx` is zero and gets no gradient.

    max_norm: rows longer than this in `norm_type` norm are shortened when looked up. Raises ArgumentError for sizes
    below 1 and a padding_idx outside. Source: paddle.nn.Embedding.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.Embedding(10, 4)(paddle.to_tensor([[1, 2, 3]])).shape
        paddle.Size([1, 3, 4])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        sparse: bool = False,
        weight_attr: ParamAttrLike = None,
        name: str | None = None,
        *,
        scale_grad_by_freq: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: PlaceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        if num_embeddings <= 0 or embedding_dim <= 0:
            raise ArgumentError(f"Embedding: sizes must be positive, got {num_embeddings} and {embedding_dim}")
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ArgumentError(
                f"Embedding: padding_idx must be in [-{num_embeddings}, {num_embeddings}), got {padding_idx}"
            )
        self._num_embeddings = num_embeddings
        self._embedding_dim = embedding_dim
        self._size = [num_embeddings, embedding_dim]
        self.padding_idx = self._padding_idx = padding_idx
        self._max_norm = max_norm
        self._norm_type = norm_type
        self._sparse = sparse
        self._scale_grad_by_freq = scale_grad_by_freq
        self._weight_attr = weight_attr
        self._name = name
        if _weight is not None:
            self.weight = Parameter(_weight)
        else:
            self.weight = self._new_weight(weight_attr, dtype, device)
        if _freeze:
            self.weight.stop_gradient = True

    def _new_weight(self, attr: ParamAttrLike, dtype: DTypeLike | None, device: PlaceLike | None) -> Any:
        shape = [self._num_embeddings, self._embedding_dim]
        weight = self.create_parameter(shape, attr, dtype, default_initializer=XavierUniform(), device=device)
        if self._padding_idx is not None:
            change_initial(weight, self._without_padding_row)
        return weight

    def _without_padding_row(self, weight: Any) -> Any:
        return index_fill(weight, np.array([self._padding_idx]), 0, 0.0)

    def forward(self, x: Any) -> Any:
        """x: [*] integer -> [*, embedding_dim]."""
        return F.embedding(
            x,
            self.weight,
            padding_idx=self._padding_idx,
            max_norm=self._max_norm,
            norm_type=self._norm_type,
            sparse=self._sparse,
            scale_grad_by_freq=self._scale_grad_by_freq,
            name=self._name,
        )

    def extra_repr(self) -> str:
        """The sizes and settings."""
        parts = [f"{self._num_embeddings}, {self._embedding_dim}"]
        if self._padding_idx is not None:
            parts.append(f"padding_idx={self._padding_idx}")
        parts += [f"sparse={self._sparse}", f"scale_grad_by_freq={self._scale_grad_by_freq}"]
        return ", ".join(parts if self._name is None else [*parts, f"name={self._name}"])


class Dropout(Layer):
    """Zeros elements with probability p while training and scales the rest by 1 / (1 - p). Source: paddle.nn.Dropout.

    x: any shape, floating -> the same. axis: drop whole slices along the other axes. mode: "upscale_in_train" scales
    while training, "downscale_in_infer" in evaluation. Calls raise ArgumentError for p outside of [0, 1].

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.Dropout(0.5).eval()(paddle.to_tensor([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """

    def __init__(
        self,
        p: float = 0.5,
        inplace: bool = False,
        axis: int | Sequence[int] | None = None,
        mode: str = "upscale_in_train",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if isinstance(inplace, (list, tuple)) or (inplace is not None and not isinstance(inplace, bool)):
            inplace, axis = False, inplace  # code from before `inplace` passes the axis here
        self.p = p
        self.inplace = inplace
        self.axis = axis
        self.mode = mode
        self.name = name

    def forward(self, input: Any) -> Any:
        """input: [*] floating -> [*]."""
        return F.dropout(
            input,
            p=self.p,
            axis=self.axis,
            training=self.training,
            inplace=self.inplace,
            mode=self.mode,
            name=self.name,
        )

    def extra_repr(self) -> str:
        """The settings."""
        name = f", name={self.name}" if self.name else ""
        return f"p={self.p}, axis={self.axis}, mode={self.mode}{name}, inplace={self.inplace}"


class Fold(Layer):
    """Sums sliding patches [N, C * kh * kw, L] back into [N, C, H, W]. Source: paddle.nn.Fold.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.Fold(output_sizes=4, kernel_sizes=2, strides=2)(paddle.ones([1, 4, 4])).shape
        paddle.Size([1, 1, 4, 4])
    """

    def __init__(
        self,
        output_sizes: int | Sequence[int],
        kernel_sizes: int | Sequence[int],
        dilations: int | Sequence[int] = 1,
        paddings: int | Sequence[int] = 0,
        strides: int | Sequence[int] = 1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.output_sizes = output_sizes
        self.kernel_sizes = kernel_sizes
        self.dilations = dilations
        self.paddings = paddings
        self.strides = strides
        self.name = name

    def forward(self, input: Any) -> Any:
        """input: [N, C * kh * kw, L] -> [N, C, H, W]."""
        return F.fold(
            input, self.output_sizes, self.kernel_sizes, self.strides, self.paddings, self.dilations, self.name
        )

    def extra_repr(self) -> str:
        """The window."""
        return _window_repr(self)


class Unfold(Layer):
    """All sliding patches of [N, C, H, W] as columns [N, C * kh * kw, L]. Source: paddle.nn.Unfold.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.Unfold(kernel_sizes=2, strides=2)(paddle.ones([1, 1, 4, 4])).shape
        paddle.Size([1, 4, 4])
    """

    def __init__(
        self,
        kernel_sizes: int | Sequence[int],
        dilations: int | Sequence[int] = 1,
        paddings: int | Sequence[int] = 0,
        strides: int | Sequence[int] = 1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.kernel_sizes = kernel_sizes
        self.dilations = dilations
        self.paddings = paddings
        self.strides = strides
        self.name = name

    def forward(self, input: Any) -> Any:
        """input: [N, C, H, W] -> [N, C * kh * kw, L]."""
        return F.unfold(input, self.kernel_sizes, self.strides, self.paddings, self.dilations, self.name)

    def extra_repr(self) -> str:
        """The window."""
        return _window_repr(self)


def _window_repr(layer: Any) -> str:
    name = f", name={layer.name}" if layer.name else ""
    return (
        f"kernel_size={layer.kernel_sizes}, dilation={layer.dilations}, padding={layer.paddings}, "
        f"stride={layer.strides}{name}"
    )


__all__ = [
    "AlphaDropout", "Bilinear", "CosineSimilarity", "Dropout", "Dropout2D", "Dropout3D", "Embedding",
    "FeatureAlphaDropout", "Flatten", "Fold", "Identity", "Linear", "Unflatten", "Unfold",
]  # fmt: skip
