"""BERT and ERNIE in the style of PaddleNLP: config objects, ModelOutput or tuples, heads with tied weights."""

import numpy as np

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Case, integers, together
from tests.models.model_outputs import BaseModelOutputWithPooling, PreTrainingOutput
from vitrify import Tensor, nn
from vitrify.distributed.fleet.utils import recompute


class PretrainedConfig:
    model_type: str = ""
    attribute_map: dict[str, str] = {"hidden_dropout": "hidden_dropout_prob", "num_classes": "num_labels"}

    def __init__(self, **kwargs):
        self.return_dict = kwargs.pop("return_dict", False)
        self.output_hidden_states = kwargs.pop("output_hidden_states", False)
        self.num_labels = kwargs.pop("num_labels", 2)
        for key, value in kwargs.items():
            setattr(self, key, value)

    def __getattribute__(self, key):
        if key != "attribute_map" and key in super().__getattribute__("attribute_map"):
            key = super().__getattribute__("attribute_map")[key]
        return super().__getattribute__(key)

    @property
    def use_return_dict(self):
        return self.return_dict


class BertConfig(PretrainedConfig):
    model_type = "bert"

    def __init__(
        self, vocab_size=40, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
        hidden_act="gelu", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, max_position_embeddings=16,
        type_vocab_size=2, initializer_range=0.2, pad_token_id=0, pool_act="tanh", layer_norm_eps=1e-12,
        use_recompute=False, use_task_id=False, **kwargs,
    ):  # fmt: skip
        super().__init__(pad_token_id=pad_token_id, **kwargs)
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.intermediate_size = intermediate_size
        self.hidden_act = hidden_act
        self.hidden_dropout_prob = hidden_dropout_prob
        self.attention_probs_dropout_prob = attention_probs_dropout_prob
        self.max_position_embeddings = max_position_embeddings
        self.type_vocab_size = type_vocab_size
        self.initializer_range = initializer_range
        self.pool_act = pool_act
        self.layer_norm_eps = layer_norm_eps
        self.use_recompute = use_recompute
        self.use_task_id = use_task_id
        self.task_type_vocab_size = 3


class BertEmbeddings(nn.Layer):
    """Include embeddings from word, position and token_type embeddings"""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.use_task_id = config.use_task_id
        if self.use_task_id:
            self.task_type_embeddings = nn.Embedding(config.task_type_vocab_size, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, epsilon=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(
        self, input_ids, token_type_ids=None, position_ids=None, task_type_ids=None, past_key_values_length=None
    ):
        if position_ids is None:
            ones = paddle.ones_like(input_ids, dtype="int64")
            seq_length = paddle.cumsum(ones, axis=-1)
            position_ids = seq_length - ones
            if past_key_values_length is not None:
                position_ids += past_key_values_length
            position_ids.stop_gradient = True
        if token_type_ids is None:
            token_type_ids = paddle.zeros_like(input_ids, dtype="int64")
        embeddings = self.word_embeddings(input_ids) + self.position_embeddings(position_ids)
        embeddings = embeddings + self.token_type_embeddings(token_type_ids)
        if self.use_task_id:
            if task_type_ids is None:
                task_type_ids = paddle.ones_like(input_ids, dtype="int64") * 0
            embeddings = embeddings + self.task_type_embeddings(task_type_ids)
        return self.dropout(self.layer_norm(embeddings))


class BertPooler(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = nn.Tanh()
        self.pool_act = config.pool_act

    def forward(self, hidden_states):
        # We "pool" the model by simply taking the hidden state corresponding to the first token.
        first_token_tensor = hidden_states[:, 0]
        pooled_output = self.dense(first_token_tensor)
        if self.pool_act == "tanh":
            pooled_output = self.activation(pooled_output)
        return pooled_output


class BertPretrainedModel(nn.Layer):
    base_model_prefix = "bert"

    def _init_weights(self, layer):
        """Initialization hook"""
        if isinstance(layer, (nn.Linear, nn.Embedding)):
            if isinstance(layer.weight, paddle.Tensor):
                layer.weight.set_value(
                    paddle.tensor.normal(mean=0.0, std=self.config.initializer_range, shape=layer.weight.shape)
                )
        elif isinstance(layer, nn.LayerNorm):
            layer._epsilon = self.config.layer_norm_eps

    def init_weights(self):
        self.apply(self._init_weights)

    @property
    def base_model(self):
        return getattr(self, self.base_model_prefix, self)

    def get_input_embeddings(self):
        return self.base_model.embeddings.word_embeddings


class BertModel(BertPretrainedModel):
    def __init__(self, config: BertConfig):
        super().__init__()
        self.config = config
        self.pad_token_id = config.pad_token_id
        self.embeddings = BertEmbeddings(config)
        encoder_layer = nn.TransformerEncoderLayer(
            config.hidden_size, config.num_attention_heads, config.intermediate_size,
            dropout=config.hidden_dropout_prob, activation=config.hidden_act,
            attn_dropout=config.attention_probs_dropout_prob, act_dropout=0,
        )  # fmt: skip
        self.encoder = nn.TransformerEncoder(encoder_layer, config.num_hidden_layers)
        self.pooler = BertPooler(config)
        self.init_weights()

    def forward(
        self, input_ids: Tensor, token_type_ids: Tensor | None = None, position_ids: Tensor | None = None,
        attention_mask: Tensor | None = None, past_key_values=None, use_cache: bool | None = None,
        output_hidden_states: bool | None = None, return_dict: bool | None = None, **kwargs,
    ):  # fmt: skip
        return_dict = return_dict if return_dict is not None else self.config.use_return_dict
        if output_hidden_states is None:
            output_hidden_states = self.config.output_hidden_states
        past_key_values_length = None
        if past_key_values is not None:
            past_key_values_length = past_key_values[0][0].shape[2]
        if attention_mask is None:
            attention_mask = paddle.unsqueeze(
                (input_ids == self.pad_token_id).astype(self.pooler.dense.weight.dtype) * -1e4, axis=[1, 2]
            )
        else:
            if attention_mask.ndim == 2:
                # attention_mask [batch_size, sequence_length] -> [batch_size, 1, 1, sequence_length]
                attention_mask = attention_mask.unsqueeze(axis=[1, 2]).astype(paddle.get_default_dtype())
                attention_mask = (1.0 - attention_mask) * -1e4
        embedding_output = self.embeddings(
            input_ids=input_ids, position_ids=position_ids, token_type_ids=token_type_ids,
            past_key_values_length=past_key_values_length, **kwargs,
        )  # fmt: skip
        all_hidden_states = [] if output_hidden_states else None
        output = embedding_output
        if output_hidden_states:
            all_hidden_states.append(output)
        for mod in self.encoder.layers:
            if self.config.use_recompute and self.training:
                output = recompute(mod, output, attention_mask)
            else:
                output = mod(output, src_mask=attention_mask)
            if output_hidden_states:
                all_hidden_states.append(output)
        if self.encoder.norm is not None:
            output = self.encoder.norm(output)
        pooled_output = self.pooler(output)
        if not return_dict:
            outputs = (output, pooled_output)
            return (*outputs, all_hidden_states) if output_hidden_states else outputs
        return BaseModelOutputWithPooling(
            last_hidden_state=output, pooler_output=pooled_output,
            hidden_states=tuple(all_hidden_states) if all_hidden_states else None,
        )  # fmt: skip


class BertForSequenceClassification(BertPretrainedModel):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.bert = BertModel(config)
        self.num_labels = config.num_labels
        self.dropout = nn.Dropout(config.hidden_dropout)
        self.classifier = nn.Linear(config.hidden_size, config.num_classes)
        self.init_weights()

    def forward(self, input_ids, attention_mask=None, labels=None, **kwargs):
        outputs = self.bert(input_ids, attention_mask=attention_mask, **kwargs)
        logits = self.classifier(self.dropout(outputs[1]))
        loss = None
        if labels is not None:
            if self.num_labels == 1:
                loss = nn.MSELoss()(logits, labels)
            elif labels.dtype == paddle.int64 or labels.dtype == paddle.int16:
                loss = nn.CrossEntropyLoss()(logits.reshape((-1, self.num_labels)), labels.reshape((-1,)))
            else:
                loss = nn.BCEWithLogitsLoss()(logits, labels)
        output = (logits,) + tuple(outputs[2:])
        return ((loss,) + output) if loss is not None else (output[0] if len(output) == 1 else output)


class BertLMPredictionHead(nn.Layer):
    def __init__(self, config, embedding_weights=None):
        super().__init__()
        self.transform = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = getattr(nn.functional, config.hidden_act)
        self.layer_norm = nn.LayerNorm(config.hidden_size)
        self.decoder_weight = (
            self.create_parameter(
                shape=[config.vocab_size, config.hidden_size], dtype=self.transform.weight.dtype, is_bias=False
            )
            if embedding_weights is None
            else embedding_weights
        )
        self.decoder_bias = self.create_parameter(
            shape=[config.vocab_size], dtype=self.decoder_weight.dtype, is_bias=True
        )

    def forward(self, hidden_states, masked_positions=None):
        if masked_positions is not None:
            hidden_states = paddle.reshape(hidden_states, [-1, hidden_states.shape[-1]])
            hidden_states = paddle.tensor.gather(hidden_states, masked_positions)
        hidden_states = self.layer_norm(self.activation(self.transform(hidden_states)))
        return paddle.tensor.matmul(hidden_states, self.decoder_weight, transpose_y=True) + self.decoder_bias


class BertPretrainingHeads(nn.Layer):
    def __init__(self, config, embedding_weights=None):
        super().__init__()
        self.predictions = BertLMPredictionHead(config, embedding_weights)
        self.seq_relationship = nn.Linear(config.hidden_size, 2)

    def forward(self, sequence_output, pooled_output, masked_positions=None):
        return self.predictions(sequence_output, masked_positions), self.seq_relationship(pooled_output)


class BertPretrainingCriterion(nn.Layer):
    def __init__(self, vocab_size=30522):
        super().__init__()
        self.loss_fn = nn.loss.CrossEntropyLoss(ignore_index=-1)
        self.vocab_size = vocab_size

    def forward(
        self, prediction_scores, seq_relationship_score, masked_lm_labels, next_sentence_labels, masked_lm_scale
    ):
        with paddle.static.amp.fp16_guard():
            masked_lm_loss = F.cross_entropy(prediction_scores, masked_lm_labels, reduction="none", ignore_index=-1)
            masked_lm_loss = masked_lm_loss / masked_lm_scale
            next_sentence_loss = F.cross_entropy(seq_relationship_score, next_sentence_labels, reduction="none")
        return paddle.sum(masked_lm_loss) + paddle.mean(next_sentence_loss)


class BertForPretraining(BertPretrainedModel):
    _keys_to_ignore_on_load_missing = [r"position_ids"]

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.bert = BertModel(config)
        self.cls = BertPretrainingHeads(config, embedding_weights=self.bert.embeddings.word_embeddings.weight)
        self.init_weights()

    def forward(self, input_ids, token_type_ids, masked_positions, labels=None, next_sentence_label=None):
        with paddle.static.amp.fp16_guard():
            outputs = self.bert(input_ids, token_type_ids=token_type_ids, return_dict=True, output_hidden_states=True)
            sequence_output, pooled_output = outputs[:2]
            prediction_scores, seq_relationship_score = self.cls(sequence_output, pooled_output, masked_positions)
            total_loss = None
            if labels is not None and next_sentence_label is not None:
                loss_fct = paddle.nn.CrossEntropyLoss()
                total_loss = loss_fct(
                    prediction_scores.reshape((-1, prediction_scores.shape[-1])), labels.reshape((-1,))
                ) + loss_fct(seq_relationship_score.reshape((-1, 2)), next_sentence_label.reshape((-1,)))
        return PreTrainingOutput(
            loss=total_loss,
            prediction_logits=prediction_scores,
            seq_relationship_logits=seq_relationship_score,
            hidden_states=outputs.hidden_states,
        )


class ErnieForTokenClassification(BertPretrainedModel):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.num_labels = config.num_labels
        self.ernie = BertModel(config)
        self.dropout = nn.Dropout(0.1 if config.hidden_dropout_prob is None else config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.init_weights()

    def forward(self, input_ids, attention_mask):
        sequence_output, _ = self.ernie(input_ids, attention_mask=attention_mask)
        logits = self.classifier(self.dropout(sequence_output))
        return logits


def token_loss(logits, labels):
    active = labels != -100
    kept = paddle.masked_select(labels, active)
    scores = logits.reshape([-1, logits.shape[-1]])[active.reshape([-1])]
    return F.cross_entropy(scores, kept)


def token_labels(rng, n):
    labels = rng.integers(0, 3, (n, 7))
    labels[:, 5:] = -100
    return (labels,)


def padding(rng, n):
    mask = np.ones((n, 7), "int64")
    mask[0, 4:] = 0
    return (mask,)


def places(rng, n):
    return ((np.arange(n)[:, None] * 8 + rng.permuted(np.tile(np.arange(8), (n, 1)), axis=1)[:, :2]).reshape(-1),)


def masked_tokens(rng, n):
    labels = rng.integers(0, 40, (2 * n,))
    labels[1] = -1
    return (labels,)


def pretraining_loss(outputs, labels, next_sentence):
    criterion = BertPretrainingCriterion(40)
    return criterion(outputs.prediction_logits, outputs["seq_relationship_logits"], labels, next_sentence, 3.0)


CASES = [
    Case(
        "BERT classifier", lambda: BertForSequenceClassification(BertConfig(num_labels=3)),
        integers(40, 8), F.cross_entropy, integers(3), specs=((None, None),),
    ),
    Case(
        "BERT classifier with recompute",
        lambda: BertForSequenceClassification(
            BertConfig(num_labels=3, hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1, use_recompute=True)
        ),
        integers(40, 8), F.cross_entropy, integers(3), steps=10, slow=True,
    ),
    Case(
        "BERT pretraining", lambda: BertForPretraining(BertConfig()),
        together(integers(40, 8, low=1), integers(2, 8), places), pretraining_loss,
        together(masked_tokens, integers(2)),
        specs=((None, None), (None, None), (None,)),
    ),
    Case(
        "ERNIE tagger", lambda: ErnieForTokenClassification(BertConfig(num_labels=3, use_task_id=True)),
        together(integers(40, 7), padding), token_loss, token_labels,
    ),
]  # fmt: skip
