"""Recurrent models: a language model with truncated backpropagation through time, and a translator with attention."""

import numpy as np

import vitrify as paddle
import vitrify.nn.functional as F
from tests.models.case import Call, Case, integers, together
from vitrify import nn

uniform_ = nn.initializer.Uniform(low=-0.3, high=0.3)


class PtbLM(nn.Layer):
    def __init__(self, vocab_size=12, hidden_size=8, num_layers=2, dropout=0.0, rnn="LSTM"):
        super().__init__()
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.embedder = nn.Embedding(vocab_size, hidden_size, weight_attr=paddle.ParamAttr(initializer=uniform_))
        self.rnn = getattr(nn, rnn)(
            input_size=hidden_size, hidden_size=hidden_size, num_layers=num_layers, dropout=dropout
        )
        self.fc = nn.Linear(hidden_size, vocab_size, weight_attr=paddle.ParamAttr(initializer=uniform_))
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, inputs, states=None):
        x = self.dropout(self.embedder(inputs))
        x, states = self.rnn(x, states)
        return self.fc(self.dropout(x)), states

    def detach(self, states):
        """Detach the hidden states from the graph that made them."""
        if isinstance(states, paddle.Tensor):
            return states.detach()
        return tuple(self.detach(state) for state in states)


def truncated(case, model, compiled):
    """Steps over chunks of a long text: states go on, gradients stop at the chunk's edge."""
    optimizer = paddle.optimizer.Adagrad(
        learning_rate=case.rate, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(5.0)
    )

    def chunk(x, y, states):
        logits, states = model(x, states)
        return F.cross_entropy(logits, y.unsqueeze(-1)), states

    chunk = compiled(chunk)

    def step(inputs, labels):
        (text,) = inputs
        states, total = None, 0.0
        for start in range(0, text.shape[1] - 3, 3):
            loss, states = chunk(text[:, start : start + 3], text[:, start + 1 : start + 4], states)
            states = model.detach(states)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            total += float(loss)
        return total

    return step


class CrossEntropyCriterion(nn.Layer):
    def forward(self, predict, label, trg_mask):
        cost = F.cross_entropy(input=predict, label=label, reduction="none", soft_label=False)
        cost = paddle.squeeze(cost, axis=[2])
        masked_cost = cost * trg_mask
        batch_mean_cost = paddle.mean(masked_cost, axis=[0])
        return paddle.sum(batch_mean_cost)


class Seq2SeqEncoder(nn.Layer):
    def __init__(self, vocab_size, embed_dim, hidden_size):
        super().__init__()
        self.embedder = nn.Embedding(vocab_size, embed_dim)
        self.lstm = nn.LSTM(embed_dim, hidden_size, direction="bidirect")
        self.fc = nn.Linear(2 * hidden_size, hidden_size)

    def forward(self, sequence, sequence_length):
        encoder_output, (h, c) = self.lstm(self.embedder(sequence), sequence_length=sequence_length)
        return self.fc(encoder_output), (h[0] + h[1], c[0] + c[1])


class AttentionLayer(nn.Layer):
    def __init__(self, hidden_size, bias=False, init_scale=0.3):
        super().__init__()
        attr = paddle.ParamAttr(initializer=nn.initializer.Uniform(low=-init_scale, high=init_scale))
        self.input_proj = nn.Linear(hidden_size, hidden_size, weight_attr=attr, bias_attr=bias)
        self.output_proj = nn.Linear(hidden_size + hidden_size, hidden_size, weight_attr=attr, bias_attr=bias)

    def forward(self, hidden, encoder_output, encoder_padding_mask):
        encoder_output = self.input_proj(encoder_output)
        attn_scores = paddle.matmul(paddle.unsqueeze(hidden, [1]), encoder_output, transpose_y=True)
        if encoder_padding_mask is not None:
            attn_scores = paddle.add(attn_scores, encoder_padding_mask)
        attn_scores = F.softmax(attn_scores)
        attn_out = paddle.squeeze(paddle.matmul(attn_scores, encoder_output), [1])
        return self.output_proj(paddle.concat([attn_out, hidden], 1))


class Seq2SeqDecoderCell(nn.RNNCellBase):
    def __init__(self, num_layers, input_size, hidden_size):
        super().__init__()
        self.lstm_cells = nn.LayerList(
            [
                nn.LSTMCell(input_size=input_size + hidden_size if i == 0 else hidden_size, hidden_size=hidden_size)
                for i in range(num_layers)
            ]
        )
        self.attention_layer = AttentionLayer(hidden_size)

    def forward(self, step_input, states, encoder_output, encoder_padding_mask=None):
        lstm_states, input_feed = states
        new_lstm_states = []
        step_input = paddle.concat([step_input, input_feed], 1)
        for i, lstm_cell in enumerate(self.lstm_cells):
            out, new_lstm_state = lstm_cell(step_input, lstm_states[i])
            step_input = out
            new_lstm_states.append(new_lstm_state)
        out = self.attention_layer(step_input, encoder_output, encoder_padding_mask)
        return out, [new_lstm_states, out]


class Seq2SeqDecoder(nn.Layer):
    def __init__(self, vocab_size, embed_dim, hidden_size, num_layers):
        super().__init__()
        self.embedder = nn.Embedding(vocab_size, embed_dim)
        self.lstm_attention = nn.RNN(Seq2SeqDecoderCell(num_layers, embed_dim, hidden_size))
        self.output_layer = nn.Linear(hidden_size, vocab_size, bias_attr=False)

    def forward(self, trg, decoder_initial_states, encoder_output, encoder_padding_mask):
        inputs = self.embedder(trg)
        decoder_output, _ = self.lstm_attention(
            inputs, initial_states=decoder_initial_states, encoder_output=encoder_output,
            encoder_padding_mask=encoder_padding_mask,
        )  # fmt: skip
        return self.output_layer(decoder_output)


class Seq2SeqAttnModel(nn.Layer):
    def __init__(self, vocab_size=12, embed_dim=6, hidden_size=8, num_layers=2, bos_id=2, eos_id=1, pad_id=0):
        super().__init__()
        self.hidden_size, self.num_layers = hidden_size, num_layers
        self.bos_id, self.eos_id, self.pad_id = bos_id, eos_id, pad_id
        self.INF = 1e9
        self.encoder = Seq2SeqEncoder(vocab_size, embed_dim, hidden_size)
        self.decoder = Seq2SeqDecoder(vocab_size, embed_dim, hidden_size, num_layers)

    def start(self, src, src_length):
        encoder_output, (h, c) = self.encoder(src, src_length)
        states = [[(h, c) for _ in range(self.num_layers)], paddle.zeros_like(h)]
        src_mask = (src != self.pad_id).astype(paddle.get_default_dtype())
        return encoder_output, states, paddle.unsqueeze((src_mask - 1.0) * self.INF, [1])

    def forward(self, src, src_length, trg):
        encoder_output, states, mask = self.start(src, src_length)
        return self.decoder(trg, states, encoder_output, mask)

    @paddle.no_grad()
    def greedy(self, src, src_length, max_len=5):
        encoder_output, states, mask = self.start(src, src_length)
        cell = self.decoder.lstm_attention.cell
        token = paddle.full_like(src[:, 0], self.bos_id)
        finished = token == self.eos_id
        outputs = []
        for _ in range(max_len):
            out, states = cell(self.decoder.embedder(token), states, encoder_output, mask)
            token = paddle.argmax(self.decoder.output_layer(out), axis=-1)
            token = paddle.where(finished, paddle.full_like(token, self.pad_id), token)
            finished = finished | (token == self.eos_id)
            outputs.append(token)
            if bool(finished.all()):
                break
        return paddle.stack(outputs, axis=1)


def lengths(rng, n):
    return (np.maximum(5 - np.arange(n), 2).astype("int64"),)


def translation_loss(logits, labels):
    mask = (labels != 0).astype("float32")
    return CrossEntropyCriterion()(logits, labels.unsqueeze(-1), mask)


SOURCE = together(integers(12, 5, low=1), lengths)
CASES = [
    Case(
        "LSTM language model", PtbLM, integers(12, 10), lambda outputs, y: F.cross_entropy(outputs[0], y.unsqueeze(-1)),
        integers(12, 10), trainer=truncated, rate=0.1, specs=((None, None),),
    ),
    Case(
        "GRU language model", lambda: PtbLM(rnn="GRU", dropout=0.1), integers(12, 6),
        lambda outputs, y: F.cross_entropy(outputs[0], y.unsqueeze(-1)), integers(12, 6), rate=0.05, slow=True,
    ),
    Case(
        "Seq2seq with attention", Seq2SeqAttnModel, together(SOURCE, integers(12, 4, low=1)), translation_loss,
        integers(12, 4, low=1), calls=(Call("greedy", SOURCE),),
    ),
]  # fmt: skip
