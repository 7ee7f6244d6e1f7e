"""Attention and transformers against NumPy, masks, caches, programs."""

import numpy as np
import pytest

from vitrify import nn, to_tensor
from vitrify.core.errors import ArgumentError
from vitrify.jit import to_static
from vitrify.static import InputSpec, Program, program_guard

D, HEADS, FF = 8, 2, 16


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def close(actual, expected):
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-4, atol=1e-5)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def linear(layer, x):
    return x @ layer.weight.numpy() + layer.bias.numpy()


def norm(layer, x):
    centred = x - x.mean(axis=-1, keepdims=True)
    return (
        centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5) * layer.weight.numpy() + layer.bias.numpy()
    )


def heads(x):
    return x.reshape(*x.shape[:2], HEADS, -1).swapaxes(1, 2)


def attention(layer, q, k, v, mask=0.0):
    q, k, v = heads(linear(layer.q_proj, q)), heads(linear(layer.k_proj, k)), heads(linear(layer.v_proj, v))
    weights = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]) + mask)
    out = (weights @ v).swapaxes(1, 2).reshape(q.shape[0], q.shape[2], -1)
    return linear(layer.out_proj, out), weights


def feed_forward(layer, x):
    return linear(layer.linear2, np.maximum(linear(layer.linear1, x), 0))


def encode(layer, x, mask=0.0):
    x = norm(layer.norm1, x + attention(layer.self_attn, x, x, x, mask)[0])
    return norm(layer.norm2, x + feed_forward(layer, x))


def decode(layer, x, memory, mask=0.0):
    x = norm(layer.norm1, x + attention(layer.self_attn, x, x, x, mask)[0])
    x = norm(layer.norm2, x + attention(layer.cross_attn, x, memory, memory)[0])
    return norm(layer.norm3, x + feed_forward(layer, x))


# --- attention -----------------------------------------------------------------------------------------------------


def test_self_attention():
    layer, x = nn.MultiHeadAttention(D, HEADS), drawn(3, 5, D)
    close(layer(to_tensor(x)), attention(layer, x, x, x)[0])


def test_attention_to_other_sizes_with_weights():
    layer = nn.MultiHeadAttention(D, HEADS, kdim=6, vdim=4, need_weights=True)
    q, k, v = drawn(3, 5, D), drawn(3, 7, 6, seed=1), drawn(3, 7, 4, seed=2)
    out, weights = layer(*map(to_tensor, (q, k, v)))
    expected = attention(layer, q, k, v)
    close(out, expected[0])
    close(weights, expected[1])


KEEP = np.tril(np.ones((5, 5), bool))
MASKS = [KEEP, KEEP.astype("int64"), np.where(KEEP, 0.0, -np.inf).astype("float32")]


@pytest.mark.parametrize("mask", MASKS, ids=["bool", "int", "float"])
def test_masks(mask):
    layer, x = nn.MultiHeadAttention(D, HEADS), drawn(3, 5, D)
    close(layer(to_tensor(x), attn_mask=to_tensor(mask)), attention(layer, x, x, x, np.where(KEEP, 0.0, -1e9))[0])


def test_a_growing_cache_decodes_step_by_step():
    layer, x = nn.MultiHeadAttention(D, HEADS), to_tensor(drawn(3, 5, D))
    whole = layer(x, attn_mask=to_tensor(KEEP))
    cache = layer.gen_cache(x)
    assert cache.k.shape == [3, HEADS, 0, D // HEADS]
    for t in range(5):
        step, cache = layer(x[:, t : t + 1], cache=cache)
        close(step, whole.numpy()[:, t : t + 1])
    assert cache.v.shape == [3, HEADS, 5, D // HEADS]
    assert layer.gen_cache(cache.k, cache.v).k is cache.k


def test_a_static_cache_holds_the_memory():
    layer, q, memory = nn.MultiHeadAttention(D, HEADS), drawn(3, 5, D), drawn(3, 7, D, seed=1)
    cache = layer.gen_cache(to_tensor(memory), to_tensor(memory), type=nn.MultiHeadAttention.StaticCache)
    out, same = layer(to_tensor(q), None, None, None, cache)
    assert same is cache
    close(out, attention(layer, q, memory, memory)[0])


def test_heads_must_divide():
    with pytest.raises(ArgumentError, match="embed_dim 7 must be positive and divisible by num_heads 2"):
        nn.MultiHeadAttention(7, 2)


# --- encoder and decoder -------------------------------------------------------------------------------------------


def test_encoder_layer():
    layer, x = nn.TransformerEncoderLayer(D, HEADS, FF, 0.0), drawn(3, 5, D)
    close(layer(to_tensor(x)), encode(layer, x))


def test_decoder_layer():
    layer = nn.TransformerDecoderLayer(D, HEADS, FF, 0.0)
    x, memory = drawn(3, 5, D), drawn(3, 7, D, seed=1)
    out = layer(to_tensor(x), to_tensor(memory), tgt_mask=to_tensor(KEEP))
    close(out, decode(layer, x, memory, np.where(KEEP, 0.0, -1e9)))


def test_normalizing_first():
    layer, x = nn.TransformerEncoderLayer(D, HEADS, FF, 0.0, normalize_before=True), drawn(3, 5, D)
    y = norm(layer.norm1, x)
    middle = x + attention(layer.self_attn, y, y, y)[0]
    close(layer(to_tensor(x)), middle + feed_forward(layer, norm(layer.norm2, middle)))


def test_stacks_have_layers_of_their_own_and_a_final_norm():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(D, HEADS, FF, 0.0), 2, nn.LayerNorm(D))
    x = drawn(3, 5, D)
    close(encoder(to_tensor(x)), norm(encoder.norm, encode(encoder.layers[1], encode(encoder.layers[0], x))))
    assert (encoder.layers[0].linear1.weight.numpy() != encoder.layers[1].linear1.weight.numpy()).any()


def test_a_users_layer_is_copied():
    class Halve(nn.Layer):
        def __init__(self):
            super().__init__()
            self.factor = self.create_parameter([1], default_initializer=nn.initializer.Constant(0.5))

        def forward(self, src, src_mask=None):
            return src * self.factor

    encoder = nn.TransformerEncoder(Halve(), 3)
    assert encoder(to_tensor([8.0])).tolist() == [1.0] and len(encoder.parameters()) == 3


def test_the_whole_transformer():
    model = nn.Transformer(D, HEADS, 1, 1, FF, 0.0)
    src, tgt = drawn(3, 7, D), drawn(3, 5, D, seed=1)
    mask = model.generate_square_subsequent_mask(5)
    assert mask.numpy()[0].tolist() == [0.0] + [-np.inf] * 4 and mask.numpy()[4].tolist() == [0.0] * 5
    memory = norm(model.encoder.norm, encode(model.encoder.layers[0], src))
    expected = norm(model.decoder.norm, decode(model.decoder.layers[0], tgt, memory, mask.numpy()))
    close(model(to_tensor(src), to_tensor(tgt), tgt_mask=mask), expected)
    custom = nn.Transformer(D, HEADS, custom_encoder=model.encoder, custom_decoder=model.decoder)
    close(custom(to_tensor(src), to_tensor(tgt), tgt_mask=mask), expected)


def test_decoding_with_caches():
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(D, HEADS, FF, 0.0), 2, nn.LayerNorm(D))
    x, memory = to_tensor(drawn(3, 5, D)), to_tensor(drawn(3, 7, D, seed=1))
    whole = decoder(x, memory, tgt_mask=to_tensor(KEEP))
    cache = decoder.gen_cache(memory)
    for t in range(5):
        step, cache = decoder(x[:, t : t + 1], memory, cache=cache)
        close(step, whole.numpy()[:, t : t + 1])
    growing, static = decoder.gen_cache(memory, do_zip=True)
    assert len(growing) == len(static) == 2 and static[0].k.shape == [3, HEADS, 7, D // HEADS]


def test_encoding_with_caches():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(D, HEADS, FF, 0.0), 2)
    x = to_tensor(drawn(3, 5, D))
    whole = encoder(x, src_mask=to_tensor(KEEP))
    cache = encoder.gen_cache(x)
    for t in range(5):
        step, cache = encoder(x[:, t : t + 1], cache=cache)
        close(step, whole.numpy()[:, t : t + 1])


def test_attributes_for_each_part():
    one, two, three = (nn.initializer.Constant(v) for v in (1.0, 2.0, 3.0))
    layer = nn.TransformerDecoderLayer(D, HEADS, FF, weight_attr=[one, two, three], bias_attr=[None, False, None])
    parts = (layer.self_attn.q_proj, layer.cross_attn.q_proj, layer.linear1)
    assert [part.weight.numpy()[0, 0] for part in parts] == [1.0, 2.0, 3.0]
    assert layer.cross_attn.q_proj.bias is None and layer.self_attn.q_proj.bias is not None
    model = nn.Transformer(D, HEADS, 2, 1, FF, weight_attr=[one, three])
    assert model.encoder.layers[1].linear1.weight.numpy()[0, 0] == 3.0
    assert model.decoder.layers[0].cross_attn.q_proj.weight.numpy()[0, 0] == 1.0
    with pytest.raises(ArgumentError, match="1 to 2 entries, got 4"):
        nn.TransformerEncoderLayer(D, HEADS, FF, weight_attr=[None] * 4)


def test_the_name_of_one_attribute_is_numbered_by_parts():
    with program_guard(Program(), Program()):  # eagerly a name belongs to one parameter; in a program it shares it
        model = nn.Transformer(D, HEADS, 1, 1, D, weight_attr=nn.ParamAttr(name="w"), bias_attr=False)
    encoder, decoder = model.encoder.layers[0], model.decoder.layers[0]
    attention = encoder.self_attn
    parts = (attention.q_proj, attention.k_proj, attention.v_proj, attention.out_proj)
    assert {part.weight.name for part in parts} == {"w_0"}
    assert encoder.linear1.weight.name == encoder.linear2.weight.name == "w_1"
    parts = (decoder.self_attn.v_proj, decoder.cross_attn.k_proj, decoder.linear2)
    assert [part.weight.name for part in parts] == ["w_0", "w_1", "w_2"]


def test_dropout_trains():
    layer, x = nn.TransformerEncoderLayer(D, HEADS, FF, 0.5), to_tensor(drawn(3, 5, D))
    assert (layer(x).numpy() != layer(x).numpy()).any()
    layer.eval()
    assert (layer(x).numpy() == layer(x).numpy()).all()


# --- programs ------------------------------------------------------------------------------------------------------


def test_a_program_of_unknown_sizes_gives_the_same():
    model = nn.Transformer(D, HEADS, 1, 1, FF, 0.0, activation="gelu")
    src, tgt = to_tensor(drawn(3, 7, D)), to_tensor(drawn(3, 5, D, seed=1))
    compiled = to_static(model.forward, input_spec=[InputSpec([None, None, D])] * 2)
    grads = []
    for forward in (model.forward, compiled):
        model.clear_gradients(False)
        out = forward(src, tgt)
        (out * out).sum().backward()
        grads.append([out.numpy(), *(p.grad.numpy() for p in model.parameters())])
    for one, two in zip(*grads):
        np.testing.assert_allclose(one, two, rtol=1e-3, atol=1e-5)


def test_one_attribute_becomes_several_with_numbered_names():
    from vitrify.nn.layer.transformer import _convert_param_attr_to_list as spread

    attr = nn.ParamAttr(name="w")
    assert [a.name for a in spread(attr, 2)] == ["w_0", "w_1"]
    assert [a.name for a in spread(None, 2)] == [None, None]
    assert spread(False, 2) == [False, False] and spread([attr, False], 2) == [attr, False]
    with pytest.raises(ValueError, match="should be 2"):
        spread([attr], 2)


def test_models_rotate_what_attention_prepares():
    class Rotated(nn.MultiHeadAttention):
        def _prepare_qkv(self, query, key, value, cache=None):
            q, *rest = super()._prepare_qkv(query, key, value, cache)
            return (-q, *rest)

    rotated, plain = Rotated(4, 2), nn.MultiHeadAttention(4, 2)
    plain.set_state_dict(rotated.state_dict())
    plain.q_proj.weight.set_value(-plain.q_proj.weight)
    plain.q_proj.bias.set_value(-plain.q_proj.bias)
    x = to_tensor(np.linspace(-1, 1, 12, dtype="float32").reshape(1, 3, 4))
    np.testing.assert_allclose(rotated(x).numpy(), plain(x).numpy(), rtol=1e-6)
    cache = plain.gen_cache(x)
    for one, two in zip(rotated(x, x, x, None, cache), plain(x, x, x, None, cache)):
        np.testing.assert_allclose(one[0].numpy(), two[0].numpy(), rtol=1e-6)
