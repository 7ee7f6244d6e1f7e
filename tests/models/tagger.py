"""A tagger in the style of PaddleNLP's lexical analysis: recurrent layers, a conditional random field, Viterbi."""

import numpy as np

import vitrify as paddle
from tests.models.case import Call, Case, integers, together
from vitrify import nn


class LinearChainCrf(nn.Layer):
    def __init__(self, num_labels, crf_lr=0.1, with_start_stop_tag=True):
        super().__init__()
        self.num_tags = num_labels + 2 if with_start_stop_tag else num_labels
        self.start_idx, self.stop_idx = self.num_tags - 1, self.num_tags - 2
        self.transitions = self.create_parameter(
            attr=paddle.ParamAttr(learning_rate=crf_lr), shape=[self.num_tags, self.num_tags], dtype="float32"
        )

    def forward(self, inputs, lengths):
        batch_size, seq_len, n_labels = inputs.shape
        inputs_t_exp = inputs.transpose([1, 0, 2]).unsqueeze(-1).expand([seq_len, batch_size, n_labels, n_labels])
        trans_exp = self.transitions.unsqueeze(0)
        alpha = paddle.full((batch_size, n_labels), -10000.0, dtype="float32")
        alpha[:, self.start_idx] = 0.0
        all_alpha = []
        for input_exp in inputs_t_exp:
            mat = input_exp + alpha.unsqueeze(1) + trans_exp
            alpha = paddle.logsumexp(mat, axis=2)
            all_alpha.append(alpha)
        all_alpha = paddle.stack(all_alpha).transpose([1, 0, 2])
        batch_index = paddle.arange(batch_size, dtype=lengths.dtype)
        last = paddle.gather_nd(all_alpha, paddle.stack([batch_index, lengths - 1], axis=1))
        return paddle.logsumexp(last + self.transitions[self.stop_idx].unsqueeze(0), axis=1)

    def gold_score(self, inputs, labels, lengths):
        batch_size, seq_len, _ = inputs.shape
        mask = paddle.cast(nn.functional.sequence_mask(lengths, maxlen=seq_len), "float32")
        emit = paddle.take_along_axis(inputs, labels.unsqueeze(-1), axis=2).squeeze(-1)
        start = paddle.full([batch_size, 1], self.start_idx, dtype="int64")
        before = paddle.concat([start, labels[:, :-1]], axis=1)
        trans = paddle.gather_nd(self.transitions, paddle.stack([labels, before], axis=-1))
        last = paddle.take_along_axis(labels, (lengths - 1).unsqueeze(1), axis=1).squeeze(1)
        return ((emit + trans) * mask).sum(1) + paddle.gather(self.transitions[self.stop_idx], last)


class LinearChainCrfLoss(nn.Layer):
    def __init__(self, crf):
        super().__init__()
        self.crf = crf

    def forward(self, inputs, lengths, labels):
        return self.crf(inputs, lengths) - self.crf.gold_score(inputs, labels, lengths)


class BiGruCrf(nn.Layer):
    def __init__(self, vocab_size=16, emb_dim=8, hidden_size=6, num_labels=3):
        super().__init__()
        attr = paddle.ParamAttr(initializer=nn.initializer.Uniform(low=-0.1, high=0.1))
        self.word_embedding = nn.Embedding(vocab_size, emb_dim, weight_attr=attr)
        self.gru = nn.GRU(
            emb_dim, hidden_size, num_layers=2, direction="bidirect",
            weight_ih_attr=paddle.ParamAttr(regularizer=paddle.regularizer.L2Decay(coeff=1e-4)),
        )  # fmt: skip
        self.fc = nn.Linear(hidden_size * 2, num_labels + 2)
        self.crf = LinearChainCrf(num_labels)
        self.crf_loss = LinearChainCrfLoss(self.crf)
        self.viterbi_decoder = paddle.text.ViterbiDecoder(self.crf.transitions, True)

    def emissions(self, inputs, lengths):
        bigru_output, _ = self.gru(self.word_embedding(inputs), sequence_length=lengths)
        return self.fc(bigru_output)

    def forward(self, inputs, lengths, labels):
        return self.crf_loss(self.emissions(inputs, lengths), lengths, labels)

    def decode(self, inputs, lengths):
        scores, prediction = self.viterbi_decoder(self.emissions(inputs, lengths), lengths)
        return scores, prediction


def lengths(rng, n):
    return (np.array([5, 3, 4, 1][:n], "int64"),)


CASES = [
    Case(
        name="GRU with CRF", build=BiGruCrf, inputs=together(integers(16, 5), lengths, integers(3, 5)),
        loss=paddle.mean, calls=(Call("decode", together(integers(16, 5), lengths)),),
        specs=((None, 5), (None,), (None, 5)),
    ),
]  # fmt: skip
