"""Pooling in all its forms, and its inverse."""

import itertools
import math

import numpy as np

from vitrify.nn import functional as F
from vitrify.testing import Case, floats

WIDE = ("float32",)


def pooled(x, starts, ends, combine):
    """`combine` over the windows that the ranges of each spatial dimension span, parts outside x left out."""
    sizes = x.shape[2:]
    out = np.empty((*x.shape[:2], *map(len, starts)))
    for at in itertools.product(*map(range, out.shape[2:])):
        window = tuple(slice(max(s[i], 0), min(max(e[i], 0), size)) for s, e, i, size in zip(starts, ends, at, sizes))
        out[(..., *at)] = combine(x[(..., *window)].reshape(*x.shape[:2], -1))
    return out


def slid(x, kernel, stride, pads, combine, ceil=False):
    n = x.ndim - 2
    kernel, stride, pads = np.broadcast_to(kernel, n), np.broadcast_to(stride, n), np.broadcast_to(pads, (n, 2))
    rounded = math.ceil if ceil else int  # towards zero
    counts = [rounded((size + lo + hi - k) / s) + 1 for size, k, s, (lo, hi) in zip(x.shape[2:], kernel, stride, pads)]
    starts = [[i * s - lo for i in range(c)] for c, s, (lo, _) in zip(counts, stride, pads)]
    return pooled(x, starts, [[s + k for s in row] for row, k in zip(starts, kernel)], combine)


def largest(flat):
    return flat.max(-1)


def mean(flat):
    return flat.mean(-1)


def norm(flat):
    return np.sqrt((flat**2).sum(-1))


def binned(x, counts, combine):
    sizes = x.shape[2:]
    counts = [size if c is None else c for size, c in zip(sizes, counts)]
    starts = [[i * size // c for i in range(c)] for size, c in zip(sizes, counts)]
    ends = [[-(-(i + 1) * size // c) for i in range(c)] for size, c in zip(sizes, counts)]
    return pooled(x, starts, ends, combine)


def last(fn):
    def call(x, *args, **kwargs):
        return np.moveaxis(fn(np.moveaxis(x, -1, 1), *args, **kwargs), 1, -1)

    return call


X1, X2, X3 = floats(2, 3, 9), floats(2, 3, 6, 7), floats(1, 2, 4, 5, 6)

CASES = [
    Case("max_pool2d", F.max_pool2d, (X2, 2), ref=lambda x, k: slid(x, k, k, 0, largest), second=True),
    Case("max_pool1d", F.max_pool1d, (X1, 3, 2, 1), ref=lambda x, k, s, p: slid(x, k, s, p, largest), second=True),
    Case("max_pool3d", F.max_pool3d, (X3, 2), ref=lambda x, k: slid(x, k, k, 0, largest)),
    Case("max_pool2d, window larger than x", F.max_pool2d, (X2, 8), ref=lambda x, k: slid(x, k, k, 0, largest)),
    Case("avg_pool2d, window larger than x", F.avg_pool2d, (X2, [8, 2]), ref=lambda x, k: slid(x, k, k, 0, mean)),
    Case(
        "avg_pool1d, windows of nothing but padding",
        lambda x: F.avg_pool1d(x, 2, 2, 2),
        (np.array([[[1.0, 2.0, 3.0]]]),),
        ref=lambda x: [[[np.nan, 1.5, 3.0]]],
        grad=False,
    ),
    Case("max_pool1d, no window", lambda x: F.max_pool1d(x, 10, 1), (X1,), ref=lambda x: x[..., :0]),
    Case(
        "adaptive_avg_pool2d of no bins",
        lambda x: F.adaptive_avg_pool2d(x, [0, 2]),
        (X2,),
        ref=lambda x: x[:, :, :0, :2],
    ),
    Case(
        "adaptive_max_pool2d of no images",
        lambda x: F.adaptive_max_pool2d(x[:0], 2),
        (X2,),
        ref=lambda x: x[:0, :, :2, :2],
    ),
    *[
        Case(
            f"{op.__name__} of no rows",
            lambda x, op=op: op(x[:, :, :0], 2),
            (X2,),
            ref=lambda x: np.full((*x.shape[:2], 2, 2), np.nan, x.dtype),
            grad=False,
        )
        for op in (F.adaptive_avg_pool2d, F.adaptive_max_pool2d)
    ],
    Case(
        "adaptive_max_pool2d of no columns, with mask",
        lambda x: F.adaptive_max_pool2d(x[..., :0], 2, return_mask=True),
        (X2,),
        ref=lambda x: (np.full((*x.shape[:2], 2, 2), np.nan, x.dtype), np.zeros((*x.shape[:2], 2, 2), "int32")),
        grad=False,
    ),
    Case(
        "adaptive_avg_pool2d of no columns, channels last",
        lambda x: F.adaptive_avg_pool2d(x[:, :, :0], [1, 2], "NHWC"),
        (X2,),
        ref=lambda x: np.full((x.shape[0], 1, 2, x.shape[3]), np.nan, x.dtype),
        grad=False,
    ),
    Case("adaptive_max_pool2d of no bins", lambda x: F.adaptive_max_pool2d(x, 0), (X2,), ref=lambda x: x[:, :, :0, :0]),
    Case(
        "max_pool2d with all arguments",
        lambda x: F.max_pool2d(x, [3, 2], [2, 3], [1, 0, 1, 0], ceil_mode=True),
        (floats(2, 3, 7, 7),),
        ref=lambda x: slid(x, (3, 2), (2, 3), ((1, 0), (1, 0)), largest, True),
        second=True,
    ),
    Case(
        "max_pool2d, channels last",
        lambda x: F.max_pool2d(x, 3, 1, 1, data_format="NHWC"),
        (floats(2, 5, 6, 3),),
        ref=last(lambda x: slid(x, 3, 1, 1, largest)),
    ),
    Case(
        "max_pool2d with positions",
        lambda x: F.max_pool2d(x, 2, return_mask=True),
        (np.array([[[[1.0, 5.0, 5.0], [5.0, 2.0, 0.0], [0.0, 0.0, 0.0]]]]),),
        ref=lambda x: ([[[[5.0]]]], [[[[1]]]]),
        grad=False,
    ),
    Case(
        "max_pool2d with positions, overlapping",
        lambda x: F.max_pool2d(x, 3, 2, 1, return_mask=True)[0],
        (X2,),
        ref=lambda x: slid(x, 3, 2, 1, largest),
        second=True,
    ),
    Case(
        "max_pool2d, as many outputs as strides fit",
        lambda x: F.max_pool2d(x, 3, 2, "SAME"),
        (X2,),
        ref=lambda x: slid(x, 3, 2, ((0, 1), (1, 1)), largest),
    ),
    Case("avg_pool2d", F.avg_pool2d, (X2, 2), ref=lambda x, k: slid(x, k, k, 0, mean), second=True),
    Case("avg_pool1d", F.avg_pool1d, (X1, 3, 2, 1), ref=lambda x, k, s, p: slid(x, k, s, p, mean)),
    Case("avg_pool3d", F.avg_pool3d, (X3, 2, 1), ref=lambda x, k, s: slid(x, k, s, 0, mean)),
    Case(
        "avg_pool2d, padding left out",
        lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
        (X2,),
        ref=lambda x: slid(x, 3, 2, 1, mean, True),
        second=True,
    ),
    Case(
        "avg_pool2d, padding counted",
        lambda x: F.avg_pool2d(x, 3, 1, [1, 0], exclusive=False),
        (X2,),
        ref=lambda x: slid(np.pad(x, [(0, 0), (0, 0), (1, 1), (0, 0)]), 3, 1, 0, mean),
    ),
    Case(
        "avg_pool2d with a divisor",
        lambda x: F.avg_pool2d(x, 2, 1, 1, divisor_override=3),
        (X2,),
        ref=lambda x: slid(x, 2, 1, 1, mean) * (4 / 3),  # windows at the edge count as whole ones, as in Paddle
    ),
    Case(
        "avg_pool2d, channels last",
        lambda x: F.avg_pool2d(x, 2, data_format="NHWC"),
        (floats(2, 5, 6, 3),),
        ref=last(lambda x: slid(x, 2, 2, 0, mean)),
    ),
    Case(
        "lp_pool2d",
        F.lp_pool2d,
        (floats(2, 3, 5, 6, low=0.5), 3, 2),
        ref=lambda x, p, k: slid(x, k, k, 0, lambda flat: (flat**p).sum(-1) ** (1 / p)),
        second=True,
    ),
    Case(
        "lp_pool2d of windows that reach beyond x",
        lambda x: F.lp_pool2d(x, 2, [2, 3], ceil_mode=True),
        (floats(1, 2, 5, 7, low=0.5),),
        ref=lambda x: slid(np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 2))), [2, 3], [2, 3], 0, norm),
    ),
    Case(
        "lp_pool1d of a window larger than x",
        lambda x: F.lp_pool1d(x, 2, 7),
        (floats(1, 2, 5, low=0.5),),
        ref=lambda x: norm(x)[..., None],
        dynamic=False,
    ),
    Case(
        "lp_pool1d of all powers",
        F.lp_pool1d,
        (X1, math.inf, 2),
        ref=lambda x, p, k: slid(x, k, k, 0, largest),
    ),
    Case("adaptive_avg_pool2d", F.adaptive_avg_pool2d, (X2, [3, 2]), ref=lambda x, n: binned(x, n, mean), second=True),
    Case("adaptive_avg_pool1d", F.adaptive_avg_pool1d, (X1, 4), ref=lambda x, n: binned(x, [n], mean)),
    Case("adaptive_avg_pool3d", F.adaptive_avg_pool3d, (X3, 2), ref=lambda x, n: binned(x, [n] * 3, mean)),
    Case(
        "adaptive_avg_pool2d, bins of one size",
        F.adaptive_avg_pool2d,
        (floats(2, 3, 6, 8), [3, 2]),
        ref=lambda x, n: binned(x, n, mean),
        second=True,
    ),
    Case(
        "adaptive_avg_pool2d, bins of one size, channels last",
        lambda x: F.adaptive_avg_pool2d(x, [2, None], "NHWC"),
        (floats(2, 6, 4, 3),),
        ref=last(lambda x: binned(x, [2, None], mean)),
    ),
    Case(
        "adaptive_avg_pool3d, bins of one size",
        F.adaptive_avg_pool3d,
        (floats(1, 2, 4, 3, 6), [2, 1, 3]),
        ref=lambda x, n: binned(x, n, mean),
    ),
    Case(
        "adaptive_avg_pool2d to one element",
        F.adaptive_avg_pool2d,
        (X2, 1),
        ref=lambda x, n: x.mean((2, 3), keepdims=True),
    ),
    Case(
        "adaptive_avg_pool2d, channels last, one size kept",
        lambda x: F.adaptive_avg_pool2d(x, [None, 4], "NHWC"),
        (floats(2, 5, 6, 3),),
        ref=last(lambda x: binned(x, [None, 4], mean)),
    ),
    Case(
        "adaptive_max_pool2d", F.adaptive_max_pool2d, (X2, [4, 2]), ref=lambda x, n: binned(x, n, largest), second=True
    ),
    Case("adaptive_max_pool1d", F.adaptive_max_pool1d, (X1, 4), ref=lambda x, n: binned(x, [n], largest)),
    Case(
        "adaptive_max_pool3d",
        F.adaptive_max_pool3d,
        (X3, [2, None, 3]),
        ref=lambda x, n: binned(x, n, largest),
    ),
    Case(
        "adaptive_max_pool1d with positions",
        lambda x: F.adaptive_max_pool1d(x, 2, return_mask=True),
        (np.array([[[1.0, 7.0, 5.0, 5.0]]]),),
        ref=lambda x: ([[[7.0, 5.0]]], [[[1, 2]]]),
        grad=False,
    ),
    Case(
        "fractional_max_pool2d, disjoint",
        lambda x: F.fractional_max_pool2d(x, [1, 5], random_u=0.3),
        (np.array([[[[2.0, 4.0, 3.0, 1.0, 5.0, 2.0, 3.0]]]]),),  # the example of Paddle's documentation
        ref=lambda x: [[[[2.0, 4.0, 1.0, 5.0, 3.0]]]],
        grad=False,
    ),
    Case(
        "fractional_max_pool3d, overlapping",
        lambda x: F.fractional_max_pool3d(x, 3, 2, random_u=0.5),
        (floats(1, 2, 5, 6, 7),),
        second=True,
        dtypes=WIDE,
    ),
    Case(
        "max_unpool2d",
        F.max_unpool2d,
        (np.array([[[[5.0, 6.0]]]]), np.array([[[[3, 6]]]]), 2),
        ref=lambda x, i, k: [[[[0.0, 0.0, 0.0, 5.0], [0.0, 0.0, 6.0, 0.0]]]],
        second=True,
    ),
    Case(
        "max_unpool1d to the size before",
        lambda x, i: F.max_unpool1d(x, i, 2, output_size=[5]),
        (np.array([[[5.0, 6.0]]]), np.array([[[0, 4]]])),
        ref=lambda x, i: [[[5.0, 0.0, 0.0, 0.0, 6.0]]],
    ),
    Case(
        "max_unpool3d undoes max_pool3d",
        lambda x: F.max_unpool3d(*F.max_pool3d(x, 2, return_mask=True), 2),
        (floats(1, 2, 4, 4, 6),),
        ref=lambda x: np.where(x == slid(x, 2, 2, 0, largest).repeat(2, 2).repeat(2, 3).repeat(2, 4), x, 0),
    ),
]
