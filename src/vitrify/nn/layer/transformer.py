"""Transformer encoders and decoders."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from ...core.dtype import as_dtype, default_dtype
from ...core.errors import ArgumentError
from ...eager.layer import Layer
from ...eager.param_attr import ParamAttr, ParamAttrLike, as_param_attr
from ...ops.creation import full
from ...ops.diagonal import triu
from .. import functional as F
from .attention import MultiHeadAttention, additive_mask
from .common import Dropout, Linear
from .container import LayerList
from .norm import LayerNorm

Attrs = ParamAttrLike | Sequence[ParamAttrLike]


def _convert_param_attr_to_list(param_attr: Any, n: int) -> list[ParamAttr | bool]:
    """`n` attributes, False for a parameter that is not made: those of a list, or numbered copies of one.

    Source: paddle.nn.layer.transformer._convert_param_attr_to_list, which layers of user code call.
    """
    if isinstance(param_attr, (list, tuple)):
        if len(param_attr) != n:
            raise ArgumentError(f"length of param_attr should be {n} when it is a list/tuple, got {len(param_attr)}")
        return [as_param_attr(attr) or False for attr in param_attr]
    attr = as_param_attr(param_attr)
    if attr is None:
        return [False] * n
    copies = [copy.copy(attr) for _ in range(n)]
    for i, each in enumerate(copies):
        each.name = attr.name and f"{attr.name}_{i}"
    return list(copies)


def _spread(attr: Any, parts: int, owner: str) -> list[Any]:
    """One attribute for each part, attentions first, the feed-forward network last; one for all gets numbered names."""
    if not isinstance(attr, (list, tuple)):
        return list(_convert_param_attr_to_list(attr, parts))
    given = list(attr)
    if len(given) not in (1, 2, parts):
        raise ArgumentError(f"{owner}: a list of attributes has 1 to {parts} entries, got {len(given)}")
    return given if len(given) == parts else [given[0]] * (parts - 1) + [given[-1]]


def _without_cross(given: Any, spread: list[Any]) -> Any:
    """What an encoder layer takes of the three: one attribute for all it numbers itself."""
    return [spread[0], spread[2]] if isinstance(given, (list, tuple)) else given


def _settings(arguments: dict[str, Any]) -> dict[str, Any]:
    """A constructor's arguments out of its local variables, with which `_copies` makes another such layer."""
    return {name: value for name, value in arguments.items() if name not in ("self", "__class__")}


class _Block(Layer):
    """What encoder and decoder layers share: the feed-forward network and the way each part is wrapped."""

    def _build(
        self, attentions: Sequence[str], d_model: int, nhead: int, dim_feedforward: int, dropout: float,
        activation: str, attn_dropout: float | None, act_dropout: float | None, normalize_before: bool,
        weight_attr: Attrs, bias_attr: Attrs, layer_norm_eps: float,
    ) -> None:  # fmt: skip
        """Make an attention under each of these names, the feed-forward network, and what wraps each of them."""
        parts = len(attentions) + 1
        weights = _spread(weight_attr, parts, type(self).__name__)
        biases = _spread(bias_attr, parts, type(self).__name__)
        drop = dropout if attn_dropout is None else attn_dropout
        for name, weight, bias in zip(attentions, weights, biases):
            setattr(self, name, MultiHeadAttention(d_model, nhead, drop, weight_attr=weight, bias_attr=bias))
        self.normalize_before = normalize_before
        self.linear1 = Linear(d_model, dim_feedforward, weights[-1], biases[-1])
        self.dropout = Dropout(dropout if act_dropout is None else act_dropout, mode="upscale_in_train")
        self.linear2 = Linear(dim_feedforward, d_model, weights[-1], biases[-1])
        for i in range(1, parts + 1):
            setattr(self, f"norm{i}", LayerNorm(d_model, epsilon=layer_norm_eps))
        for i in range(1, parts + 1):
            setattr(self, f"dropout{i}", Dropout(dropout, mode="upscale_in_train"))
        self.activation = getattr(F, activation)

    def _before(self, part: int, x: Any) -> Any:
        return getattr(self, f"norm{part}")(x) if self.normalize_before else x

    def _after(self, part: int, residual: Any, x: Any) -> Any:
        x = residual + getattr(self, f"dropout{part}")(x)
        return x if self.normalize_before else getattr(self, f"norm{part}")(x)

    def _feed_forward(self, part: int, x: Any) -> Any:
        hidden = self.dropout(self.activation(self.linear1(self._before(part, x))))
        return self._after(part, x, self.linear2(hidden))


def _first(outputs: Any) -> Any:
    """The attention output among what MultiHeadAttention returns."""
    return outputs[0] if isinstance(outputs, tuple) else outputs


class TransformerEncoderLayer(_Block):
    """Self attention and a feed-forward network, each with dropout, residual connection and layer normalization.

    normalize_before: normalize the input of each part instead of its output. weight_attr, bias_attr: one for all, or a
    list: attention, feed-forward. Source: paddle.nn.TransformerEncoderLayer; Vaswani 2017.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.TransformerEncoderLayer(16, nhead=2, dim_feedforward=32)(paddle.ones([2, 5, 16])).shape
        paddle.Size([2, 5, 16])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Attrs = None,
        bias_attr: Attrs = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        super().__init__()
        self._config = _settings(locals())
        self._build(("self_attn",), **self._config)

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        """src: [N, L, d_model] -> the same shape, in a tuple with the new cache if one is given."""
        x = self._before(1, src)
        outputs = self.self_attn(x, x, x, additive_mask(src_mask, x.dtype), cache)
        out = self._feed_forward(2, self._after(1, src, _first(outputs)))
        return out if cache is None else (out, outputs[-1])

    def gen_cache(self, src: Any) -> Any:
        """An empty cache for inputs like `src`."""
        return self.self_attn.gen_cache(src, type=MultiHeadAttention.Cache)


class TransformerDecoderLayer(_Block):
    """Self attention, attention to the encoder's output, and a feed-forward network.

    Arguments as TransformerEncoderLayer's; lists of attributes: self attention, cross attention, feed-forward.
    Source: paddle.nn.TransformerDecoderLayer; Vaswani 2017.

    Example:
        >>> import vitrify as paddle
        >>> layer = paddle.nn.TransformerDecoderLayer(16, nhead=2, dim_feedforward=32)
        >>> layer(paddle.ones([2, 4, 16]), memory=paddle.ones([2, 5, 16])).shape
        paddle.Size([2, 4, 16])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Attrs = None,
        bias_attr: Attrs = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        super().__init__()
        self._config = _settings(locals())
        self._build(("self_attn", "cross_attn"), **self._config)

    def forward(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None) -> Any:
        """tgt: [N, L, d_model], memory: [N, S, d_model] -> [N, L, d_model], with the new caches if any are given."""
        own, static = (None, None) if cache is None else cache
        x = self._before(1, tgt)
        attended = self.self_attn(x, x, x, additive_mask(tgt_mask, x.dtype), own)
        tgt = self._after(1, tgt, _first(attended))
        x = self._before(2, tgt)
        crossed = self.cross_attn(x, memory, memory, additive_mask(memory_mask, x.dtype), static)
        out = self._feed_forward(3, self._after(2, tgt, _first(crossed)))
        return out if cache is None else (out, (attended[-1], crossed[-1]))

    def gen_cache(self, memory: Any) -> Any:
        """An empty cache for the self attention and a static one of `memory`."""
        own = self.self_attn.gen_cache(memory, type=MultiHeadAttention.Cache)
        return own, self.cross_attn.gen_cache(memory, memory, type=MultiHeadAttention.StaticCache)


def _copies(layer: Any, count: int) -> LayerList:
    """`layer` and layers like it with weights of their own."""
    config = getattr(layer, "_config", None)
    others = [copy.deepcopy(layer) if config is None else type(layer)(**config) for _ in range(count - 1)]
    return LayerList([layer, *others])


class TransformerEncoder(Layer):
    """A stack of encoder layers made like `encoder_layer`. Source: paddle.nn.TransformerEncoder.

    norm: a LayerNorm for the output.

    Example:
        >>> import vitrify as paddle
        >>> layer = paddle.nn.TransformerEncoderLayer(16, nhead=2, dim_feedforward=32)
        >>> paddle.nn.TransformerEncoder(layer, num_layers=2)(paddle.ones([2, 5, 16])).shape
        paddle.Size([2, 5, 16])
    """

    def __init__(self, encoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        """src: [N, L, d_model] -> the same shape, in a tuple with the list of new caches if one is given."""
        mask = additive_mask(src_mask, src.dtype)
        caches = []
        out = src
        for i, layer in enumerate(self.layers):
            if cache is None:
                out = layer(out, src_mask=mask)
            else:
                out, fresh = layer(out, src_mask=mask, cache=cache[i])
                caches.append(fresh)
        out = out if self.norm is None else self.norm(out)
        return out if cache is None else (out, caches)

    def gen_cache(self, src: Any) -> list[Any]:
        """An empty cache for each layer."""
        return [layer.gen_cache(src) for layer in self.layers]


class TransformerDecoder(Layer):
    """A stack of decoder layers made like `decoder_layer`. Source: paddle.nn.TransformerDecoder.

    norm: a LayerNorm for the output.

    Example:
        >>> import vitrify as paddle
        >>> layer = paddle.nn.TransformerDecoderLayer(16, nhead=2, dim_feedforward=32)
        >>> decoder = paddle.nn.TransformerDecoder(layer, num_layers=2)
        >>> decoder(paddle.ones([2, 4, 16]), paddle.ones([2, 5, 16])).shape
        paddle.Size([2, 4, 16])
    """

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None) -> Any:
        """tgt: [N, L, d_model], memory: [N, S, d_model] -> [N, L, d_model], with the list of new caches if given."""
        masks = {
            "tgt_mask": additive_mask(tgt_mask, tgt.dtype),
            "memory_mask": additive_mask(memory_mask, memory.dtype),
        }
        caches = []
        out = tgt
        for i, layer in enumerate(self.layers):
            if cache is None:
                out = layer(out, memory, **masks)
            else:
                out, fresh = layer(out, memory, cache=cache[i], **masks)
                caches.append(fresh)
        out = out if self.norm is None else self.norm(out)
        return out if cache is None else (out, caches)

    def gen_cache(self, memory: Any, do_zip: bool = False) -> list[Any]:
        """The caches of each layer; with do_zip the list of all growing ones and that of all static ones."""
        caches = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*caches)) if do_zip else caches


class Transformer(Layer):
    """An encoder and a decoder, without embeddings and output projection. Source: paddle.nn.Transformer; Vaswani 2017.

    weight_attr, bias_attr: one for all, or a list of 1 to 3: self attention, cross attention, feed-forward.
    custom_encoder, custom_decoder: Layers to use instead.

    Example:
        >>> import vitrify as paddle
        >>> model = paddle.nn.Transformer(16, 2, 1, 1, 32)
        >>> model(paddle.ones([2, 4, 16]), paddle.ones([2, 6, 16])).shape
        paddle.Size([2, 6, 16])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Attrs = None,
        bias_attr: Attrs = None,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
    ) -> None:
        super().__init__()
        rest = (dim_feedforward, dropout, activation, attn_dropout, act_dropout, normalize_before)
        weights = _spread(weight_attr, 3, "Transformer")
        biases = _spread(bias_attr, 3, "Transformer")
        self.encoder = custom_encoder
        if custom_encoder is None:
            outer = (_without_cross(weight_attr, weights), _without_cross(bias_attr, biases))
            encoder_layer = TransformerEncoderLayer(d_model, nhead, *rest, *outer)
            self.encoder = TransformerEncoder(encoder_layer, num_encoder_layers, LayerNorm(d_model))
        self.decoder = custom_decoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(d_model, nhead, *rest, weights, biases)
            self.decoder = TransformerDecoder(decoder_layer, num_decoder_layers, LayerNorm(d_model))
        self.d_model = d_model
        self.nhead = nhead

    def forward(self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None) -> Any:
        """src: [N, S, d_model], tgt: [N, L, d_model] -> [N, L, d_model]."""
        memory = self.encoder(src, src_mask=additive_mask(src_mask, src.dtype))
        return self.decoder(
            tgt,
            memory,
            tgt_mask=additive_mask(tgt_mask, tgt.dtype),
            memory_mask=additive_mask(memory_mask, memory.dtype),
        )

    def generate_square_subsequent_mask(self, length: int) -> Any:
        """A mask [length, length] with -inf wherever a position would see a later one."""
        return triu(full([length, length], float("-inf"), default_dtype()), 1)


def _convert_attention_mask(attn_mask: Any, dtype: Any) -> Any:
    """`additive_mask` under the name that model code imports from here."""
    return additive_mask(attn_mask, as_dtype(dtype))


__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer",
]  # fmt: skip
