"""GPT in the style of PaddleNLP: caches as tuples of tuples, masks from `triu`, generation with logits processors."""

import math
from abc import ABC
from collections import OrderedDict
from collections.abc import Callable

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Call, Case, integers
from tests.models.model_outputs import BaseModelOutput, CausalLMOutput
from vitrify import nn

ACT2FN = {"gelu": F.gelu, "gelu_new": lambda x: F.gelu(x, approximate=True), "relu": F.relu}


class GPTConfig:
    def __init__(self, **kwargs):
        defaults = dict(
            vocab_size=20, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
            hidden_act="gelu_new", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, initializer_range=0.2,
            max_position_embeddings=32, eos_token_id=1, pad_token_id=0, bos_token_id=2, fuse_attention_qkv=False,
            scale_qk_coeff=1.0, use_cache=True,
        )  # fmt: skip
        defaults.update(kwargs)
        self.__dict__.update(defaults)

    @classmethod
    def from_dict(cls, d):
        return cls(**{k: v for k, v in d.items() if not k.startswith("_")})


class MultiHeadAttention(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.num_attention_heads = config.num_attention_heads
        self.head_dim = config.hidden_size // config.num_attention_heads
        assert self.head_dim * config.num_attention_heads == config.hidden_size, "hidden_size must be divisible"
        if config.fuse_attention_qkv:
            self.qkv_proj = nn.Linear(config.hidden_size, 3 * config.hidden_size)
        else:
            for name in ("q_proj", "k_proj", "v_proj"):
                setattr(self, name, nn.Linear(config.hidden_size, config.hidden_size))
        self.out_proj = nn.Linear(config.hidden_size, config.hidden_size)

    def _fuse_prepare_qkv(self, query):
        mix_layer = self.qkv_proj(query)
        mix_layer = paddle.reshape_(mix_layer, [0, 0, -1, 3 * self.head_dim])
        mix_layer = paddle.transpose(mix_layer, [0, 2, 1, 3])
        return paddle.split(mix_layer, num_or_sections=3, axis=-1)

    def _prepare_qkv(self, query, use_cache=False, past_key_value=None):
        if self.config.fuse_attention_qkv:
            q, k, v = self._fuse_prepare_qkv(query)
        else:
            q, k, v = (
                getattr(self, f"{name}_proj")(query)
                .reshape([0, 0, self.num_attention_heads, self.head_dim])
                .transpose(perm=[0, 2, 1, 3])
                for name in "qkv"
            )
        if past_key_value is not None:
            k = paddle.concat([past_key_value[0], k], axis=2)
            v = paddle.concat([past_key_value[1], v], axis=2)
        return q, k, v, ((k, v) if use_cache else None)

    def forward(self, query, attn_mask=None, use_cache=False, past_key_value=None, output_attentions=False):
        q, k, v, cache = self._prepare_qkv(query, use_cache, past_key_value)
        product = paddle.matmul(x=q * (self.config.scale_qk_coeff * self.head_dim**-0.5), y=k, transpose_y=True)
        if attn_mask is not None:
            product = product + attn_mask.astype(product.dtype)
        weights = F.softmax(product)
        if self.config.attention_probs_dropout_prob:
            weights = F.dropout(
                weights, self.config.attention_probs_dropout_prob, training=self.training, mode="upscale_in_train"
            )
        out = paddle.matmul(weights, v)
        out = paddle.transpose(out, perm=[0, 2, 1, 3])
        out = paddle.reshape(x=out, shape=[0, 0, out.shape[2] * out.shape[3]])
        out = self.out_proj(out)
        outs = [out]
        if output_attentions:
            outs.append(weights)
        if use_cache:
            outs.append(cache)
        return out if len(outs) == 1 else tuple(outs)


class GPTDecoderLayer(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.self_attn = MultiHeadAttention(config)
        self.linear1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.linear2 = nn.Linear(config.intermediate_size, config.hidden_size)
        self.norm1 = nn.LayerNorm(config.hidden_size, epsilon=1e-5)
        self.norm2 = nn.LayerNorm(config.hidden_size, epsilon=1e-5)
        self.dropout1 = nn.Dropout(config.hidden_dropout_prob, mode="upscale_in_train")
        self.dropout2 = nn.Dropout(config.hidden_dropout_prob, mode="upscale_in_train")
        self.activation = ACT2FN[config.hidden_act]

    def forward(
        self, hidden_states, attention_mask=None, use_cache=False, past_key_value=None, output_attentions=False
    ):
        residual = hidden_states
        hidden_states = self.norm1(hidden_states)
        attn_output = self.self_attn(hidden_states, attention_mask, use_cache, past_key_value, output_attentions)
        hidden_states = attn_output[0] if isinstance(attn_output, tuple) else attn_output
        hidden_states = residual + self.dropout1(hidden_states)
        residual = hidden_states
        hidden_states = self.norm2(hidden_states)
        hidden_states = residual + self.dropout2(self.linear2(self.activation(self.linear1(hidden_states))))
        if not (output_attentions or use_cache):
            return hidden_states
        return (hidden_states, *attn_output[1:])


class GPTModel(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layers = nn.LayerList([GPTDecoderLayer(config) for _ in range(config.num_hidden_layers)])
        self.norm = nn.LayerNorm(config.hidden_size)
        self.bias = paddle.tril(
            paddle.ones([1, 1, config.max_position_embeddings, config.max_position_embeddings], dtype="int64")
        )

    @staticmethod
    def _prepare_causal_mask(length, past_length, dtype):
        total = length + past_length
        mask = paddle.triu(paddle.full([total, total], -1e4, dtype=dtype), diagonal=1)
        return mask[past_length:, :].unsqueeze([0, 1])

    def forward(
        self, input_ids=None, position_ids=None, attention_mask=None, inputs_embeds=None, use_cache=False,
        past_key_values=None, output_attentions=False, output_hidden_states=False, return_dict=False,
    ):  # fmt: skip
        if input_ids is not None and inputs_embeds is not None:
            raise ValueError("You cannot specify both input_ids and inputs_embeds at the same time")
        elif input_ids is not None:
            input_shape = paddle.shape(input_ids)
            input_ids = input_ids.reshape((-1, input_shape[-1]))
        if past_key_values is None:
            past_key_values = tuple([None] * len(self.layers))
        past_length = 0
        if past_key_values[0] is not None:
            past_length = past_key_values[0][0].shape[-2]
        seq_length = input_ids.shape[1]
        if position_ids is None:
            position_ids = paddle.arange(past_length, seq_length + past_length, dtype="int64")
            position_ids = position_ids.unsqueeze(0)
            position_ids = paddle.expand_as(position_ids, input_ids)
        hidden = self.word_embeddings(input_ids) + self.position_embeddings(position_ids)
        causal_mask = self.bias[:, :, past_length : past_length + seq_length, : past_length + seq_length]
        if attention_mask is not None:
            if len(attention_mask.shape) == 2:
                attention_mask = attention_mask[:, None, None, :]
            attention_mask = (1.0 - (attention_mask * causal_mask)).astype("float32") * -1e4
        else:
            attention_mask = self._prepare_causal_mask(seq_length, past_length, hidden.dtype)
        attention_mask.stop_gradient = True
        all_self_attentions = () if output_attentions else None
        all_hidden_states = () if output_hidden_states else None
        next_decoder_cache = () if use_cache else None
        for i, decoder_layer in enumerate(self.layers):
            outputs = decoder_layer(
                hidden, attention_mask=attention_mask, use_cache=use_cache, past_key_value=past_key_values[i],
                output_attentions=output_attentions,
            )  # fmt: skip
            hidden = outputs[0] if (use_cache or output_attentions) else outputs
            all_self_attentions = all_self_attentions + (outputs[1],) if output_attentions else None
            all_hidden_states = all_hidden_states + (hidden,) if output_hidden_states else None
            next_decoder_cache = next_decoder_cache + (outputs[-1],) if use_cache else None
        hidden = self.norm(hidden)
        if not return_dict:
            temp_list = [hidden, next_decoder_cache, all_hidden_states, all_self_attentions]
            if not (use_cache or output_attentions or output_hidden_states):
                return hidden
            return tuple(v for v in temp_list if v is not None)
        return BaseModelOutput(
            last_hidden_state=hidden, past_key_values=next_decoder_cache, hidden_states=all_hidden_states,
            attentions=all_self_attentions,
        )  # fmt: skip


class LogitsProcessorList:
    def __init__(self, processors=None):
        self._processors = OrderedDict()
        for processor in processors or []:
            self.append(processor)

    def __call__(self, input_ids, logits, **model_kwargs):
        for processor in self._processors.values():
            logits = processor(input_ids, logits)
        return logits

    def append(self, processor):
        self._processors[len(self._processors)] = processor


class LogitsProcessor(ABC):
    def __call__(self, input_ids, logits):
        raise NotImplementedError(f"{self.__class__} is an abstract class.")


class MinLengthLogitsProcessor(LogitsProcessor):
    def __init__(self, min_length, eos_token_id):
        if min_length < 0 and not isinstance(min_length, int):
            raise ValueError(f"`min_length` should be a positive integer, but get {min_length}")
        self.min_length = min_length
        self.eos_token_id = eos_token_id

    def __call__(self, input_ids, logits):
        cur_len = input_ids.shape[-1]
        if cur_len < self.min_length:
            logits[:, self.eos_token_id] = -1e9
        return logits


class RepetitionPenaltyLogitsProcessor(LogitsProcessor):
    def __init__(self, penalty: float):
        self.penalty = penalty

    def __call__(self, input_ids, logits):
        score = paddle.index_sample(logits, input_ids)
        score = paddle.where(score < 0, score * self.penalty, score / self.penalty)
        input_ids = input_ids + paddle.arange(logits.shape[0], dtype="int64").unsqueeze(-1) * logits.shape[-1]
        outputs = paddle.scatter(logits.flatten(), input_ids.flatten(), score.flatten()).reshape(logits.shape)
        return outputs


def TopKProcess(probs, top_k, min_tokens_to_keep):
    top_k = paddle.minimum(
        paddle.maximum(paddle.to_tensor(top_k), paddle.to_tensor(min_tokens_to_keep)), paddle.to_tensor(probs.shape[-1])
    )
    topk_probs, _ = paddle.topk(probs, k=int(top_k))
    return paddle.where(probs >= topk_probs[:, -1:], probs, paddle.full_like(probs, 0.0))


def TopPProcess(probs, top_p, min_tokens_to_keep):
    sorted_indices = paddle.argsort(probs, descending=True)
    sorted_probs = paddle.sort(probs, descending=True)
    cumulative_probs = paddle.cumsum(sorted_probs, axis=-1)
    sorted_indices_to_remove = cumulative_probs > top_p
    if min_tokens_to_keep > 1:
        sorted_indices_to_remove[:, : min_tokens_to_keep - 1] = 0
    sorted_indices_to_remove = paddle.cast(sorted_indices_to_remove, dtype="int64")
    sorted_indices_to_remove[:, 1:] = sorted_indices_to_remove[:, :-1].clone()
    sorted_indices_to_remove[:, 0] = 0
    sorted_indices = sorted_indices + paddle.arange(probs.shape[0]).unsqueeze(-1) * probs.shape[-1]
    condition = paddle.scatter(
        sorted_indices_to_remove.flatten(), sorted_indices.flatten(), sorted_indices_to_remove.flatten()
    )
    condition = paddle.cast(condition, "bool").reshape(probs.shape)
    return paddle.where(condition, paddle.full_like(probs, 0.0), probs)


class GenerationMixin:
    def get_logits_processor(self, min_length=None, repetition_penalty=None):
        processors = LogitsProcessorList()
        if min_length is not None and self.config.eos_token_id is not None and min_length > -1:
            processors.append(MinLengthLogitsProcessor(min_length, self.config.eos_token_id))
        if repetition_penalty is not None and repetition_penalty != 1.0:
            processors.append(RepetitionPenaltyLogitsProcessor(penalty=repetition_penalty))
        return processors

    def update_model_kwargs_for_generation(self, outputs, model_kwargs):
        if isinstance(outputs, tuple) and len(outputs) > 1 and not isinstance(outputs[1], paddle.Tensor):
            model_kwargs["past_key_values"] = outputs[1]
        if isinstance(outputs, CausalLMOutput) and "past_key_values" in outputs:
            model_kwargs["past_key_values"] = outputs.past_key_values
        if "attention_mask" in model_kwargs:
            attention_mask = model_kwargs["attention_mask"]
            model_kwargs["attention_mask"] = paddle.concat(
                [attention_mask, paddle.ones([attention_mask.shape[0], 1], dtype="int64")], axis=-1
            )
        return model_kwargs

    def prepare_inputs_for_generation(self, input_ids, use_cache=False, past_key_values=None, **kwargs):
        if past_key_values is not None:
            input_ids = input_ids[:, -1:]
        return {"input_ids": input_ids, "use_cache": use_cache, "past_key_values": past_key_values, **kwargs}

    @paddle.no_grad()
    def generate(self, input_ids, max_length=6, decode_strategy="greedy_search", use_cache=True, **kwargs):
        assert decode_strategy in ["greedy_search", "sampling", "beam_search"], f"unknown {decode_strategy}"
        processors = self.get_logits_processor(kwargs.pop("min_length", None), kwargs.pop("repetition_penalty", None))
        model_kwargs = {"attention_mask": paddle.ones_like(input_ids), "use_cache": use_cache}
        if decode_strategy == "greedy_search":
            return self.greedy_search(input_ids, processors, max_length + input_ids.shape[-1], **model_kwargs)
        return self.sample(input_ids, processors, max_length + input_ids.shape[-1], **kwargs, **model_kwargs)

    def greedy_search(self, input_ids, logits_processors, max_length, **model_kwargs):
        pad_token_id, eos_token_id = self.config.pad_token_id, self.config.eos_token_id
        batch_size, cur_len = input_ids.shape
        origin_len = cur_len
        unfinished_flag = paddle.full([batch_size, 1], True, dtype="bool")
        scores = paddle.full([batch_size, 1], 0.0, dtype=paddle.get_default_dtype())
        while cur_len < max_length:
            model_inputs = self.prepare_inputs_for_generation(input_ids, **model_kwargs)
            outputs = self(**model_inputs)
            logits = outputs[0] if isinstance(outputs, tuple) else outputs.logits
            logits = logits[:, -1, :]
            logits = logits_processors(input_ids, logits)
            probs = F.softmax(logits)
            probs = paddle.log(probs)
            next_tokens = paddle.argmax(probs, axis=-1).unsqueeze(-1)
            next_scores = paddle.index_sample(probs, next_tokens)
            next_tokens = paddle.where(unfinished_flag, next_tokens, paddle.full_like(next_tokens, pad_token_id))
            unfinished_scores = (scores * (cur_len - origin_len) + next_scores) / (cur_len - origin_len + 1)
            scores = paddle.where(unfinished_flag, unfinished_scores, scores)
            cur_len += 1
            input_ids = paddle.concat([input_ids, next_tokens], axis=1)
            if eos_token_id is not None:
                unfinished_flag = paddle.logical_and(unfinished_flag, next_tokens != eos_token_id)
            if not paddle.any(unfinished_flag):
                break
            model_kwargs = self.update_model_kwargs_for_generation(outputs, model_kwargs)
        return input_ids[:, origin_len:], scores

    def sample(
        self, input_ids, logits_processors, max_length, top_k=None, top_p=None, temperature=None, **model_kwargs
    ):
        pad_token_id, eos_token_id = self.config.pad_token_id, self.config.eos_token_id
        batch_size, cur_len = paddle.shape(input_ids)
        unfinished_flag = paddle.full([batch_size, 1], True, dtype="bool")
        while cur_len < max_length:
            outputs = self(**self.prepare_inputs_for_generation(input_ids, **model_kwargs))
            logits = (outputs[0] if isinstance(outputs, tuple) else outputs)[:, -1, :]
            logits = logits_processors(input_ids, logits)
            if temperature is not None and temperature != 1.0:
                logits = logits / temperature
            probs = F.softmax(logits)
            if top_k is not None and top_k != 0:
                probs = TopKProcess(probs, top_k, 1)
            if top_p is not None and top_p < 1.0:
                probs = TopPProcess(probs, top_p, 1)
            next_tokens = paddle.multinomial(probs)
            next_tokens = paddle.where(unfinished_flag, next_tokens, paddle.full_like(next_tokens, pad_token_id))
            input_ids = paddle.concat([input_ids, next_tokens], axis=1)
            cur_len += 1
            unfinished_flag = paddle.logical_and(unfinished_flag, next_tokens != eos_token_id)
            if not paddle.any(unfinished_flag):
                break
            model_kwargs = self.update_model_kwargs_for_generation(outputs, model_kwargs)
        return input_ids


class GPTLMHead(nn.Layer):
    def __init__(self, config, embedding_weights=None):
        super().__init__()
        self.weight = (
            embedding_weights
            if embedding_weights is not None
            else self.create_parameter(shape=[config.vocab_size, config.hidden_size], dtype=paddle.get_default_dtype())
        )

    def forward(self, hidden_states):
        return paddle.matmul(hidden_states, self.weight, transpose_y=True)


class GPTForCausalLM(nn.Layer, GenerationMixin):
    _tied_weights_keys = ["lm_head.weight"]

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.gpt = GPTModel(config)
        self.lm_head = GPTLMHead(config, embedding_weights=self.gpt.word_embeddings.weight)
        self.apply(self.init_weights)

    def init_weights(self, layer):
        if isinstance(layer, (nn.Linear, nn.Embedding)) and isinstance(layer.weight, paddle.Tensor):
            layer.weight.set_value(
                paddle.tensor.normal(mean=0.0, std=self.config.initializer_range, shape=layer.weight.shape)
            )
        for name, p in layer.named_parameters(include_sublayers=False):
            if "out_proj.weight" in name:
                p.set_value(p / math.sqrt(2.0 * self.config.num_hidden_layers))

    def forward(
        self, input_ids, labels=None, use_cache=False, past_key_values=None, attention_mask=None, return_dict=None
    ):
        outputs = self.gpt(
            input_ids, use_cache=use_cache, past_key_values=past_key_values, attention_mask=attention_mask,
            return_dict=return_dict,
        )  # fmt: skip
        if isinstance(outputs, type(input_ids)):
            hidden_states = outputs
        else:
            hidden_states = outputs[0]
        logits = self.lm_head(hidden_states)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].reshape([-1, logits.shape[-1]]), labels[:, 1:].reshape([-1]))
        if not return_dict:
            if isinstance(outputs, type(input_ids)):
                return (loss, logits) if loss is not None else logits
            outputs = (logits, *outputs[1:])
            return ((loss,) + outputs) if loss is not None else outputs
        return CausalLMOutput(loss=loss, logits=logits, past_key_values=outputs.past_key_values)


class GPTWithLoss(GPTForCausalLM):
    def forward(self, input_ids, *args, **kwargs):
        if args or kwargs:
            return super().forward(input_ids, *args, **kwargs)
        return super().forward(input_ids, labels=input_ids, use_cache=True, return_dict=True)


def next_token_loss(logits, tokens):
    return F.cross_entropy(logits[:, :-1], tokens[:, 1:].unsqueeze(-1))


def build(**kwargs) -> Callable:
    return lambda: GPTForCausalLM(GPTConfig.from_dict({**kwargs, "_name": "gpt"}))


PROMPT = integers(20, 3, low=2)
GREEDY = Call("generate", PROMPT, (("max_length", 4), ("min_length", 5), ("repetition_penalty", 1.2)))
SAMPLING = Call(
    "generate", PROMPT,
    (("decode_strategy", "sampling"), ("max_length", 3), ("top_k", 5), ("top_p", 0.9), ("temperature", 0.8)),
    random=True,
)  # fmt: skip
CASES = [
    Case(
        "GPT",
        build(),
        integers(20, 8),
        next_token_loss,
        integers(20, 8),
        specs=((None, None),),
        calls=(GREEDY, SAMPLING),
    ),
    Case(
        "GPT with fused attention",
        build(fuse_attention_qkv=True),
        integers(20, 8),
        next_token_loss,
        integers(20, 8),
        slow=True,
    ),
    Case("GPT with its loss", lambda: GPTWithLoss(GPTConfig()), integers(20, 8), lambda outputs: outputs.loss),
]
