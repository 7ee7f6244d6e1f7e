"""Losses, against their formulas in NumPy."""

import numpy as np
from scipy.special import expit, log_softmax, logsumexp

from vitrify import assign, where
from vitrify.nn import functional as F
from vitrify.testing import Case, floats, ints

X, Y = floats(4, 3), floats(4, 3, seed=1)
P, Q = floats(4, 3, low=0.05, high=0.95), floats(4, 3, low=0.05, high=0.95, seed=2)
SIGNS = np.where(floats(4, seed=3) > 0, 1.0, -1.0)
LABELS = ints(4, high=3)
SOFT = np.eye(3)[LABELS]
WEIGHT = floats(3, low=0.5, high=2.0, seed=4)
POSITIVE = floats(3, low=0.5, high=2.0, seed=9)


def label(values, like):
    """What is to be predicted: it gets no gradient, so it is no input of the case."""
    return assign(values).astype(like.dtype)


def softplus(x):
    return np.logaddexp(0, x)


def picked(x, labels):
    return -log_softmax(x, -1)[np.arange(len(labels)), labels]


def cosine(a, b):
    return (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1))


def gap(a, b, p=2.0):
    return (np.abs(a - b + 1e-6) ** p).sum(-1) ** (1 / p)


def multi_margin(x, labels):
    hinge = np.maximum(0, 1 - x[np.arange(4), labels][:, None] + x)
    hinge[np.arange(4), labels] = 0
    return (hinge.sum(1) / 3).mean()


def multi_label(x, labels):
    total = []
    for row, label in zip(x, labels):
        targets = list(label[: list(label).index(-1)]) if -1 in label else list(label)
        others = [c for c in range(len(row)) if c not in targets]
        total.append(sum(max(0, 1 - row[t] + row[o]) for t in targets for o in others) / len(row))
    return np.mean(total)


def soft(labels, n=3):
    return np.eye(n)[labels]


CASES = [
    Case("mse", F.mse_loss, (X, Y), ref=lambda x, y: ((x - y) ** 2).mean(), second=True),
    Case("mse/none", lambda x, y: F.mse_loss(x, y, "none"), (X, Y), ref=lambda x, y: (x - y) ** 2),
    Case("square error cost", F.square_error_cost, (X, Y), ref=lambda x, y: (x - y) ** 2),
    Case("l1/sum", lambda x, y: F.l1_loss(x, y, "sum"), (X, Y), ref=lambda x, y: np.abs(x - y).sum()),
    Case(
        "smooth l1",
        F.smooth_l1_loss,
        (X, Y),
        ref=lambda x, y: np.where(abs(x - y) < 1, 0.5 * (x - y) ** 2, abs(x - y) - 0.5).mean(),
    ),
    Case(
        "smooth l1/not huber",
        lambda x, y: F.smooth_l1_loss(x, y, delta=2.0, is_huber=False),
        (X, Y),
        ref=lambda x, y: np.where(abs(x - y) < 2, 0.25 * (x - y) ** 2, abs(x - y) - 1.0).mean(),
    ),
    Case(
        "log loss",
        lambda p: F.log_loss(p, label(Q, p)),
        (P,),
        ref=lambda p, q=Q: -q * np.log(p + 1e-4) - (1 - q) * np.log(1 - p + 1e-4),
    ),
    Case(
        "bce",
        lambda p, w: F.binary_cross_entropy(p, label(Q, p), w),
        (P, floats(3, low=0.5, high=1.5)),
        ref=lambda p, w, q=Q: (-w * (q * np.log(p) + (1 - q) * np.log(1 - p))).mean(),
    ),
    Case(
        "bce at the ends",
        F.binary_cross_entropy,
        (np.array([0.0, 1.0]), np.array([1.0, 0.0])),
        ref=lambda p, q: 100.0,
        grad=False,
    ),
    Case(
        "bce with logits",
        lambda x: F.binary_cross_entropy_with_logits(x, label(Q, x)),
        (X,),
        ref=lambda x, q=Q: (softplus(x) - x * q).mean(),
        second=True,
    ),
    Case(
        "bce with logits/weights",
        lambda x, w: F.binary_cross_entropy_with_logits(x, label(Q, x), w, "sum", label(POSITIVE, x)),
        (X, WEIGHT),
        ref=lambda x, w, q=Q: (w * (POSITIVE * q * softplus(-x) + (1 - q) * softplus(x))).sum(),
    ),
    Case(
        "focal",
        lambda x: F.sigmoid_focal_loss(x, label(SOFT, x)),
        (X,),
        ref=lambda x, y=SOFT: (
            (softplus(x) - x * y) * (0.25 * y + 0.75 * (1 - y)) * np.where(y > 0, 1 - expit(x), expit(x)) ** 2
        ).sum(),
    ),
    Case("kl", lambda x: F.kl_div(x, label(Q, x)), (np.log(P),), ref=lambda x, q=Q: (q * (np.log(q) - x)).mean()),
    Case(
        "kl/batchmean",
        lambda x: F.kl_div(x, label(Q, x), "batchmean"),
        (np.log(P),),
        ref=lambda x, q=Q: (q * (np.log(q) - x)).sum() / 4,
    ),
    Case(
        "kl/log target",
        lambda x: F.kl_div(x, label(np.log(Q), x), log_target=True),
        (np.log(P),),
        ref=lambda x, q=Q: (q * (np.log(q) - x)).mean(),
    ),
    Case(
        "soft margin",
        F.soft_margin_loss,
        (X[:, 0].copy(), SIGNS),
        ref=lambda x, y: softplus(-x * y).mean(),
    ),
    Case(
        "multi label soft margin",
        F.multi_label_soft_margin_loss,
        (X, soft(LABELS), WEIGHT),
        ref=lambda x, y, w: (w * (softplus(x) - x * y)).mean(),
    ),
    Case("poisson", F.poisson_nll_loss, (X, P), ref=lambda x, y: (np.exp(x) - y * x).mean()),
    Case(
        "poisson/full",
        lambda x, y: F.poisson_nll_loss(x, y, log_input=False, full=True, reduction="none"),
        (P, np.array([[0.0, 1.0, 3.0]] * 4)),
        ref=lambda x, y: (
            x - y * np.log(x + 1e-8)
            + np.where(y > 1, y * np.log(np.maximum(y, 1)) - y + 0.5 * np.log(2 * np.pi * np.maximum(y, 1)), 0)
        ),
        grad=False,
    ),
    Case(
        "gaussian/full",
        lambda x, y: F.gaussian_nll_loss(x, y, label(P, x), full=True),
        (X, Y),
        ref=lambda x, y, v=P: (0.5 * (np.log(v) + (x - y) ** 2 / v) + 0.5 * np.log(2 * np.pi)).mean(),
    ),
    Case(
        "gaussian, one variance for each row",
        lambda x, y: F.gaussian_nll_loss(x, y, label(P[:, 0], x)),
        (X, Y),
        ref=lambda x, y, v=P[:, 0]: (0.5 * (np.log(v[:, None]) + (x - y) ** 2 / v[:, None])).mean(),
    ),
    Case(
        "dice",
        F.dice_loss,
        (P, LABELS[:, None]),
        ref=lambda p, y: (
            1 - 2 * (p * soft(y[:, 0])).sum(1) / (p.sum(1) + 1 + 1e-5)
        ).mean(),
    ),
    Case(
        "margin ranking",
        lambda x, y, s: F.margin_ranking_loss(x, y, s, 0.3),
        (X[:, 0].copy(), Y[:, 0].copy(), SIGNS),
        ref=lambda x, y, s: np.maximum(0, s * (y - x) + 0.3).mean(),
    ),
    Case(
        "hinge embedding",
        F.hinge_embedding_loss,
        (X[:, 0].copy(), SIGNS),
        ref=lambda x, s: np.where(s == 1, x, np.maximum(0, 1 - x)).mean(),
    ),
    Case(
        "cosine embedding",
        lambda x, y, s: F.cosine_embedding_loss(x, y, s, 0.1),
        (X, Y, SIGNS.astype("int64")),
        ref=lambda x, y, s: np.where(s == 1, 1 - cosine(x, y), np.maximum(0, cosine(x, y) - 0.1)).mean(),
    ),
    Case("pairwise distance", F.pairwise_distance, (X, Y), ref=gap),
    Case(
        "triplet",
        F.triplet_margin_loss,
        (X, Y, floats(4, 3, seed=5)),
        ref=lambda a, p, n: np.maximum(0, gap(a, p) - gap(a, n) + 1).mean(),
    ),
    Case(
        "triplet/swap",
        lambda a, p, n: F.triplet_margin_with_distance_loss(a, p, n, swap=True, reduction="sum"),
        (X, Y, floats(4, 3, seed=5)),
        ref=lambda a, p, n: np.maximum(0, gap(a, p) - np.minimum(gap(a, n), gap(p, n)) + 1).sum(),
    ),
    Case("multi margin", F.multi_margin_loss, (X, LABELS), ref=multi_margin),
    Case("multi margin/int32", F.multi_margin_loss, (X, LABELS.astype("int32")), ref=multi_margin),
    Case(
        "multi margin/weights",
        lambda x, y, w: F.multi_margin_loss(x, y, p=2, weight=w, reduction="none"),
        (X, LABELS, WEIGHT),
    ),
    Case(
        "multi label margin",
        F.multi_label_margin_loss,
        (floats(2, 4), np.array([[3, 0, -1, 1], [2, -1, 0, 0]])),
        ref=multi_label,
    ),
    Case("npair", F.npair_loss, (X, Y, LABELS)),
    Case("cross entropy", F.cross_entropy, (X, LABELS), ref=lambda x, y: picked(x, y).mean(), second=True),
    Case(
        "cross entropy/ignored, weighted",
        lambda x, y, w: F.cross_entropy(x, y, w, ignore_index=1),
        (X, LABELS, WEIGHT),
        ref=lambda x, y, w: (picked(x, y) * w[y] * (y != 1)).sum() / (w[y] * (y != 1)).sum(),
    ),
    *(
        Case(  # the mean counts the ignored where their number is negative, as Paddle's does
            f"cross entropy/tensor ignored, {kind}",
            lambda x, y, i, e=smoothing: F.cross_entropy(x, where(y == 1, i, y), None, i, label_smoothing=e),
            (X, LABELS, np.array(number)),
            ref=lambda x, y, i, e=smoothing: (
                -((soft(y) * (1 - e) + e / 3) * log_softmax(x, -1)).sum(-1) * (y != 1)
            ).sum() / (len(y) if i < 0 else (y != 1).sum()),
        )
        for kind, number, smoothing in (("positive", 7, 0.0), ("negative", -7, 0.0), ("smoothed", 7, 0.1))
    ),
    Case(
        "cross entropy/soft",
        lambda x: F.cross_entropy(x, label(Q / Q.sum(-1, keepdims=True), x), soft_label=True),
        (X,),
        ref=lambda x, q=Q: -(q / q.sum(-1, keepdims=True) * log_softmax(x, -1)).sum(-1).mean(),
    ),
    Case(
        "cross entropy/smoothed",
        lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1),
        (X, LABELS),
        ref=lambda x, y: -((soft(y) * 0.9 + 0.1 / 3) * log_softmax(x, -1)).sum(-1).mean(),
    ),
    Case(
        "cross entropy/other axis",
        lambda x, y: F.cross_entropy(x, y, axis=1, reduction="none"),
        (floats(2, 3, 4), ints(2, 1, 4, high=3)),
        ref=lambda x, y: np.take_along_axis(logsumexp(x, 1, keepdims=True) - x, y, 1),
    ),
    Case("nll", F.nll_loss, (np.log(P), LABELS), ref=lambda x, y: -x[np.arange(4), y].mean()),
    Case("cross entropy without classes", lambda x, y: F.cross_entropy(x, y, soft_label=True, reduction="none"),
         (X[:, :0], X[:, :0]), ref=lambda x, y: np.zeros((len(x), 1)), dtypes=("float32",)),
    Case("softmax with cross entropy", F.softmax_with_cross_entropy, (X, LABELS[:, None]), ref=lambda x, y: picked(x, y[:, 0])[:, None]),
    Case("pixel shuffle", lambda x: F.pixel_shuffle(x, 2), (floats(2, 8, 2, 3),), ref=lambda x: x.reshape(2, 2, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(2, 2, 4, 6), dynamic=False),
    Case("pixel shuffle and back", lambda x: F.pixel_unshuffle(F.pixel_shuffle(x, 2, "NHWC"), 2, "NHWC"), (floats(2, 3, 2, 8),), ref=lambda x: x, dynamic=False),
    Case("pixel unshuffle of no channels", lambda x: F.pixel_unshuffle(x, 2), (floats(2, 0, 4, 2),),
         ref=lambda x: np.zeros((2, 0, 2, 1)), dynamic=False),
    Case("channel shuffle of no channels", lambda x: F.channel_shuffle(x, 2), (floats(2, 0, 4, 2),), ref=lambda x: x,
         dynamic=False),
    Case("pixel shuffle of open sizes", lambda x: F.pixel_shuffle(x, 2), (floats(2, 4, 3, 2),),
         ref=lambda x: x.reshape(2, 1, 2, 2, 3, 2).transpose(0, 1, 4, 2, 5, 3).reshape(2, 1, 6, 4)),
    Case("channel shuffle", lambda x: F.channel_shuffle(x, 2), (floats(1, 4, 2, 2),), ref=lambda x: x[:, [0, 2, 1, 3]], dynamic=False),
    Case("sequence mask", lambda n: F.sequence_mask(n, 4), (np.array([[1, 4], [0, 2]]),), ref=lambda n: np.arange(4) < n[..., None], grad=False),
]  # fmt: skip
