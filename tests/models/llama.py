"""LLaMA in the style of PaddleNLP: rotary positions, grouped heads, a cache, greedy and penalized generation."""

import math
from dataclasses import dataclass

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Call, Case, integers
from vitrify import nn
from vitrify.incubate.nn.functional import swiglu


@dataclass
class LlamaConfig:
    vocab_size: int = 20
    hidden_size: int = 16
    intermediate_size: int = 24
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    max_position_embeddings: int = 32
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10000.0
    eos_token_id: int = 1
    pad_token_id: int = 0


class LlamaRMSNorm(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.weight = paddle.create_parameter(
            shape=[config.hidden_size], dtype=paddle.get_default_dtype(),
            default_initializer=nn.initializer.Constant(1.0),
        )  # fmt: skip
        self.variance_epsilon = config.rms_norm_eps

    def forward(self, hidden_states):
        with paddle.amp.auto_cast(False):
            variance = hidden_states.astype("float32").pow(2).mean(-1, keepdim=True)
            hidden_states = paddle.rsqrt(variance + self.variance_epsilon) * hidden_states
        if self.weight.dtype in [paddle.float16, paddle.bfloat16]:
            hidden_states = paddle.cast(hidden_states, self.weight.dtype)
        return hidden_states * self.weight


class LlamaRotaryEmbedding(nn.Layer):
    def __init__(self, dim, max_position_embeddings, base):
        super().__init__()
        inv_freq = 1.0 / (base ** (paddle.cast(paddle.arange(0, dim, 2), dtype="float32") / dim))
        freqs = paddle.einsum("i,j->ij", paddle.arange(max_position_embeddings, dtype="float32"), inv_freq)
        emb = paddle.concat([freqs, freqs], axis=-1)
        self.cos_cached, self.sin_cached = emb.cos()[None, :, None, :], emb.sin()[None, :, None, :]

    def forward(self, x, seq_len):
        return self.cos_cached[:, :seq_len].cast(x.dtype), self.sin_cached[:, :seq_len].cast(x.dtype)


def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return paddle.concat([-x2, x1], axis=-1)


def apply_rotary_pos_emb(q, k, cos, sin, position_ids):
    cos = cos.squeeze(axis=[0, 2])[position_ids].unsqueeze(2)
    sin = sin.squeeze(axis=[0, 2])[position_ids].unsqueeze(2)
    return (q * cos) + (rotate_half(q) * sin), (k * cos) + (rotate_half(k) * sin)


def repeat_kv(hidden_states, n_rep):
    batch, slen, num_key_value_heads, head_dim = hidden_states.shape
    if n_rep == 1:
        return hidden_states
    hidden_states = hidden_states.unsqueeze(-2).tile([1, 1, 1, n_rep, 1])
    return hidden_states.reshape([batch, slen, num_key_value_heads * n_rep, head_dim])


class LlamaAttention(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.head_dim = config.hidden_size // config.num_attention_heads
        kv = config.num_key_value_heads * self.head_dim
        self.q_proj = nn.Linear(config.hidden_size, config.hidden_size, bias_attr=False)
        self.k_proj, self.v_proj = (nn.Linear(config.hidden_size, kv, bias_attr=False) for _ in range(2))
        self.o_proj = nn.Linear(config.hidden_size, config.hidden_size, bias_attr=False)
        self.rotary_emb = LlamaRotaryEmbedding(self.head_dim, config.max_position_embeddings, config.rope_theta)

    def forward(self, hidden_states, position_ids, attention_mask, past_key_value=None, use_cache=False):
        heads, groups = self.config.num_attention_heads, self.config.num_key_value_heads
        q = self.q_proj(hidden_states).reshape([0, 0, heads, self.head_dim])
        k = self.k_proj(hidden_states).reshape([0, 0, groups, self.head_dim])
        v = self.v_proj(hidden_states).reshape([0, 0, groups, self.head_dim])
        kv_seq_len = k.shape[-3] + (past_key_value[0].shape[-3] if past_key_value is not None else 0)
        cos, sin = self.rotary_emb(v, kv_seq_len)
        q, k = apply_rotary_pos_emb(q, k, cos, sin, position_ids)
        if past_key_value is not None:
            k = paddle.concat([past_key_value[0], k], axis=1)
            v = paddle.concat([past_key_value[1], v], axis=1)
        past_key_value = (k, v) if use_cache else None
        k, v = repeat_kv(k, heads // groups), repeat_kv(v, heads // groups)
        q, k, v = (t.transpose([0, 2, 1, 3]) for t in (q, k, v))
        weights = paddle.matmul(q / math.sqrt(self.head_dim), k.transpose([0, 1, 3, 2])) + attention_mask
        weights = F.softmax(weights, axis=-1, dtype="float32").astype(q.dtype)
        output = paddle.matmul(weights, v).transpose([0, 2, 1, 3])
        return self.o_proj(output.reshape([0, 0, heads * self.head_dim])), past_key_value


class LlamaDecoderLayer(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.self_attn = LlamaAttention(config)
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias_attr=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias_attr=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias_attr=False)
        self.input_layernorm, self.post_attention_layernorm = LlamaRMSNorm(config), LlamaRMSNorm(config)

    def forward(self, x, *args):
        attended, past = self.self_attn(self.input_layernorm(x), *args)
        x = x + attended
        normed = self.post_attention_layernorm(x)
        return x + self.down_proj(swiglu(self.gate_proj(normed), self.up_proj(normed))), past


class LlamaForCausalLM(nn.Layer):
    def __init__(self, config=None):
        super().__init__()
        self.config = config = config or LlamaConfig()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.LayerList([LlamaDecoderLayer(config) for _ in range(config.num_hidden_layers)])
        self.norm = LlamaRMSNorm(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias_attr=False)
        self.apply(self._init_weights)

    def _init_weights(self, layer):
        if isinstance(layer, (nn.Linear, nn.Embedding)):
            layer.weight.set_value(paddle.tensor.normal(mean=0.0, std=0.2, shape=layer.weight.shape))

    def _prepare_mask(self, batch, length, past):
        mask = paddle.tril(paddle.ones((length, length), dtype="bool"))
        if past > 0:
            mask = paddle.concat([paddle.ones([length, past], dtype="bool"), mask], axis=-1)
        mask = mask[None, None, :, :].expand([batch, 1, length, length + past])
        return paddle.where(mask, paddle.to_tensor(0.0), paddle.to_tensor(paddle.finfo(paddle.float32).min))

    def forward(self, input_ids, past_key_values=None, use_cache=False):
        batch, length = input_ids.shape
        past_key_values = past_key_values or tuple([None] * len(self.layers))
        past = past_key_values[0][0].shape[1] if past_key_values[0] is not None else 0
        position_ids = paddle.arange(past, past + length, dtype="int64").expand((batch, length))
        mask = self._prepare_mask(batch, length, past)
        hidden_states = self.embed_tokens(input_ids)
        cache = ()
        for layer, past_key_value in zip(self.layers, past_key_values):
            hidden_states, present = layer(hidden_states, position_ids, mask, past_key_value, use_cache)
            cache = (*cache, present)
        logits = self.lm_head(self.norm(hidden_states))
        return (logits, cache) if use_cache else logits

    @paddle.no_grad()
    def generate(self, input_ids, max_new_tokens=5, repetition_penalty=1.3):
        origin_len = input_ids.shape[1]
        past, step_ids = None, input_ids
        unfinished = paddle.full([input_ids.shape[0], 1], True, dtype="bool")
        scores = paddle.zeros([input_ids.shape[0], 1])
        for _ in range(max_new_tokens):
            logits, past = self(step_ids, past, use_cache=True)
            logits = logits[:, -1, :]
            score = paddle.index_sample(logits, input_ids)
            score = paddle.where(score < 0, score * repetition_penalty, score / repetition_penalty)
            logits = paddle.put_along_axis(logits, input_ids, score, axis=1)
            step_ids = paddle.argmax(logits, axis=-1).unsqueeze(-1)
            next_scores = paddle.index_sample(F.log_softmax(logits), step_ids)
            scores = paddle.where(unfinished, scores + next_scores, scores)
            step_ids = paddle.where(unfinished, step_ids, paddle.full_like(step_ids, self.config.pad_token_id))
            input_ids = paddle.concat([input_ids, step_ids], axis=1)
            unfinished = paddle.logical_and(unfinished, step_ids != self.config.eos_token_id)
            if not paddle.any(unfinished):
                break
        return input_ids[:, origin_len:], scores


def next_words(logits, words):
    return F.cross_entropy(logits[:, :-1].reshape([-1, 20]), words[:, 1:].flatten(), ignore_index=-100)


CASES = [
    Case(
        name="LLaMA", build=LlamaForCausalLM, inputs=integers(20, 6, low=2), labels=integers(20, 6, low=2),
        loss=next_words, calls=(Call("generate", integers(20, 4, low=2)),),
    ),
]  # fmt: skip
