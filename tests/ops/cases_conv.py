"""Convolutions and transposed convolutions."""

import itertools

import numpy as np
import scipy.signal

from vitrify.nn import functional as F
from vitrify.testing import Case, floats

HALVES = ("float32", "float16", "bfloat16")


def conv(x, w, bias=None, stride=1, pads=0, dilation=1, groups=1):
    """Channel by channel with SciPy, then every stride-th window."""
    n = x.ndim - 2
    stride, dilation = np.broadcast_to(stride, n), np.broadcast_to(dilation, n)
    x = np.pad(x, [(0, 0), (0, 0), *np.broadcast_to(pads, (n, 2))])
    wide = np.zeros((*w.shape[:2], *((k - 1) * d + 1 for k, d in zip(w.shape[2:], dilation))))
    wide[(..., *(slice(None, None, d) for d in dilation))] = w
    per, out_per = w.shape[1], w.shape[0] // groups
    out = [
        [
            sum(
                scipy.signal.correlate(image[o // out_per * per + c], wide[o, c], "valid", method="direct")
                for c in range(per)
            )
            for o in range(w.shape[0])
        ]
        for image in x
    ]
    out = np.array(out)[(..., *(slice(None, None, s) for s in stride))]
    return out if bias is None else out + bias.reshape(-1, *(1,) * n)


def transposed(x, w, sizes, stride=1, lows=0, dilation=1, groups=1):
    """Every element of x adds its multiple of the kernel, where that lies inside."""
    n = x.ndim - 2
    stride, lows, dilation = (np.broadcast_to(a, n) for a in (stride, lows, dilation))
    per_in, per_out = x.shape[1] // groups, w.shape[1]
    out = np.zeros((x.shape[0], per_out * groups, *sizes))
    for at in itertools.product(*map(range, x.shape[2:])):
        for k in itertools.product(*map(range, w.shape[2:])):
            to = tuple(a * s - lo + i * d for a, s, lo, i, d in zip(at, stride, lows, k, dilation))
            if all(0 <= t < size for t, size in zip(to, sizes)):
                for c in range(x.shape[1]):
                    first = c // per_in * per_out
                    out[(slice(None), slice(first, first + per_out), *to)] += np.outer(
                        x[(slice(None), c, *at)], w[(c, slice(None), *k)]
                    )
    return out


def last(fn):
    """`fn` of channels-last x as a function of channels-first x."""

    def call(x, *args, **kwargs):
        return np.moveaxis(fn(np.moveaxis(x, -1, 1), *args, **kwargs), 1, -1)

    return call


X1, X2, X3 = floats(2, 3, 8), floats(2, 3, 6, 7), floats(1, 2, 3, 4, 5)
W1, W2, W3 = floats(4, 3, 3, seed=1), floats(4, 3, 3, 2, seed=1), floats(3, 2, 2, 2, 3, seed=1)
B = floats(4, seed=2)

CASES = [
    Case("conv2d", F.conv2d, (X2, W2, B), ref=conv, second=True),
    Case("conv1d", F.conv1d, (X1, W1, B), ref=conv),
    Case("conv3d", F.conv3d, (X3, W3, floats(3, seed=2)), ref=conv, second=True),
    Case("conv2d of one sample", F.conv2d, (floats(1, 3, 6, 7), W2), ref=conv),
    Case("conv2d by one element", F.conv2d, (X2, floats(2, 3, 1, 1), floats(2)), ref=conv, second=True),
    Case(
        "conv2d with all arguments",
        lambda x, w, b: F.conv2d(x, w, b, stride=[2, 1], padding=[1, 2], dilation=[1, 2], groups=3),
        (floats(2, 6, 6, 7), floats(3, 2, 3, 2), floats(3)),
        ref=lambda x, w, b: conv(x, w, b, (2, 1), ((1, 1), (2, 2)), (1, 2), 3),
        second=True,
    ),
    Case(
        "conv2d, one filter a channel",
        lambda x, w: F.conv2d(x, w, padding=1, groups=3),
        (X2, floats(6, 1, 3, 3)),
        ref=lambda x, w: conv(x, w, None, 1, 1, 1, 3),
    ),
    Case(
        "conv2d, different padding on each side",
        lambda x, w: F.conv2d(x, w, padding=[1, 0, 2, 1]),
        (X2, W2),
        ref=lambda x, w: conv(x, w, None, 1, ((1, 0), (2, 1))),
    ),
    Case(
        "conv2d, padding as pairs",
        lambda x, w: F.conv2d(x, w, padding=[[0, 0], [0, 0], [1, 0], [2, 1]]),
        (X2, W2),
        ref=lambda x, w: conv(x, w, None, 1, ((1, 0), (2, 1))),
    ),
    Case(
        "conv2d, as many outputs as strides fit",
        lambda x, w: F.conv2d(x, w, stride=2, padding="SAME", dilation=2),
        (floats(2, 3, 6, 7), floats(4, 3, 3, 3)),
        ref=lambda x, w: conv(x, w, None, 2, ((0, 1), (1, 1))),
        second=True,
    ),
    Case("conv2d without padding", lambda x, w: F.conv2d(x, w, padding="valid"), (X2, W2), ref=conv),
    Case(
        "conv2d, channels last",
        lambda x, w, b: F.conv2d(x, w, b, 2, [0, 1], data_format="NHWC"),
        (floats(2, 6, 7, 3), W2, B),
        ref=last(lambda x, w, b: conv(x, w, b, 2, ((0, 0), (1, 1)))),
        second=True,
    ),
    Case(
        "conv1d, channels last",
        lambda x, w: F.conv1d(x, w, padding=[1, 2], data_format="NLC"),
        (floats(2, 8, 3), W1),
        ref=last(lambda x, w: conv(x, w, None, 1, ((1, 2),))),
    ),
    Case(
        "conv2d, wide enough for the mirrored gradient",
        lambda x, w: F.conv2d(x, w, padding=[1, 0], dilation=[1, 2], groups=2),
        (floats(3, 8, 9, 10), floats(8, 4, 3, 2)),
        ref=lambda x, w: conv(x, w, None, 1, ((1, 1), (0, 0)), (1, 2), 2),
        second=True,
        dtypes=("float32",),
    ),
    Case(
        "conv2d in blocks",
        lambda x, w: F.conv2d(x, w, stride=2),
        (floats(16, 8, 65, 64), floats(4, 8, 5, 5)),
        ref=lambda x, w: conv(x, w, None, 2),
        grad_tol=1e-4,
        layouts=False,
        dynamic=False,
        dtypes=(),
    ),
    Case("conv2d of nothing", F.conv2d, (np.zeros((0, 3, 6, 7)), W2), ref=lambda x, w: np.zeros((0, 4, 4, 6))),
    Case(
        "conv2d_transpose",
        F.conv2d_transpose,
        (X2, floats(3, 2, 3, 2), floats(2)),
        ref=lambda x, w, b: transposed(x, w, (8, 8)) + b[:, None, None],
        second=True,
    ),
    Case(
        "conv1d_transpose",
        lambda x, w: F.conv1d_transpose(x, w, stride=3, padding=1, output_padding=2),
        (X1, floats(3, 2, 4)),
        ref=lambda x, w: transposed(x, w, (25,), 3, 1),
        second=True,
    ),
    Case(
        "conv3d_transpose",
        lambda x, w: F.conv3d_transpose(x, w, stride=[1, 2, 1], padding=1),
        (X3, floats(2, 3, 2, 2, 3)),
        ref=lambda x, w: transposed(x, w, (2, 6, 5), (1, 2, 1), 1),
    ),
    Case(
        "conv2d_transpose with groups and dilation",
        lambda x, w: F.conv2d_transpose(x, w, stride=2, padding=[1, 0, 2, 1], dilation=[1, 2], groups=2),
        (floats(2, 4, 3, 4), floats(4, 2, 3, 2)),
        ref=lambda x, w: transposed(x, w, (6, 6), 2, (1, 2), (1, 2), 2),
    ),
    Case(
        "conv2d_transpose, output padding of whole strides",
        lambda x, w: F.conv2d_transpose(x, w, stride=1, dilation=3, output_padding=2),
        (floats(2, 2, 3, 4), floats(2, 3, 2, 2)),
        ref=lambda x, w: transposed(x, w, (8, 9), 1, 0, 3),
        second=True,
    ),
    Case(
        "conv2d_transpose to sizes",
        lambda x, w: F.conv2d_transpose(x, w, stride=2, output_size=[8, 9]),
        (floats(2, 2, 3, 4), floats(2, 3, 3, 3)),
        ref=lambda x, w: transposed(x, w, (8, 9), 2),
    ),
    Case(
        "conv2d_transpose, channels last",
        lambda x, w: F.conv2d_transpose(x, w, stride=2, data_format="NHWC"),
        (floats(2, 3, 4, 2), floats(2, 3, 3, 3)),
        ref=last(lambda x, w: transposed(x, w, (7, 9), 2)),
    ),
    Case(
        "conv2d_transpose of what SAME gave",
        lambda x, w: F.conv2d_transpose(x, w, stride=2, padding="SAME"),
        (floats(2, 2, 3, 4), floats(2, 3, 3, 3)),
        ref=lambda x, w: transposed(x, w, (5, 8), 2, (1, 0)),
    ),
]
