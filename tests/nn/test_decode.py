"""Decoding: beam search as in Paddle, eagerly and in programs; decoders of one's own."""

import numpy as np

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify import nn
from vitrify.jit import to_static
from vitrify.nn.decode import Decoder
from vitrify.static import InputSpec


def filled(layer, seed):
    rng = np.random.RandomState(seed)
    for value in layer.state_dict().values():
        value.set_value(rng.uniform(-1, 1, value.shape).astype("float32"))
    return layer


CELL, EMBED, OUT = filled(nn.GRUCell(4, 6), 0), filled(nn.Embedding(7, 4), 1), filled(nn.Linear(6, 7), 2)
DECODER = nn.BeamSearchDecoder(CELL, start_token=0, end_token=1, beam_size=3, embedding_fn=EMBED, output_fn=OUT)


def hidden(batch=2):
    return paddle.to_tensor(np.random.RandomState(3).randn(batch, 6).astype("float32"))


def best(h, steps):
    """The likeliest sequences by trying all of them: (score, tokens), sequences that end going on with the end."""
    found = [(0.0, [], h)]
    for _ in range(steps):
        grown = []
        for score, tokens, state in found:
            if tokens and tokens[-1] == 1:
                grown.append((score, [*tokens, 1], state))
                continue
            out, after = CELL(EMBED(paddle.to_tensor([tokens[-1] if tokens else 0])), state)
            scores = paddle.nn.functional.log_softmax(OUT(out)).numpy()[0]
            grown += [(score + float(s), [*tokens, token], after) for token, s in enumerate(scores)]
        found = grown
    return sorted(found, key=lambda one: -one[0])


def test_a_beam_as_wide_as_all_sequences_finds_the_likeliest():
    wide = nn.BeamSearchDecoder(CELL, 0, 1, 49, EMBED, OUT)
    tokens, states = nn.dynamic_decode(wide, hidden(), max_step_num=2)
    for row in range(2):
        score, expected, _ = best(hidden()[row : row + 1], 3)[0]
        assert tokens.numpy()[row, :, 0].tolist() == expected
        np.testing.assert_allclose(states.log_probs.numpy()[row, 0], score, rtol=1e-5)


def test_layouts_and_lengths():
    tokens, states, lengths = nn.dynamic_decode(DECODER, hidden(), max_step_num=4, return_length=True)
    ids = tokens.numpy()
    ended = np.where((ids == 1).any(1), (ids == 1).argmax(1) + 1, ids.shape[1])
    assert lengths.tolist() == states.lengths.tolist() == ended.tolist()
    turned, _ = nn.dynamic_decode(DECODER, hidden(), max_step_num=4, output_time_major=True)
    assert (turned.numpy() == ids.transpose(1, 0, 2)).all()


def test_pairs_of_states():
    cell = filled(nn.LSTMCell(4, 6), 5)
    decoder = nn.BeamSearchDecoder(cell, 0, 1, 2, EMBED, OUT)
    tokens, states = nn.dynamic_decode(decoder, cell.get_initial_states(hidden()), max_step_num=3)
    assert tokens.shape == [2, 4, 2] and [s.shape for s in states.cell_states] == [[2, 2, 6]] * 2


def decode(h):
    tokens, states = nn.dynamic_decode(DECODER, h, max_step_num=3)
    return tokens, states.log_probs


def test_in_a_program_written_by_hand():
    wanted, _ = nn.dynamic_decode(DECODER, hidden(), max_step_num=3)
    main, scope, given = paddle.static.Program(), paddle.static.Scope(), hidden().numpy()
    with paddle.static.program_guard(main), paddle.static.scope_guard(scope):
        h, made = paddle.static.data("h", [2, 6]), (nn.GRUCell(4, 6), nn.Embedding(7, 4), nn.Linear(6, 7))
        for layer, eager in zip(made, (CELL, EMBED, OUT)):
            for parameter, value in zip(layer.parameters(), eager.parameters()):
                scope.var(parameter.name).get_tensor().set(value.numpy(), paddle.CPUPlace())
        decoder = nn.BeamSearchDecoder(made[0], 0, 1, beam_size=3, embedding_fn=made[1], output_fn=made[2])
        tokens, _, lengths = nn.dynamic_decode(decoder, h, max_step_num=3, return_length=True)
        found, counts = paddle.static.Executor().run(main, feed={"h": given}, fetch_list=[tokens, lengths])
    assert (found == wanted.numpy()).all() and counts.shape == (2, 3)


def test_in_a_program():
    compare(decode, (hidden(),), (hidden() * 2,))


def test_in_a_program_of_any_batch_size():
    program = to_static(decode, full_graph=True, input_spec=[InputSpec([None, 6], "float32")])
    for batch in (1, 4):
        for ours, theirs in zip(program(hidden(batch)), decode(hidden(batch))):
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5)


class Greedy(Decoder):
    def initialize(self, inits):
        start = paddle.zeros([2], "int64")
        return start, inits, start > 0

    def step(self, time, inputs, states, stop=3):
        out, states = CELL(EMBED(inputs), states)
        token = paddle.argmax(OUT(out), axis=-1)
        if time > stop:
            token = paddle.ones_like(token)
        return (OUT(out), token), states, token, (token == 1) | (paddle.arange(2) + 1 < time)


def test_a_decoder_of_ones_own():
    def decode(h):
        return nn.dynamic_decode(Greedy(), h, impute_finished=True, return_length=True, stop=4)

    (logits, tokens), states, lengths = decode(hidden())
    assert logits.shape[:2] == tokens.shape and lengths.shape == [2] and states.shape == [2, 6]
    compare(decode, (hidden(),))
