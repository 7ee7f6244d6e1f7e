"""Attention over long sequences, which goes block by block: the numbers of the plain way, and less memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import vitrify as paddle
from vitrify.ops import attention
from vitrify.ops.long_attention import long_attention_grad_op, long_attention_op

F = paddle.nn.functional
B, H, D = 2, 3, 8


def tensors(s, t, dtype):
    rng = np.random.default_rng(s + t)
    made = [paddle.to_tensor(rng.standard_normal((B, n, H, D))).astype(dtype) for n in (s, t, t)]
    for x in made:
        x.stop_gradient = False
    return made


def mask_of(kind, s, t, dtype):
    rng = np.random.default_rng(7)
    if kind == "bool":
        return paddle.to_tensor(rng.random((B, 1, s, t)) > 0.3)
    shape = {"scores": (B, H, s, t), "keys": (1, t), "queries": (H, s, 1)}.get(kind)
    if shape is None:
        return None
    made = paddle.to_tensor(rng.standard_normal(shape)).astype(dtype)
    made.stop_gradient = False
    return made


def run(monkeypatch, by_blocks, wanted, mask, is_causal, compiled, dropout=0.0):
    """The result, its gradients, and those of the sum of their squares."""
    monkeypatch.setattr(attention, "is_long", lambda *given: by_blocks)

    def outs(*given):
        out = F.scaled_dot_product_attention(*given[:3], attn_mask=mask, is_causal=is_causal, dropout_p=dropout)
        first = paddle.grad((out.astype("float64") ** 2).sum(), list(given), create_graph=True)
        return out, first, paddle.grad(sum((x.astype("float64") ** 2).sum() for x in first), list(given))

    given = wanted if mask is None or mask.stop_gradient else [*wanted, mask]
    paddle.seed(5)
    out, first, second = (paddle.jit.to_static(outs) if compiled else outs)(*given)
    return [x.astype("float64").numpy() for x in (out, *first, *second)]


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "static"])
@pytest.mark.parametrize(
    ("s", "t", "is_causal", "kind"),
    [
        (300, 300, True, None), (300, 170, True, None), (170, 300, True, None), (300, 200, False, None),
        (300, 200, False, "bool"), (300, 200, False, "scores"), (300, 200, False, "keys"), (130, 200, False, "queries"),
        (1, 1, True, None), (5, 0, False, None), (0, 5, False, None),
    ],
)  # fmt: skip
def test_blocks_give_what_all_scores_at_once_give(monkeypatch, s, t, is_causal, kind, compiled):
    given, mask = tensors(s, t, "float64"), mask_of(kind, s, t, "float64")
    if t == 0:  # nothing to attend to: no number
        out = long_attention_op(*(x.transpose([0, 2, 1, 3]) for x in given), None, is_causal=False)[0]
        assert out.shape == [B, H, s, D]
        return
    plain = run(monkeypatch, False, given, mask, is_causal, compiled)
    for found, wanted in zip(run(monkeypatch, True, given, mask, is_causal, compiled), plain):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "static"])
@pytest.mark.parametrize(
    ("s", "t", "is_causal", "kind"),
    [
        (300, 300, True, None), (300, 170, True, None), (170, 301, False, "bool"), (130, 200, False, "scores"),
        (130, 203, False, "queries"), (1, 1, True, None),
    ],
)  # fmt: skip
def test_blocks_drop_what_dropout_of_all_probabilities_drops(monkeypatch, s, t, is_causal, kind, compiled):
    """The same numbers are drawn, and drawn again by backward: results and gradients of both orders are the same."""
    given, mask = tensors(s, t, "float64"), mask_of(kind, s, t, "float64")
    plain = run(monkeypatch, False, given, mask, is_causal, compiled, 0.3)
    for found, wanted in zip(run(monkeypatch, True, given, mask, is_causal, compiled, 0.3), plain):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_draws_behind_attention_go_on_where_dropout_of_all_probabilities_ends(monkeypatch):
    x, found = tensors(130, 130, "float32")[0], []
    for by_blocks in (False, True):
        monkeypatch.setattr(attention, "is_long", lambda *given, by_blocks=by_blocks: by_blocks)
        paddle.seed(3)
        out = F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)
        found.append((out.numpy(), paddle.rand([3]).numpy(), F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-4, atol=1e-5)
    assert (found[0][1] == found[1][1]).all()
    assert (found[1][0] != found[1][2].numpy()).any()


def test_a_program_cloned_for_testing_drops_nothing(monkeypatch):
    monkeypatch.setattr(attention, "is_long", lambda *given: True)
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        x = paddle.static.data("x", [1, 40, 1, 4])
        out = F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)
    feed = {"x": np.random.default_rng(0).random((1, 40, 1, 4), np.float32)}
    names = [op.op.name for op in program.clone(for_test=True).global_block().ops]
    assert "long_attention" in names and "dropped_attention" not in names
    (found,) = paddle.static.Executor().run(program.clone(for_test=True), feed=feed, fetch_list=[out.name])
    given = paddle.to_tensor(feed["x"])
    wanted = F.scaled_dot_product_attention(given, given, given, dropout_p=0.5, training=False)
    np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-5)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-5), ("float16", 5e-3), ("bfloat16", 4e-2)])
def test_other_dtypes(monkeypatch, dtype, tolerance):
    given = tensors(200, 150, dtype)
    plain = run(monkeypatch, False, given, None, True, False)[:4]
    for found, wanted in zip(run(monkeypatch, True, given, None, True, False), plain):
        assert np.abs(found - wanted).max() <= tolerance * (1 + np.abs(wanted).max())


@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_the_scores_of_long_sequences_are_never_there_at_once(dropout):
    x = paddle.rand([1, 2048, 2, 8])
    x.stop_gradient = False
    tracemalloc.start()
    try:
        F.scaled_dot_product_attention(x, x, x, is_causal=True, dropout_p=dropout).sum().backward()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * 2 * 2048 * 2048
    assert np.isfinite(x.grad.numpy()).all()


def test_rows_that_see_nothing_are_no_numbers():
    """As with all scores at once."""
    x = paddle.rand([1, 1024, 1, 4])
    mask = paddle.ones([1024, 1024], "bool")
    mask[3] = False
    out = F.scaled_dot_product_attention(x, x, x, attn_mask=mask).numpy()
    assert np.isnan(out[0, 3]).all() and np.isfinite(np.delete(out, 3, 1)).all()


def test_what_does_not_fit_is_refused():
    x = paddle.rand([1, 2, 3, 4])
    with pytest.raises(paddle.core.errors.ShapeError, match="expected \\[b, h, s, d\\]"):
        long_attention_op(x, x, x[:, :1], None, is_causal=False)
    with pytest.raises(paddle.core.errors.DTypeError, match="the mask is int64"):
        long_attention_op(x, x, x, paddle.ones([3, 3], "int64"), is_causal=False)
    with pytest.raises(paddle.core.errors.DTypeError, match="expected real floating point"):
        long_attention_op(*[x.astype("int32")] * 3, None, is_causal=False)


def test_the_gradient_of_attention_without_queries_is_zero():
    q, k = paddle.zeros([1, 1, 0, 4]), paddle.rand([1, 1, 5, 4])
    out, log_sum = long_attention_op(q, k, k, None, is_causal=False)
    found = long_attention_grad_op(out, q, k, k, None, out, log_sum, is_causal=False)
    assert [x.shape for x in found] == [[1, 1, 0, 4], [1, 1, 5, 4], [1, 1, 5, 4]]
    assert not found[1].any() and not found[2].any()
