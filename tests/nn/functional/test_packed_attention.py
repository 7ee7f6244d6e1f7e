"""Attention within parts of sequences is attention of each part alone, with its gradients."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError, ShapeError
from vitrify.nn import functional as F

BOUNDS = [0, 3, 4, 9]


def tensor(*shape):
    values = np.random.default_rng(sum(shape)).standard_normal(shape)
    return paddle.to_tensor(values, stop_gradient=False)


def with_gradients(f, *args):
    """The result and the gradients of the sum of its squares."""
    out = f(*args)
    tensors = [a for a in args if a.dtype == paddle.float64]
    return [out.numpy(), *(g.numpy() for g in paddle.grad((out**2).sum(), tensors))]


def assert_same(f, expected, *args):
    wanted = with_gradients(expected, *args)
    for run in (f, paddle.jit.to_static(f, full_graph=True)):
        for found, value in zip(with_gradients(run, *args), wanted, strict=True):
            np.testing.assert_allclose(found, value, atol=1e-12)


def masked(q, k, v, seen):
    """Attention by its definition, from a bool array [b, h, s, t]; zeros where nothing is seen."""
    k, v = (paddle.repeat_interleave(x, q.shape[2] // x.shape[2], 2) for x in (k, v))
    q, k, v = (x.transpose([0, 2, 1, 3]) for x in (q, k, v))
    weights = paddle.exp(q @ k.transpose([0, 1, 3, 2]) / q.shape[-1] ** 0.5) * paddle.to_tensor(seen.astype("float64"))
    total = weights.sum(-1, keepdim=True)
    return (weights / paddle.where(total > 0, total, 1.0) @ v).transpose([0, 2, 1, 3])


@pytest.mark.parametrize("causal", [False, True])
def test_sequences_that_follow_each_other(causal):
    q, k, v = tensor(9, 4, 5), tensor(9, 2, 5), tensor(9, 2, 5)

    def packed(q, k, v):
        bounds = paddle.to_tensor(BOUNDS, "int32")
        return F.flash_attention.flash_attn_unpadded(q, k, v, bounds, bounds, 5, 5, 5**-0.5, causal=causal)[0]

    def one_by_one(q, k, v):
        parts = [[x[a:b].unsqueeze(0) for x in (q, k, v)] for a, b in zip(BOUNDS, BOUNDS[1:])]
        return paddle.concat([F.scaled_dot_product_attention(*p, is_causal=causal)[0] for p in parts])

    assert_same(packed, one_by_one, q, k, v)


def test_the_last_query_of_a_sequence_sees_all_its_keys():
    q, k, v = tensor(3, 1, 4), tensor(5, 1, 4), tensor(5, 1, 4)
    seen = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 1, 1]], bool)

    def packed(q, k, v):
        of_q, of_k = paddle.to_tensor([0, 2, 3]), paddle.to_tensor([0, 2, 5])
        return F.flash_attention.flash_attn_unpadded(q, k, v, of_q, of_k, 2, 3, 0.5, causal=True)[0]

    assert_same(packed, lambda *xs: masked(*(x.unsqueeze(0) for x in xs), seen[None, None])[0], q, k, v)


def test_query_key_and_value_in_one():
    qkv, bounds = tensor(9, 4, 2, 5), paddle.to_tensor(BOUNDS)
    whole = F.flash_attn_varlen_qkvpacked(qkv, bounds, bounds, 5, 5, 0.3)[0]
    parts = qkv[:, :2].flatten(1, 2), qkv[:, 2], qkv[:, 3]
    apart = F.flash_attention.flash_attn_unpadded(*parts, bounds, bounds, 5, 5, 0.3)[0]
    np.testing.assert_array_equal(whole.numpy(), apart.numpy())


ROWS, COLUMNS = np.arange(6)[:, None], np.arange(6)[None]
FIRST, SECOND, THIRD, FOURTH = np.array([[3, 2, 6, 4, 5, 6], [5, 4, 6, 6, 5, 6], [0] * 6, [0, 1, 1, 2, 0, 3]])
MASKS = {
    "causal_1": (True, [FIRST], ROWS < FIRST),
    "causal_2": (True, [FIRST, SECOND], (ROWS < FIRST) | (ROWS >= SECOND)),
    "both_2": (False, [FIRST, FOURTH], (ROWS < FIRST) & (ROWS >= FOURTH)),
    "both_4": (
        False,
        [FIRST, SECOND, THIRD, FOURTH],
        ~((ROWS >= FIRST) & (ROWS < SECOND)) & ~((ROWS >= THIRD) & (ROWS < FOURTH)),
    ),
}


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("name", MASKS)
def test_bounds_tell_which_queries_do_not_see_a_key(name, heads):
    causal, bounds, seen = MASKS[name]
    q, k, v = tensor(2, 6, 4, 3), tensor(2, 6, 2, 3), tensor(2, 6, 2, 3)
    indices = np.broadcast_to(np.stack(bounds, -1), [2, heads, 6, len(bounds)]).astype("int32")
    seen = seen & (COLUMNS <= ROWS) if causal else seen
    seen = np.broadcast_to(seen, [2, 4, 6, 6])
    flash = lambda q, k, v: F.flashmask_attention(q, k, v, paddle.to_tensor(indices), causal=causal)  # noqa: E731
    assert_same(flash, lambda *xs: masked(*xs, seen), q, k, v)


@pytest.mark.parametrize(
    ("causal", "window", "seen"),
    [
        (True, 2, (COLUMNS <= ROWS) & (COLUMNS >= ROWS - 2)),
        (False, 1, abs(COLUMNS - ROWS) <= 1),
        (False, (0, 3), (COLUMNS >= ROWS) & (COLUMNS <= ROWS + 3)),
        (False, None, COLUMNS + ROWS >= 0),
    ],
)
def test_a_window_around_each_query(causal, window, seen):
    q, k, v = tensor(1, 6, 1, 3), tensor(1, 6, 1, 3) * 2, tensor(1, 6, 1, 3) * 3
    flash = lambda q, k, v: F.flashmask_attention(q, k, v, causal=causal, window_size=window)  # noqa: E731
    assert_same(flash, lambda *xs: masked(*xs, seen[None, None]), q, k, v)


def test_a_bias_of_the_scores():
    q, bias = tensor(2, 3, 2, 4), paddle.to_tensor(np.arange(9.0).reshape(3, 3))
    found = paddle.incubate.nn.memory_efficient_attention(q, q, q, bias, scale=0.3)
    np.testing.assert_array_equal(found.numpy(), F.scaled_dot_product_attention(q, q, q, bias, scale=0.3).numpy())


X, BOUND = paddle.ones([2, 3, 2, 4]), paddle.to_tensor([0, 3])
PACKED = F.flash_attention.flash_attn_unpadded
ERRORS = [
    (lambda: PACKED(X, X, X, BOUND, BOUND, 3, 3, 1.0), ShapeError, "4, 4 and 4 dimensions"),
    (lambda: PACKED(X[0], X[0], X[0], BOUND, BOUND, 3, 3, 1.0, return_softmax=True), ArgumentError, "not kept"),
    (lambda: F.flashmask_attention(X[0], X[0], X[0]), ShapeError, "3, 3 and 3 dimensions"),
    (lambda: F.flashmask_attention(X, X, X, block_mask=X), ArgumentError, "block_mask is not offered"),
    (lambda: F.flashmask_attention(X, X, X, paddle.ones([2, 1, 3, 3], "int32")), ShapeError, "3 bounds for each key"),
    (lambda: F.flash_attn_varlen_qkvpacked(X[0], BOUND, BOUND, 3, 3, 1.0), ShapeError, "expected [t, h / g + 2, g, d]"),
]


@pytest.mark.parametrize(("call", "kind", "text"), ERRORS, ids=[text for *_, text in ERRORS])
def test_what_does_not_fit_is_refused(call, kind, text):
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value)
