"""Arguments of library functions and Layers that are None on one path; lists without what is None."""

import vitrify as paddle
import vitrify.nn.functional as F

from .functions import M


def bias(x, c):
    h = None
    if c.sum() > 0:
        h = x[0] * 2
    return F.linear(x[:2], x[:2], h), F.linear(x[:2], x[1:], bias=h if c.sum() > 1 else None)


def bounds(x, c):
    low = x.min() + 1 if c.sum() > 0 else None
    high = x.max() - 1 if c.sum() > 1 else 5.0
    return paddle.clip(x, low, high), x.clip(max=high, min=low)


def weight_and_bias(x, c):
    return F.layer_norm(x, [2], x[0] if c.sum() > 0 else None, x[1] if c.sum() > 1 else None)


def masked(x, c):
    mask = None
    if c.sum() > 0:
        mask = paddle.to_tensor([[0.0, -1e9], [0.0, 0.0]])
    y = x[:2].reshape([1, 2, 1, 2])
    return F.scaled_dot_product_attention(y, y, y, attn_mask=mask)


def those_that_are_there(x, c):
    rows = [row if row.sum() > c.sum() else None for row in x]
    return [row * 2 for row in rows if row is not None]


CASES = [
    (f, ((M, [0.5]), (M, [-1.0]), (M, [2.0]))) for f in (bias, bounds, weight_and_bias, masked, those_that_are_there)
]
