"""Fused functions and Layers of transformers: what their parts give, eagerly and compiled."""

import numpy as np
import pytest

import vitrify as paddle
import vitrify.incubate.nn.functional as fused
import vitrify.nn.functional as F
from vitrify.core.errors import ArgumentError, UnsupportedError
from vitrify.incubate import nn

N = 8


@pytest.fixture(autouse=True)
def seeded():
    paddle.seed(3)


def normed(x, scale=None, bias=None):
    return F.layer_norm(x, [N], scale, bias)


def same(found, wanted):
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)


def test_layer_norm_of_a_sum():
    x, residual, w, b = paddle.randn([2, 3, N]), paddle.randn([2, 3, N]), paddle.randn([N]), paddle.randn([N])
    out, total, mean, rstd = fused.fused_layer_norm(x, w, b, 1e-5, 2.0, begin_norm_axis=2, bias=b, residual=residual)
    same(total, x + b + 2 * residual)
    same(out, normed(total, w, b))
    same(mean, total.mean(-1).flatten())
    same(rstd, 1 / (total.var(-1, unbiased=False).flatten() + 1e-5).sqrt())
    same(fused.fused_layer_norm(x, None, None, 1e-5, bias=b, begin_norm_axis=2)[0], x + b)
    two = fused.fused_layer_norm(x, paddle.ones([3 * N]), paddle.zeros([3 * N]), 1e-5)[0]
    same(two, F.layer_norm(x, [3, N]))
    for found, wanted in zip(fused.fast_ln(x, w, b), fused.fused_layer_norm(x, w, b, 1e-5, begin_norm_axis=2)[:1]):
        same(found, wanted)


def test_rms_norm_of_a_sum():
    x, residual, w, b = paddle.randn([2, 3, N]), paddle.randn([2, 3, N]), paddle.randn([N]), paddle.randn([N])
    out, total = fused.fused_rms_norm(x, w, b, 1e-5, begin_norm_axis=2, residual=residual)
    same(total, x + residual)
    same(out, total / (total.square().mean(-1, keepdim=True) + 1e-5).sqrt() * w + b)
    same(fused.fast_rms_norm(x, w)[0], F.rms_norm(x, [N], w)[0])
    with pytest.raises(UnsupportedError, match="no quantized results"):
        fused.fused_rms_norm(x, w, b, 1e-5, quant_scale=1.0)
    with pytest.raises(ArgumentError, match="begin_norm_axis must lie in"):
        fused.fused_rms_norm(x, w, b, 1e-5, begin_norm_axis=3)


def turned(x, angle):
    """x [size] in pairs (first half, second half), turned."""
    a, b = np.split(x, 2)
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)])


@pytest.mark.parametrize("adjacent", [True, False])
def test_rotary_position_embedding(adjacent):
    q = paddle.randn([2, 3, 2, 4])
    rates = 10000.0 ** -np.array([0, 0.5])
    order = [0, 2, 1, 3] if adjacent else [0, 1, 2, 3]  # adjacent numbers as halves, and back
    at = np.array([[0, 1, 2], [2, 0, 1]])
    wanted = np.empty((2, 3, 2, 4), "float32")
    for (i, t, h), _ in np.ndenumerate(wanted[..., 0]):
        wanted[i, t, h][order] = turned(q.numpy()[i, t, h][order], rates * at[i, t])
    ids = paddle.to_tensor(at)
    out, k, v = fused.fused_rotary_position_embedding(q, q, position_ids=ids, use_neox_rotary_style=adjacent)
    np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-4, atol=1e-5)
    assert v is None and np.array_equal(k.numpy(), out.numpy())
    by_time = fused.fused_rotary_position_embedding(
        q.transpose([1, 0, 2, 3]), use_neox_rotary_style=adjacent, time_major=True
    )[0]
    same(by_time.transpose([1, 0, 2, 3])[0], out[0])
    angles = paddle.arange(3, dtype="float32").unsqueeze(1) * paddle.to_tensor(rates, dtype="float32")
    angles = paddle.repeat_interleave(angles, 2, 1) if adjacent else paddle.concat([angles, angles], 1)
    tables = {"sin": angles.sin().reshape([1, 3, 1, 4]), "cos": angles.cos().reshape([1, 3, 1, 4])}
    same(fused.fused_rotary_position_embedding(q, use_neox_rotary_style=adjacent, **tables)[0][0], out[0])


def test_activations_of_a_sum():
    x, b = paddle.randn([3, N]), paddle.randn([N])
    same(fused.fused_bias_act(x, b), F.gelu(x + b))
    half = paddle.chunk(x + b, 2, -1)
    same(fused.fused_bias_act(x, b, act_method="swiglu"), F.silu(half[0]) * half[1])
    same(fused.fused_bias_act(x, shift=b, smooth=b, act_method="relu"), (F.relu(x) + b) * b)
    with pytest.raises(ArgumentError, match="act_method must be one of"):
        fused.fused_bias_act(x, act_method="tanhish")


@pytest.mark.parametrize("before", [True, False])
def test_attention_is_that_of_the_usual_layers(before):
    layer = nn.FusedMultiHeadAttention(N, 2, 0.0, 0.0, normalize_before=before)
    usual = paddle.nn.MultiHeadAttention(N, 2, 0.0)
    for i, part in enumerate((usual.q_proj, usual.k_proj, usual.v_proj)):
        part.weight.set_value(layer.qkv_weight[i].reshape([N, N]).T)
    usual.out_proj.weight.set_value(layer.linear_weight)
    x, mask = paddle.randn([2, 3, N]), paddle.tril(paddle.ones([3, 3])).expand([2, 1, 3, 3]).astype("bool")
    inside = normed(x) if before else x
    wanted = x + usual(inside, inside, inside, attn_mask=mask)
    same(layer(x, attn_mask=mask), wanted if before else normed(wanted))
    split = nn.FusedMultiHeadAttention(N, 2, 0.0, 0.0, normalize_before=before, transpose_qkv_wb=True)
    split.qkv_weight.set_value(layer.qkv_weight.reshape([3 * N, N]).T)
    split.linear_weight.set_value(layer.linear_weight)
    same(split(x), layer(x))


def test_attention_with_a_cache():
    layer = nn.FusedTransformerEncoderLayer(N, 2, 16, 0.0)
    x, cache = paddle.randn([1, 3, N]), paddle.zeros([2, 1, 2, 0, 4])
    whole = layer(x, src_mask=paddle.tril(paddle.ones([3, 3])).reshape([1, 1, 3, 3]).astype("int64"))
    for t in range(3):
        step, cache = layer(x[:, t : t + 1], cache=cache)
        same(step[:, 0], whole[:, t])
    assert cache.shape == [2, 1, 2, 3, 4]


@pytest.mark.parametrize("before", [True, False])
def test_feed_forward_and_what_follows(before):
    layer = nn.FusedFeedForward(N, 16, 0.0, activation="gelu", normalize_before=before)
    x = paddle.randn([2, 3, N])
    inner = F.gelu(F.linear(normed(x) if before else x, layer._linear1_weight, layer._linear1_bias))
    wanted = x + F.linear(inner, layer._linear2_weight, layer._linear2_bias)
    same(layer(x), wanted if before else normed(wanted))
    assert "d_model=8, dim_feedforward=16, dropout_rate=0.0, epsilon=1e-05, activation=gelu" in repr(layer)
    last = nn.FusedBiasDropoutResidualLayerNorm(N, 0.0)
    same(last(x, x), normed(2 * x))


def test_sequences_that_end_early():
    q, k, v = (paddle.randn([2, 2, 4, 3]) for _ in range(3))
    lengths = paddle.to_tensor([[4], [2]], dtype="int32")
    out = fused.variable_length_memory_efficient_attention(q, k, v, lengths, lengths, causal=True)
    for i, n in enumerate((4, 2)):
        parts = [x[i : i + 1, :, :n].transpose([0, 2, 1, 3]) for x in (q, k, v)]
        same(out[i : i + 1, :, :n].transpose([0, 2, 1, 3]), F.scaled_dot_product_attention(*parts, is_causal=True))
        assert not out[i, :, n:].any()


def test_layers_train_compiled_for_unknown_sizes():
    net = nn.FusedTransformerEncoderLayer(N, 2, 16, 0.0, normalize_before=True)
    spec = [paddle.static.InputSpec([None, None, N], "float32")]
    compiled = paddle.jit.to_static(lambda x: net(x), input_spec=spec, full_graph=True)
    x, grads = paddle.randn([2, 3, N]), []
    for fn in (net, compiled):
        fn(x).square().mean().backward()
        grads.append({name: p.grad.numpy() for name, p in net.named_parameters()})
        net.clear_gradients()
    assert len(grads[0]) == 12
    for name, wanted in grads[0].items():
        np.testing.assert_allclose(grads[1][name], wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: nn.FusedMultiHeadAttention(8, 3), ArgumentError, "num_heads must divide embed_dim"),
        (lambda: nn.FusedMultiHeadAttention(8, 2, kdim=4), UnsupportedError, "attends to itself"),
        (lambda: nn.FusedFeedForward(8, 2, activation="tanh")(paddle.ones([1, 1, 8])), ArgumentError, "relu or gelu"),
        (lambda: fused.fused_rotary_position_embedding(paddle.ones([1, 1, 1, 3])), ValueError, "of even size"),
        (lambda: fused.fused_multi_head_attention(*[paddle.ones([2, 2, 2])] * 3), ValueError, "qkv_weight has shape"),
    ],
)
def test_errors(make, error, words):
    with pytest.raises(error, match=words):
        make()
