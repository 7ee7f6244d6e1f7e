"""T5: relative position buckets, an encoder and a decoder with caches, beam search in a loop that a tensor stops."""

import math

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Call, Case, integers, together
from tests.models.model_outputs import Seq2SeqLMOutput
from vitrify import nn


class T5Config(dict):
    """A dict with attributes, as many repositories have it."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def tiny(**kwargs):
    return T5Config(
        dict(
            vocab_size=16, d_model=12, d_kv=4, d_ff=16, num_layers=2, num_heads=3, num_buckets=8, dropout_rate=0.0,
            layer_norm_epsilon=1e-6, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0, tie_word_embeddings=True,
            feed_forward_proj="gated-gelu", use_cache=True,
        ),
        **kwargs,
    )  # fmt: skip


class T5LayerNorm(nn.Layer):
    """No bias and no subtraction of mean."""

    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = self.create_parameter(shape=[hidden_size], default_initializer=nn.initializer.Constant(1.0))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        variance = paddle.pow(hidden_states.astype(paddle.float32), 2).mean(axis=-1, keepdim=True)
        hidden_states = hidden_states * paddle.rsqrt(variance + self.variance_epsilon)
        if self.weight.dtype == paddle.float16:
            hidden_states = hidden_states.astype(paddle.float16)
        return self.weight * hidden_states


class T5DenseGatedGelu(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.wi_0 = nn.Linear(config.d_model, config.d_ff, bias_attr=False)
        self.wi_1 = nn.Linear(config.d_model, config.d_ff, bias_attr=False)
        self.wo = nn.Linear(config.d_ff, config.d_model, bias_attr=False)
        self.dropout = nn.Dropout(config.dropout_rate)

    def forward(self, x):
        return self.wo(self.dropout(F.gelu(self.wi_0(x)) * self.wi_1(x)))


class T5DenseRelu(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.wi = nn.Linear(config.d_model, config.d_ff, bias_attr=False)
        self.wo = nn.Linear(config.d_ff, config.d_model, bias_attr=False)

    def forward(self, x):
        return self.wo(F.relu(self.wi(x)))


ACT = {"relu": T5DenseRelu, "gated-gelu": T5DenseGatedGelu}


class T5Attention(nn.Layer):
    def __init__(self, config, is_decoder=False, has_relative_attention_bias=False):
        super().__init__()
        self.is_decoder = is_decoder
        self.has_relative_attention_bias = has_relative_attention_bias
        self.relative_attention_num_buckets = config.num_buckets
        self.n_heads = config.num_heads
        self.key_value_proj_dim = config.d_kv
        self.inner_dim = self.n_heads * self.key_value_proj_dim
        self.q = nn.Linear(config.d_model, self.inner_dim, bias_attr=False)
        self.k = nn.Linear(config.d_model, self.inner_dim, bias_attr=False)
        self.v = nn.Linear(config.d_model, self.inner_dim, bias_attr=False)
        self.o = nn.Linear(self.inner_dim, config.d_model, bias_attr=False)
        if self.has_relative_attention_bias:
            self.relative_attention_bias = nn.Embedding(self.relative_attention_num_buckets, self.n_heads)

    @staticmethod
    def _relative_position_bucket(relative_position, bidirectional=True, num_buckets=32, max_distance=128):
        relative_buckets = 0
        if bidirectional:
            num_buckets //= 2
            relative_buckets += (relative_position > 0).astype(paddle.int64) * num_buckets
            relative_position = paddle.abs(relative_position)
        else:
            relative_position = -paddle.minimum(relative_position, paddle.zeros_like(relative_position))
        max_exact = num_buckets // 2
        is_small = relative_position < max_exact
        relative_position_if_large = max_exact + (
            paddle.log(relative_position.astype(paddle.get_default_dtype()) / max_exact)
            / math.log(max_distance / max_exact)
            * (num_buckets - max_exact)
        ).astype(paddle.int64)
        relative_position_if_large = paddle.minimum(
            relative_position_if_large, paddle.full_like(relative_position_if_large, num_buckets - 1)
        )
        relative_buckets += paddle.where(is_small, relative_position, relative_position_if_large)
        return relative_buckets

    def compute_bias(self, query_length, key_length):
        context_position = paddle.arange(query_length).unsqueeze(-1)
        memory_position = paddle.arange(key_length).unsqueeze(0)
        bucket = self._relative_position_bucket(
            memory_position - context_position, bidirectional=not self.is_decoder,
            num_buckets=self.relative_attention_num_buckets, max_distance=16,
        )  # fmt: skip
        return self.relative_attention_bias(bucket).transpose(perm=[2, 0, 1]).unsqueeze(0)

    def forward(
        self, hidden_states, mask=None, key_value_states=None, position_bias=None, cache=None, use_cache=False,
        query_length=None,
    ):  # fmt: skip
        batch_size, seq_length = paddle.shape(hidden_states)[:2]
        real_seq_length = seq_length
        if cache is not None:
            assert len(cache) == 2, f"cache should have 2 past states: keys and values. Got {len(cache)} past states"
            real_seq_length += cache[0].shape[2] if query_length is None else query_length
        key_length = real_seq_length if key_value_states is None else key_value_states.shape[1]

        def shape(states):
            return states.reshape(shape=[batch_size, -1, self.n_heads, self.key_value_proj_dim]).transpose([0, 2, 1, 3])

        def unshape(states):
            return states.transpose([0, 2, 1, 3]).reshape([batch_size, -1, self.inner_dim])

        def project(hidden_states, proj_layer, key_value_states, cache):
            if key_value_states is None:
                hidden_states = shape(proj_layer(hidden_states))
            elif cache is None:
                hidden_states = shape(proj_layer(key_value_states))
            if cache is not None:
                if key_value_states is None:
                    hidden_states = paddle.concat([cache, hidden_states], axis=2)
                else:
                    hidden_states = cache
            return hidden_states

        query_states = shape(self.q(hidden_states))
        key_states = project(hidden_states, self.k, key_value_states, cache[0] if cache is not None else None)
        value_states = project(hidden_states, self.v, key_value_states, cache[1] if cache is not None else None)
        scores = paddle.matmul(query_states, key_states, transpose_y=True)
        if position_bias is None:
            if not self.has_relative_attention_bias:
                position_bias = paddle.zeros(shape=(1, self.n_heads, real_seq_length, key_length))
            else:
                position_bias = self.compute_bias(real_seq_length, key_length)
            if cache is not None:
                position_bias = position_bias[:, :, -hidden_states.shape[1] :, :]
            if mask is not None:
                position_bias = position_bias + mask
        scores += position_bias
        attn_weights = F.softmax(scores.astype(paddle.float32), axis=-1).astype(scores.dtype)
        attn_output = self.o(unshape(paddle.matmul(attn_weights, value_states)))
        present = (key_states, value_states) if (self.is_decoder and use_cache) else None
        return (attn_output, present, position_bias)


class T5Block(nn.Layer):
    def __init__(self, config, is_decoder, has_relative_attention_bias=False):
        super().__init__()
        self.is_decoder = is_decoder
        self.norms = nn.LayerList(
            [T5LayerNorm(config.d_model, config.layer_norm_epsilon) for _ in range(2 + is_decoder)]
        )
        self.layer = nn.LayerList([T5Attention(config, is_decoder, has_relative_attention_bias)])
        if is_decoder:
            self.layer.append(T5Attention(config, is_decoder))
        self.layer.append(ACT[config.feed_forward_proj](config))
        self.dropout = nn.Dropout(config.dropout_rate)

    def forward(
        self, hidden_states, attention_mask=None, position_bias=None, encoder_hidden_states=None,
        encoder_attention_mask=None, encoder_decoder_position_bias=None, cache=None, use_cache=False,
    ):  # fmt: skip
        self_cache, cross_cache = (cache[:2], cache[2:]) if cache is not None else (None, None)
        out, present, position_bias = self.layer[0](
            self.norms[0](hidden_states), mask=attention_mask, position_bias=position_bias, cache=self_cache,
            use_cache=use_cache,
        )  # fmt: skip
        hidden_states = hidden_states + self.dropout(out)
        if self.is_decoder and encoder_hidden_states is not None:
            query_length = present[0].shape[2] if present is not None else None
            out, cross, encoder_decoder_position_bias = self.layer[1](
                self.norms[1](hidden_states), key_value_states=encoder_hidden_states, mask=encoder_attention_mask,
                position_bias=encoder_decoder_position_bias, cache=cross_cache, query_length=query_length,
                use_cache=use_cache,
            )  # fmt: skip
            hidden_states = hidden_states + self.dropout(out)
            if present is not None:
                present = present + cross
        hidden_states = hidden_states + self.dropout(self.layer[-1](self.norms[-1](hidden_states)))
        return hidden_states, present, position_bias, encoder_decoder_position_bias


class T5Stack(nn.Layer):
    def __init__(self, config, embed_tokens, is_decoder):
        super().__init__()
        self.is_decoder = is_decoder
        self.embed_tokens = embed_tokens
        self.block = nn.LayerList([T5Block(config, is_decoder, i == 0) for i in range(config.num_layers)])
        self.final_layer_norm = T5LayerNorm(config.d_model, eps=config.layer_norm_epsilon)

    def forward(self, input_ids, encoder_hidden_states=None, encoder_attention_mask=None, cache=None, use_cache=False):
        hidden_states = self.embed_tokens(input_ids)
        batch_size, seq_length = input_ids.shape
        mask_length = cache[0][0].shape[2] + seq_length if cache is not None else seq_length
        if self.is_decoder:
            causal = paddle.tril(paddle.ones([mask_length, mask_length]))[-seq_length:]
            mask = (1.0 - causal.unsqueeze([0, 1])) * -1e4
        else:
            mask = (input_ids == 0).astype("float32").unsqueeze([1, 2]) * -1e4
        if cache is None:
            cache = [None] * len(self.block)
        presents = () if use_cache else None
        position_bias = cross_bias = None
        for i, (layer, past) in enumerate(zip(self.block, cache)):
            hidden_states, present, position_bias, cross_bias = layer(
                hidden_states, mask, position_bias, encoder_hidden_states, encoder_attention_mask, cross_bias, past,
                use_cache,
            )  # fmt: skip
            if use_cache:
                presents = (*presents, present)
        return self.final_layer_norm(hidden_states), presents


class T5ForConditionalGeneration(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.t5_config = config
        self.shared = nn.Embedding(config["vocab_size"], config["d_model"])
        self.encoder = T5Stack(config, self.shared, is_decoder=False)
        self.decoder = T5Stack(config, self.shared, is_decoder=True)
        if not config.tie_word_embeddings:
            self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias_attr=False)
        self.apply(self._init_weights)

    def _init_weights(self, layer):
        factor = 1.0
        if isinstance(layer, T5LayerNorm):
            layer.weight.set_value(paddle.ones_like(layer.weight) * factor)
        elif layer.__class__.__name__ == "Linear":
            layer.weight.set_value(paddle.normal(mean=0.0, std=0.25, shape=layer.weight.shape))
        elif isinstance(layer, nn.Embedding):
            layer.weight.set_value(paddle.normal(mean=0.0, std=0.5, shape=layer.weight.shape))

    def _shift_right(self, input_ids):
        start = self.t5_config.decoder_start_token_id
        shifted_input_ids = paddle.zeros_like(input_ids)
        shifted_input_ids[:, 1:] = input_ids[:, :-1].clone()
        shifted_input_ids[:, 0] = start
        return paddle.where(shifted_input_ids == -100, paddle.full_like(shifted_input_ids, 0), shifted_input_ids)

    def logits(self, sequence_output):
        if self.t5_config["tie_word_embeddings"]:
            sequence_output = sequence_output * (self.t5_config["d_model"] ** -0.5)
            return paddle.matmul(sequence_output, self.shared.weight, transpose_y=True)
        return self.lm_head(sequence_output)

    def encode(self, input_ids):
        memory, _ = self.encoder(input_ids)
        return memory, (input_ids == 0).astype("float32").unsqueeze([1, 2]) * -1e4

    def forward(self, input_ids, labels, return_dict=True):
        memory, memory_mask = self.encode(input_ids)
        hidden, cache = self.decoder(self._shift_right(labels), memory, memory_mask, use_cache=not self.training)
        lm_logits = self.logits(hidden)
        loss = F.cross_entropy(lm_logits.flatten(stop_axis=1), labels.flatten(), ignore_index=-100)
        if not return_dict:
            return loss, lm_logits
        return Seq2SeqLMOutput(loss=loss, logits=lm_logits, past_key_values=cache, encoder_last_hidden_state=memory)

    @paddle.no_grad()
    def greedy_search(self, input_ids, max_length=5):
        """The best token of each step; there is no cache in the first, and none is kept behind the last."""
        config = self.t5_config
        memory, memory_mask = self.encode(input_ids)
        ids = paddle.full([input_ids.shape[0], 1], config.decoder_start_token_id, dtype="int64")
        unfinished = paddle.full([input_ids.shape[0], 1], True, dtype="bool")
        cache = None
        cur_len = 1
        while cur_len < max_length:
            hidden, present = self.decoder(
                ids if cache is None else ids[:, -1:], memory, memory_mask, cache=cache, use_cache=True
            )
            tokens = paddle.argmax(self.logits(hidden[:, -1]), axis=-1).unsqueeze(-1)
            tokens = paddle.where(unfinished, tokens, paddle.full_like(tokens, config.pad_token_id))
            ids = paddle.concat([ids, tokens], axis=1)
            unfinished = paddle.logical_and(unfinished, tokens != config.eos_token_id)
            cur_len += 1
            if not paddle.any(unfinished):
                break
            cache = present
        return ids

    @paddle.no_grad()
    def beam_search(self, input_ids, num_beams=2, max_length=5, length_penalty=0.6):
        """Beams as rows of one batch; caches are gathered along when beams are reordered."""
        config = self.t5_config
        batch_size = input_ids.shape[0]
        vocab_size = config.vocab_size
        memory, memory_mask = self.encode(input_ids)

        def repeat(x):
            tile = [1] * (x.ndim + 1)
            tile[1] = num_beams
            return paddle.tile(x.unsqueeze(1), tile).flatten(stop_axis=1)

        memory, memory_mask = repeat(memory), repeat(memory_mask)
        ids = paddle.full([batch_size * num_beams, 1], config.decoder_start_token_id, dtype="int64")
        first = paddle.to_tensor([0.0] + [-1e9] * (num_beams - 1)).unsqueeze(0)
        beam_scores = paddle.expand(first, [batch_size, num_beams]).flatten()
        finished = paddle.zeros([batch_size * num_beams], dtype="bool")
        offset = (paddle.arange(batch_size) * num_beams).unsqueeze(-1)
        only_pad = paddle.full([vocab_size], -1e9)
        only_pad[config.pad_token_id] = 0.0
        cache = None
        step = 0
        while step < max_length:
            hidden, cache = self.decoder(
                ids if cache is None else ids[:, -1:], memory, memory_mask, cache=cache, use_cache=True
            )
            log_probs = F.log_softmax(self.logits(hidden[:, -1]), axis=-1)
            log_probs = paddle.where(finished.unsqueeze(-1), only_pad.unsqueeze(0), log_probs)
            scores = (log_probs + beam_scores.unsqueeze(-1)).reshape([batch_size, num_beams * vocab_size])
            scores, picked = paddle.topk(scores, num_beams, axis=1)
            beam_scores = scores.flatten()
            source = (picked // vocab_size + offset).flatten()
            tokens = (picked % vocab_size).reshape([-1, 1])
            ids = paddle.concat([paddle.index_select(ids, source), tokens], axis=-1)
            finished = paddle.logical_or(finished.gather(source), tokens.squeeze(-1) == config.eos_token_id)
            cache = tuple(tuple(paddle.index_select(state, source) for state in past) for past in cache)
            step += 1
            if finished.all():
                break
        lengths = (ids != config.pad_token_id).astype("float32").sum(-1)
        final = beam_scores / ((5.0 + lengths) / 6.0) ** length_penalty
        best = final.reshape([batch_size, num_beams]).argmax(-1) + offset.squeeze(-1)
        return paddle.gather(ids, best), paddle.gather(final, best)


SOURCE = integers(16, 6, low=1)
CASES = [
    Case(
        "T5", lambda: T5ForConditionalGeneration(tiny()), together(SOURCE, integers(16, 5, low=2)),
        lambda outputs: outputs["loss"], calls=(Call("beam_search", SOURCE), Call("greedy_search", SOURCE)),
        specs=((None, None), (None, None)), sizes=(2, 3), slow=True,
    ),
    Case(
        "T5 untied", lambda: T5ForConditionalGeneration(tiny(tie_word_embeddings=False, feed_forward_proj="relu")),
        together(SOURCE, integers(16, 5, low=2)), lambda outputs: outputs[0], slow=True,
    ),
]  # fmt: skip
