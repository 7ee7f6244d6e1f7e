"""Normalization over layers, groups, samples and batches, by lengths and by neighbours."""

import numpy as np

from vitrify import full, zeros
from vitrify.nn import functional as F
from vitrify.testing import Case, floats


def normal(x, axes, eps=1e-5, centered=True):
    """x with mean 0 and variance 1 over `axes`."""
    x = x - x.mean(axes, keepdims=True) if centered else x
    return x / np.sqrt((x * x).mean(axes, keepdims=True) + eps)


def grouped(x, groups):
    """Channels-first x normalized over each group of channels and space."""
    split = x.reshape(x.shape[0], groups, -1)
    return normal(split, -1).reshape(x.shape)


def channels(values, ndim):
    return values.reshape(-1, *(1,) * (ndim - 2))


def trained(x, mean, var, *params, **kwargs):
    """batch_norm in training, with the running statistics after it."""
    out = F.batch_norm(x, mean, var, *params, training=True, **kwargs)
    return out, mean, var


def blank(x):
    """Running statistics that nobody looks at."""
    return zeros([4], x.dtype), zeros([4], x.dtype)


def given(x):
    """Statistics that are no arguments of the case."""
    return full([4], 0.25, x.dtype), full([4], 1.5, x.dtype)


def neighbours(x, size, alpha, beta, k):
    low = size // 2
    means = [(x[:, max(0, c - low) : c - low + size] ** 2).sum(1) / size for c in range(x.shape[1])]
    return x / (k + alpha * np.stack(means, 1)) ** beta


X = floats(2, 4, 3, 5)
W, B = floats(4, seed=1), floats(4, seed=2)
MEAN, VARIANCE = floats(4, seed=4), floats(4, low=0.5, seed=5)

CASES = [
    Case("layer_norm", F.layer_norm, (X, [5]), ref=lambda x, n: normal(x, -1), second=True),
    Case(
        "layer_norm over two dimensions, scaled and shifted",
        lambda x, w, b: F.layer_norm(x, [3, 5], w, b, 1e-3),
        (X, floats(15), floats(15, seed=1)),
        ref=lambda x, w, b: normal(x, (2, 3), 1e-3) * w.reshape(3, 5) + b.reshape(3, 5),
        second=True,
    ),
    Case(
        "layer_norm, scaled and shifted",
        lambda x, w, b: F.layer_norm(x, [5], w, b),
        (X, floats(5), floats(5, seed=1)),
        ref=lambda x, w, b: normal(x, -1) * w + b,
    ),
    Case(
        "layer_norm, only shifted",
        lambda x, b: F.layer_norm(x, 5, None, b),
        (X, floats(5)),
        ref=lambda x, b: normal(x, -1) + b,
    ),
    Case(
        "layer_norm in blocks",
        lambda x, w: F.layer_norm(x, [512], w),
        (floats(40, 6, 512), floats(512)),
        ref=lambda x, w: normal(x, -1) * w,
        layouts=False,
        dtypes=(),
    ),
    Case("layer_norm of nothing", F.layer_norm, (np.zeros((0, 5)), 5), ref=lambda x, n: x),
    Case(
        "layer_norm of long rows",
        F.layer_norm,
        (floats(2, 5000), 5000),
        ref=lambda x, n: normal(x, -1),
        grad_tol=1e-4,
        layouts=False,
        dtypes=(),
    ),
    Case(
        "rms_norm",
        lambda x, w: F.rms_norm(x, [5], w, 1e-3),
        (X, floats(5)),
        ref=lambda x, w: (normal(x, -1, 1e-3, False) * w, 1 / np.sqrt((x * x).mean(-1) + 1e-3).ravel()),
        grad=False,
    ),
    Case("gradient of rms_norm", lambda x, w: F.rms_norm(x, [5], w)[0], (X, floats(5)), second=True),
    Case("rms_norm without a weight", lambda x: F.rms_norm(x, [3, 5])[0], (X,), second=True),
    Case("instance_norm", F.instance_norm, (X,), ref=lambda x: normal(x, (2, 3)), second=True),
    Case(
        "instance_norm, scaled and shifted",
        lambda x, w, b: F.instance_norm(x, None, None, w, b),
        (X, W, B),
        ref=lambda x, w, b: normal(x, (2, 3)) * channels(w, 4) + channels(b, 4),
        second=True,
    ),
    Case("group_norm", F.group_norm, (X, 2), ref=grouped, second=True),
    Case(
        "group_norm, scaled and shifted",
        lambda x, w, b: F.group_norm(x, 2, 1e-5, w, b),
        (X, W, B),
        ref=lambda x, w, b: grouped(x, 2) * channels(w, 4) + channels(b, 4),
        second=True,
    ),
    Case(
        "group_norm of lines",
        lambda x, w, b: F.group_norm(x, 2, 1e-5, w, b, "NCL"),
        (floats(3, 4, 5), W, B),
        ref=lambda x, w, b: grouped(x, 2) * channels(w, 3) + channels(b, 3),
    ),
    Case(
        "group_norm, channels last",
        lambda x, w: F.group_norm(x, 2, weight=w, data_format="NHWC"),
        (floats(2, 3, 5, 4), W),
        ref=lambda x, w: np.moveaxis(grouped(np.moveaxis(x, -1, 1), 2), 1, -1) * w,
        second=True,
    ),
    Case(
        "batch_norm while training",
        trained,
        (X, MEAN, VARIANCE, W, B),
        ref=lambda x, mean, var, w, b: (
            normal(x, (0, 2, 3)) * channels(w, 4) + channels(b, 4),
            0.9 * mean + 0.1 * x.mean((0, 2, 3)),
            0.9 * var + 0.1 * x.var((0, 2, 3)),
        ),
        grad=False,
        static=False,  # in-place changes of fed variables are not outputs; tests/nn covers buffers
        layouts=False,
        dtypes=(),
    ),
    Case(
        "gradient of batch_norm while training",
        lambda x, w, b: F.batch_norm(x, *blank(x), w, b, training=True),
        (X, W, B),
        second=True,
    ),
    Case(
        "batch_norm, channels last, without parameters",
        lambda x: F.batch_norm(x, *blank(x), training=True, data_format="NHWC"),
        (floats(2, 3, 5, 4),),
        ref=lambda x: normal(x, (0, 1, 2)),
        second=True,
    ),
    Case(
        "batch_norm with given statistics",
        F.batch_norm,
        (X, MEAN, VARIANCE, W, B),
        ref=lambda x, mean, var, w, b: (
            (x - channels(mean, 4)) / np.sqrt(channels(var, 4) + 1e-5) * channels(w, 4) + channels(b, 4)
        ),
        grad=False,  # statistics get none
    ),
    Case(
        "gradient of batch_norm with given statistics",
        lambda x, w, b: F.batch_norm(x, *given(x), w, b),
        (X, W, B),
        ref=lambda x, w, b: (x - 0.25) / np.sqrt(1.5 + 1e-5) * channels(w, 4) + channels(b, 4),
        second=True,
    ),
    Case(
        "batch_norm with given statistics, channels last",
        lambda x, mean, var: F.batch_norm(x, mean, var, training=True, use_global_stats=True, data_format="NLC"),
        (floats(2, 3, 4), MEAN, VARIANCE),
        ref=lambda x, mean, var: (x - mean) / np.sqrt(var + 1e-5),
        grad=False,  # statistics get none
    ),
    Case(
        "local_response_norm",
        lambda x: F.local_response_norm(x, 3, 0.5, 0.6, 2.0),
        (X,),
        ref=lambda x: neighbours(x, 3, 0.5, 0.6, 2.0),
        second=True,
    ),
    Case(
        "local_response_norm, even size, channels last",
        lambda x: F.local_response_norm(x, 2, 0.5, data_format="NLC"),
        (floats(2, 3, 4),),
        ref=lambda x: np.moveaxis(neighbours(np.moveaxis(x, -1, 1), 2, 0.5, 0.75, 1.0), 1, -1),
    ),
    Case(
        "normalize",
        F.normalize,
        (X, 3),
        ref=lambda x, p: x / (np.abs(x) ** p).sum(1, keepdims=True) ** (1 / p),
        second=True,
    ),
    Case(
        "normalize short vectors",
        lambda x: F.normalize(x, axis=-1, epsilon=10.0),
        (floats(2, 3),),
        ref=lambda x: x / 10,
    ),
    Case(
        "cosine_similarity",
        F.cosine_similarity,
        (floats(3, 4), floats(3, 4, seed=1)),
        ref=lambda a, b: (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1),
        second=True,
    ),
    Case(
        "cosine_similarity with one vector",
        lambda a, b: F.cosine_similarity(a, b, axis=-1),
        (floats(3, 4), floats(4, seed=1)),
        ref=lambda a, b: (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b),
    ),
    Case(
        "cosine_similarity along a dimension that broadcasts",
        lambda a, b: F.cosine_similarity(a, b, axis=0),
        (floats(3, 4), floats(1, 4, seed=1)),
        ref=lambda a, b: (a * b).sum(0) / np.linalg.norm(a, axis=0) / (np.sqrt(3) * np.abs(b[0])),
    ),
]
