"""Linear maps, embeddings, attention, and images sampled at given places."""

import numpy as np
import scipy.ndimage
import scipy.special

from vitrify import assign
from vitrify.nn import functional as F
from vitrify.ops.flat_product import mul_op
from vitrify.ops.long_attention import long_attention_op
from vitrify.testing import Case, floats, ints


def attention(q, k, v, mask=None, scale=None, causal=False):
    """Heads one by one; where `mask` is False no attention is paid."""
    out = np.empty(q.shape)
    group = q.shape[2] // k.shape[2]
    for b, h in np.ndindex(q.shape[0], q.shape[2]):
        scores = q[b, :, h] @ k[b, :, h // group].T * (q.shape[3] ** -0.5 if scale is None else scale)
        if causal:
            scores = np.where(np.tri(*scores.shape), scores, -np.inf)
        elif mask is not None:
            scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
        out[b, :, h] = scipy.special.softmax(scores, -1) @ v[b, :, h // group]
    return out


def by_blocks(q, k, v, mask=None, is_causal=False):
    """The op that long attention is, of as many heads for keys as for queries."""
    k, v = (x.repeat_interleave(q.shape[2] // x.shape[2], 2) for x in (k, v))
    q, k, v = (x.transpose([0, 2, 1, 3]) for x in (q * q.shape[3] ** -0.5, k, v))
    return long_attention_op(q, k, v, mask, is_causal=is_causal)[0].transpose([0, 2, 1, 3])


def sampled(x, grid, order=1, mode="grid-constant", corners=True):
    """SciPy's sampling of each plane at the grid's places."""
    sizes = np.array(x.shape[2:])[::-1]
    at = (grid + 1) / 2 * (sizes - 1) if corners else ((grid + 1) * sizes - 1) / 2
    out = np.empty((*x.shape[:2], *grid.shape[1:-1]))
    for n, c in np.ndindex(*x.shape[:2]):
        out[n, c] = scipy.ndimage.map_coordinates(x[n, c], np.moveaxis(at[n], -1, 0)[::-1], order=order, mode=mode)
    return out


def shifted(x, frames, channels):
    """`channels` of them from the frame before, as many from the one after."""
    x = x.reshape(-1, frames, *x.shape[1:])
    out = x.copy()
    out[:, 1:, :channels], out[:, :1, :channels] = x[:, :-1, :channels], 0
    out[:, :-1, channels : 2 * channels], out[:, -1:, channels : 2 * channels] = x[:, 1:, channels : 2 * channels], 0
    return out.reshape(-1, *x.shape[2:])


Q, K, V = floats(2, 3, 4, 5), floats(2, 6, 2, 5, seed=1), floats(2, 6, 2, 5, seed=2)
IMAGE = floats(2, 3, 4, 5)
GRID = floats(2, 3, 2, 2, low=-1.4, high=1.4)
LOOK_UP = ints(3, 4, high=5)

CASES = [
    Case(
        "linear",
        F.linear,
        (floats(3, 4), floats(4, 5), floats(5)),
        ref=lambda x, w, b: x @ w + b,
        second=True,
    ),
    Case("linear of stacked rows", F.linear, (floats(2, 3, 4), floats(4, 5)), ref=np.matmul, second=True),
    Case("linear of one row", F.linear, (floats(4), floats(4, 5), floats(5)), ref=lambda x, w, b: x @ w + b),
    Case(
        "linear with one bias for all",
        F.linear,
        (floats(3, 4), floats(4, 5), floats(1)),
        ref=lambda x, w, b: x @ w + b,
        dynamic=False,
    ),
    Case("linear with a stack of weights", F.linear, (floats(3, 4), floats(2, 4, 5)), ref=np.matmul),
    Case("linear of nothing", F.linear, (np.zeros((2, 0, 4)), floats(4, 5), floats(5)), ref=lambda x, w, b: x @ w + b),
    Case(
        "product of rows",
        lambda x, w: mul_op(x, w, x_num_col_dims=1),
        (floats(3, 2, 2), floats(4, 5)),
        ref=lambda x, w: x.reshape(3, 4) @ w,
        second=True,
    ),
    Case(
        "product of stacked rows",
        lambda x, w: mul_op(x, w, x_num_col_dims=2),
        (floats(2, 3, 2, 2), floats(4, 5)),
        ref=lambda x, w: x.reshape(2, 3, 4) @ w,
        second=True,
    ),
    Case("product of a matrix", lambda x, w: mul_op(x, w, x_num_col_dims=1), (floats(3, 4), floats(4, 5)), ref=np.matmul),
    Case(
        "product of nothing",
        lambda x, w: mul_op(x, w, x_num_col_dims=1),
        (np.zeros((0, 4)), floats(4, 5)),
        ref=np.matmul,
    ),
    Case(
        "bilinear",
        F.bilinear,
        (floats(3, 4), floats(3, 2), floats(5, 4, 2), floats(1, 5)),
        ref=lambda a, b, w, bias: np.einsum("ni,oij,nj->no", a, w, b) + bias,
        second=True,
        dynamic=False,
    ),
    Case("embedding", F.embedding, (LOOK_UP, floats(5, 2)), ref=lambda i, w: w[i], second=True),
    Case("embedding of one id", F.embedding, (np.array(3), floats(5, 2)), ref=lambda i, w: w[i]),
    Case(
        "embedding with padding",
        lambda i, w: F.embedding(i, w, padding_idx=-2),
        (LOOK_UP, floats(5, 2)),
        ref=lambda i, w: w[i] * (i != 3)[..., None],
        second=True,
        dynamic=False,
    ),
    Case(
        "embedding, gradient by frequency",
        lambda i, w: F.embedding(i, w, scale_grad_by_freq=True),
        (np.arange(4).reshape(2, 2), floats(5, 2)),
        ref=lambda i, w: w[i],
    ),
    Case("label_smooth", F.label_smooth, (floats(3, 4),), ref=lambda x: 0.9 * x + 0.1 / 4),
    Case("label_smooth of no classes", F.label_smooth, (np.zeros((2, 0)),), ref=lambda x: x),
    Case(
        "label_smooth with a prior",
        lambda x: F.label_smooth(x, assign(floats(1, 4)).astype(x.dtype), 0.3),
        (floats(3, 4),),
        ref=lambda x: 0.7 * x + 0.3 * floats(1, 4),
    ),
    Case("attention", F.scaled_dot_product_attention, (Q, K, V), ref=attention, second=True, dynamic=False),
    Case(
        "attention without a batch",
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.3),
        (Q[0], K[0], V[0]),
        ref=lambda q, k, v: attention(q[None], k[None], v[None], scale=0.3)[0],
        dynamic=False,
    ),
    Case(
        "causal attention",
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        (Q, K, V),
        ref=lambda q, k, v: attention(q, k, v, causal=True),
        second=True,
        dynamic=False,
    ),
    Case(
        "attention under a mask",
        F.scaled_dot_product_attention,
        (Q, K, V, np.array([[True, False, True, True, False, True]] * 3)),
        ref=attention,
        dynamic=False,
    ),
    Case(
        "attention with a bias",
        F.scaled_dot_product_attention,
        (Q, K, V, floats(3, 6)),
        ref=attention,
        second=True,
        dynamic=False,
    ),
    Case("long attention", by_blocks, (Q, K, V), ref=attention, second=True, dynamic=False),
    Case(
        "long causal attention",
        lambda q, k, v: by_blocks(q, k, v, is_causal=True),
        (Q, K, V),
        ref=lambda q, k, v: attention(q, k, v, causal=True),
        second=True,
        dynamic=False,
    ),
    Case(
        "long attention under a mask",
        by_blocks,
        (Q, K, V, np.array([[True, False, True, True, False, True]] * 3)),
        ref=attention,
        dynamic=False,
    ),
    Case("long attention with a bias", by_blocks, (Q, K, V, floats(3, 6)), ref=attention, second=True, dynamic=False),
    Case("long attention with a bias for each key", by_blocks, (Q, K, V, floats(6)), ref=attention, second=True,
         dynamic=False),
    Case("grid_sample of no images", lambda x, g: F.grid_sample(x[:0], g[:0]), (IMAGE, GRID),
         ref=lambda x, g: sampled(x, g)[:0], dtypes=("float32",)),
    Case("grid_sample", F.grid_sample, (IMAGE, GRID), ref=sampled, second=True, dtypes=("float32",)),
    Case(
        "grid_sample between outer edges, border",
        lambda x, g: F.grid_sample(x, g, padding_mode="border", align_corners=False),
        (IMAGE, GRID),
        ref=lambda x, g: sampled(x, g, mode="nearest", corners=False),
        second=True,
        dtypes=("float32",),
    ),
    Case(
        "grid_sample by reflection",
        lambda x, g: F.grid_sample(x, g, padding_mode="reflection"),
        (IMAGE, GRID * 2.5),
        ref=lambda x, g: sampled(x, g, mode="mirror"),
        second=True,
        dtypes=("float32",),
    ),
    Case(
        "grid_sample by reflection between outer edges",
        lambda x, g: F.grid_sample(x, g, padding_mode="reflection", align_corners=False),
        (IMAGE, GRID * 2.5),
        ref=lambda x, g: sampled(x, g, mode="reflect", corners=False),
        dtypes=("float32",),
    ),
    Case(
        "grid_sample, nearest",
        lambda x, g: F.grid_sample(x, g, "nearest"),
        (IMAGE, GRID),
        ref=lambda x, g: sampled(x, g, 0),
        dtypes=(),
    ),
    Case(
        "grid_sample of volumes",
        F.grid_sample,
        (floats(1, 2, 3, 4, 5), floats(1, 2, 3, 2, 3, low=-1.3, high=1.3)),
        ref=sampled,
        dtypes=("float32",),
    ),
    Case(
        "affine_grid",
        lambda t: F.affine_grid(t, [2, 1, 3, 4]),
        (floats(2, 2, 3),),
        ref=lambda t: (
            np.stack([*np.meshgrid(np.linspace(-1, 1, 4), np.linspace(-1, 1, 3)), np.ones((3, 4))], axis=-1)
            @ t[:, None].swapaxes(-1, -2)
        ),
    ),
    Case(
        "affine_grid of volumes between outer edges",
        lambda t: F.affine_grid(t, [1, 1, 1, 2, 3], align_corners=False),
        (np.eye(3, 4)[None],),
        ref=lambda t: [[[[[x, y, 0.0] for x in (-2 / 3, 0, 2 / 3)] for y in (-0.5, 0.5)]]],
    ),
    Case("temporal_shift", F.temporal_shift, (floats(6, 8, 2, 1), 3), ref=lambda x, t: shifted(x, t, 2)),
    Case(
        "temporal_shift, channels last",
        lambda x: F.temporal_shift(x, 2, 0.4, data_format="NHWC"),
        (floats(4, 2, 1, 5),),
        ref=lambda x: np.moveaxis(shifted(np.moveaxis(x, -1, 1), 2, 2), 1, -1),
        dynamic=False,
    ),
]
