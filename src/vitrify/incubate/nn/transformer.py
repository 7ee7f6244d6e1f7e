"""Layers of transformers whose blocks are one function each."""

from __future__ import annotations

from typing import Any

from ...core.errors import ArgumentError, UnsupportedError
from ...eager.layer import Layer
from ...eager.param_attr import ParamAttrLike
from ...nn.initializer import Constant
from . import functional


class _Named(Layer):
    """A Layer whose text is its settings."""

    _settings: tuple[str, ...] = ()

    def extra_repr(self) -> str:
        """The settings."""
        shown = [f"{name.lstrip('_')}={getattr(self, name)}" for name in self._settings]
        return ", ".join([*shown, f"dtype={self._dtype}"])

    def _scale(self, size: int, attr: ParamAttrLike) -> Any:
        return self.create_parameter([size], attr, default_initializer=Constant(1.0))

    def _bias(self, shape: list[int], attr: ParamAttrLike) -> Any:
        return self.create_parameter(shape, attr, is_bias=True)


class FusedBiasDropoutResidualLayerNorm(_Named):
    """layer_norm(residual + dropout(x + bias)). Source: paddle.incubate.nn.FusedBiasDropoutResidualLayerNorm.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.ones([2, 3, 4])
        >>> paddle.incubate.nn.FusedBiasDropoutResidualLayerNorm(4)(x, x).shape
        paddle.Size([2, 3, 4])
    """

    _settings = ("embed_dim", "dropout_rate", "_epsilon")

    def __init__(
        self,
        embed_dim: int,
        dropout_rate: float = 0.5,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        epsilon: float = 1e-5,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.embed_dim = embed_dim
        self.linear_bias = self._bias([embed_dim], bias_attr)
        self.ln_scale = self._scale(embed_dim, weight_attr)
        self.ln_bias = self._bias([embed_dim], bias_attr)
        self.dropout_rate = dropout_rate
        self._epsilon = epsilon
        self.name = name

    def forward(self, x: Any, residual: Any) -> Any:
        """x, residual: [batch, steps, embed_dim] -> the same."""
        return functional.fused_bias_dropout_residual_layer_norm(
            x, residual, self.linear_bias, self.ln_scale, self.ln_bias, self.dropout_rate, self._epsilon, self.training
        )


class FusedMultiHeadAttention(_Named):
    """Attention of x to itself, with dropout, residual and layer norm.

    Raises ArgumentError when num_heads does not divide embed_dim, UnsupportedError for kdim or vdim of other sizes and
    need_weights. Source: paddle.incubate.nn.FusedMultiHeadAttention.

    Example:
        >>> import vitrify as paddle
        >>> paddle.incubate.nn.FusedMultiHeadAttention(8, 2)(paddle.ones([2, 3, 8])).shape
        paddle.Size([2, 3, 8])
    """

    _settings = (
        "embed_dim", "num_heads", "dropout_rate", "attn_dropout_rate", "_epsilon", "kdim", "vdim", "normalize_before",
        "need_weights",
    )  # fmt: skip

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout_rate: float = 0.5,
        attn_dropout_rate: float = 0.5,
        kdim: int | None = None,
        vdim: int | None = None,
        normalize_before: bool = False,
        need_weights: bool = False,
        qkv_weight_attr: ParamAttrLike = None,
        qkv_bias_attr: ParamAttrLike = None,
        linear_weight_attr: ParamAttrLike = None,
        linear_bias_attr: ParamAttrLike = None,
        pre_ln_scale_attr: ParamAttrLike = None,
        pre_ln_bias_attr: ParamAttrLike = None,
        ln_scale_attr: ParamAttrLike = None,
        ln_bias_attr: ParamAttrLike = None,
        epsilon: float = 1e-5,
        nranks: int = 1,
        ring_id: int = -1,
        transpose_qkv_wb: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if embed_dim < 1 or num_heads < 1 or embed_dim % num_heads:
            raise ArgumentError(
                f"FusedMultiHeadAttention: num_heads must divide embed_dim, got {num_heads} and {embed_dim}"
            )
        if need_weights or {kdim, vdim} - {None, embed_dim}:
            raise UnsupportedError("FusedMultiHeadAttention: it attends to itself, and gives no weights")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = kdim, vdim
        self.dropout_rate, self.attn_dropout_rate = dropout_rate, attn_dropout_rate
        self.normalize_before, self.need_weights = normalize_before, need_weights
        self.transpose_qkv_wb = transpose_qkv_wb
        self._epsilon = epsilon
        self.name = name
        wide = [3, num_heads, self.head_dim]
        shape, biases = [*wide, embed_dim], wide
        if transpose_qkv_wb:
            shape, biases = [embed_dim, 3 * embed_dim], [3 * embed_dim]
        self.qkv_weight = self.create_parameter(shape, qkv_weight_attr)
        self.qkv_bias = self._bias(biases, qkv_bias_attr)
        self.linear_weight = self.create_parameter([embed_dim, embed_dim], linear_weight_attr)
        self.linear_bias = self._bias([embed_dim], linear_bias_attr)
        self.pre_ln_scale = self._scale(embed_dim, pre_ln_scale_attr) if normalize_before else None
        self.pre_ln_bias = self._bias([embed_dim], pre_ln_bias_attr) if normalize_before else None
        self.ln_scale = None if normalize_before else self._scale(embed_dim, ln_scale_attr)
        self.ln_bias = None if normalize_before else self._bias([embed_dim], ln_bias_attr)

    def forward(self, query: Any, key: Any = None, value: Any = None, attn_mask: Any = None, cache: Any = None) -> Any:
        """query: [batch, steps, embed_dim] -> the same, with `cache` the longer cache too. key, value: unused."""
        return functional.fused_multi_head_attention(
            query, self.qkv_weight, self.linear_weight, self.normalize_before, self.pre_ln_scale, self.pre_ln_bias,
            self.ln_scale, self.ln_bias, self._epsilon, self.qkv_bias, self.linear_bias, cache, attn_mask,
            self.dropout_rate, self.attn_dropout_rate, self._epsilon, self.training, num_heads=self.num_heads,
            transpose_qkv_wb=self.transpose_qkv_wb,
        )  # fmt: skip


class FusedFeedForward(_Named):
    """Two linear layers, with activation, dropout, residual and layer norm.

    Source: paddle.incubate.nn.FusedFeedForward.

    Example:
        >>> import vitrify as paddle
        >>> paddle.incubate.nn.FusedFeedForward(8, 16)(paddle.ones([2, 3, 8])).shape
        paddle.Size([2, 3, 8])
    """

    _settings = (
        "_d_model", "_dim_feedforward", "_dropout_rate", "_epsilon", "_act_method", "_act_dropout_rate",
        "_normalize_before",
    )  # fmt: skip

    def __init__(
        self,
        d_model: int,
        dim_feedforward: int,
        dropout_rate: float = 0.1,
        epsilon: float = 1e-5,
        activation: str = "relu",
        act_dropout_rate: float | None = None,
        normalize_before: bool = False,
        linear1_weight_attr: ParamAttrLike = None,
        linear1_bias_attr: ParamAttrLike = None,
        linear2_weight_attr: ParamAttrLike = None,
        linear2_bias_attr: ParamAttrLike = None,
        ln1_scale_attr: ParamAttrLike = None,
        ln1_bias_attr: ParamAttrLike = None,
        ln2_scale_attr: ParamAttrLike = None,
        ln2_bias_attr: ParamAttrLike = None,
        nranks: int = 1,
        ring_id: int = -1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._d_model, self._dim_feedforward = d_model, dim_feedforward
        self._dropout_rate = dropout_rate
        self._act_dropout_rate = dropout_rate if act_dropout_rate is None else act_dropout_rate
        self._act_method, self._normalize_before, self._epsilon = activation, normalize_before, epsilon
        self._linear1_weight = self.create_parameter([d_model, dim_feedforward], linear1_weight_attr)
        self._linear1_bias = self._bias([dim_feedforward], linear1_bias_attr)
        self._linear2_weight = self.create_parameter([dim_feedforward, d_model], linear2_weight_attr)
        self._linear2_bias = self._bias([d_model], linear2_bias_attr)
        self._ln1_scale = self._scale(d_model, ln1_scale_attr) if normalize_before else None
        self._ln1_bias = self._bias([d_model], ln1_bias_attr) if normalize_before else None
        self._ln2_scale = None if normalize_before else self._scale(d_model, ln2_scale_attr)
        self._ln2_bias = None if normalize_before else self._bias([d_model], ln2_bias_attr)
        self.name = name

    def forward(self, src: Any, cache: Any = None) -> Any:
        """src: [batch, steps, d_model] -> the same."""
        return functional.fused_feedforward(
            src, self._linear1_weight, self._linear2_weight, self._linear1_bias, self._linear2_bias, self._ln1_scale,
            self._ln1_bias, self._ln2_scale, self._ln2_bias, self._act_dropout_rate, self._dropout_rate,
            self._act_method, self._epsilon, self._epsilon, self._normalize_before, self.training,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """The settings."""
        return super().extra_repr().replace("act_method", "activation")


class FusedTransformerEncoderLayer(Layer):
    """FusedMultiHeadAttention, then FusedFeedForward. Source: paddle.incubate.nn.FusedTransformerEncoderLayer.

    Example:
        >>> import vitrify as paddle
        >>> paddle.incubate.nn.FusedTransformerEncoderLayer(8, 2, 16)(paddle.ones([2, 3, 8])).shape
        paddle.Size([2, 3, 8])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout_rate: float = 0.1,
        activation: str = "relu",
        attn_dropout_rate: float | None = None,
        act_dropout_rate: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        weights, biases = (list(a) if isinstance(a, (list, tuple)) else [a, a] for a in (weight_attr, bias_attr))
        self.normalize_before = normalize_before
        self.fused_attn = FusedMultiHeadAttention(
            d_model, nhead, dropout_rate, dropout_rate if attn_dropout_rate is None else attn_dropout_rate,
            normalize_before=normalize_before, qkv_weight_attr=weights[0], qkv_bias_attr=biases[0],
            linear_weight_attr=weights[0], linear_bias_attr=biases[0], pre_ln_scale_attr=None,
            pre_ln_bias_attr=biases[0], ln_bias_attr=biases[0],
        )  # fmt: skip
        self.ffn = FusedFeedForward(
            d_model, dim_feedforward, dropout_rate, activation=activation, act_dropout_rate=act_dropout_rate,
            normalize_before=normalize_before, linear1_weight_attr=weights[1], linear1_bias_attr=biases[1],
            linear2_weight_attr=weights[1], linear2_bias_attr=biases[1],
        )  # fmt: skip

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        """src: [batch, steps, d_model] -> the same, with `cache` the longer cache too."""
        out = self.fused_attn(src, attn_mask=src_mask, cache=cache)
        return self.ffn(out) if cache is None else (self.ffn(out[0]), out[1])
