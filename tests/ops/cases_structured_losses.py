"""Losses over alignments, trees and clusters of classes, and beams read back."""

import itertools

import numpy as np
import scipy.special

from vitrify.nn import functional as F
from vitrify.ops.viterbi import viterbi_decode
from vitrify.testing import Case, floats, ints


def collapsed(path, blank):
    """The labels that a CTC path stands for."""
    return [k for k, _ in itertools.groupby(path) if k != blank]


def ctc(logits, labels, input_lengths, label_lengths, blank=0):
    """Every path, one by one."""
    probs = scipy.special.softmax(logits, -1)
    out = []
    for b, (times, count) in enumerate(zip(input_lengths, label_lengths)):
        wanted = list(labels[b, :count])
        paths = itertools.product(range(logits.shape[2]), repeat=int(times))
        total = sum(np.prod([probs[t, b, k] for t, k in enumerate(p)]) for p in paths if collapsed(p, blank) == wanted)
        out.append(-np.log(total))
    return np.array(out)


def rnnt(log_probs, labels, input_lengths, label_lengths, blank=0):
    """Every order of blanks and labels, one by one; the last step is a blank."""
    out = []
    for b, (times, count) in enumerate(zip(input_lengths, label_lengths)):
        total = 0.0
        for places in itertools.combinations(range(times - 1 + count), int(count)):
            t = u = 0
            score = 0.0
            for step in range(times - 1 + count):
                symbol = labels[b, u] if step in places else blank
                score += log_probs[b, t, u, symbol]
                t, u = (t, u + 1) if step in places else (t + 1, u)
            total += np.exp(score + log_probs[b, t, u, blank])
        out.append(-np.log(total))
    return np.array(out)


def hierarchical(x, label, num_classes, weight, bias):
    """Down from the leaf of each label; levels beyond the root count log(2)."""
    levels = (2 * num_classes - 1).bit_length() - 1
    out = []
    for row, number in zip(x, label[:, 0] + num_classes):
        cost = 0.0
        for level in range(levels):
            node = (number >> (level + 1)) - 1
            score = row @ weight[node] + bias[node, 0] if node >= 0 else 0.0
            cost += np.logaddexp(0, score) - score * ((number >> level) & 1)
        out.append([cost])
    return np.array(out)


def adaptive(x, label, head, first, second, cutoffs):
    """The probabilities of all classes, then the label's."""
    head = scipy.special.log_softmax(x @ head, 1)
    tails = [scipy.special.log_softmax(x @ a @ b, 1) for a, b in (first, second)]
    parts = [head[:, : cutoffs[0]], *(head[:, cutoffs[0] + i, None] + t for i, t in enumerate(tails))]
    found = np.concatenate(parts, 1)[np.arange(len(x)), label]
    return found, -found.mean()


def arc_face(logits, label, m1, m2, m3, scale):
    rows = np.arange(len(logits))
    bent = logits.copy()
    bent[rows, label] = np.cos(np.arccos(logits[rows, label]) * m1 + m2) - m3
    return -scipy.special.log_softmax(bent * scale, 1)[rows, label][:, None]


LOGITS, LABELS = floats(4, 2, 3), np.array([[1, 1], [2, 1]])
TIMES, COUNTS = np.array([4, 3]), np.array([2, 1])
TRELLIS = floats(2, 3, 3, 4, low=-3.0, high=-0.5)
COSINES = floats(3, 4, low=-0.9, high=0.9)

CASES = [
    Case(
        "ctc_loss of each sequence", F.ctc_loss, (LOGITS, LABELS, TIMES, COUNTS, 0, "none"), ref=lambda *a: ctc(*a[:5])
    ),
    Case("ctc_loss", F.ctc_loss, (LOGITS, LABELS, TIMES, COUNTS), ref=lambda *a: (ctc(*a) / COUNTS).mean()),
    Case(
        "ctc_loss with another blank",
        F.ctc_loss,
        (LOGITS, LABELS - 1, TIMES, COUNTS, 2, "sum"),
        ref=lambda *a: ctc(*a[:5]).sum(),
    ),
    Case(
        "ctc_loss of what cannot be aligned",
        lambda *a: F.ctc_loss(*a, reduction="none", zero_infinity=True),
        (LOGITS, LABELS, np.array([2, 3]), COUNTS),
        ref=lambda x, *others: [0.0, *ctc(x[:, 1:], *(a[1:] for a in others))],
    ),
    Case(
        "rnnt_loss of each sequence",
        lambda *a: F.rnnt_loss(*a, fastemit_lambda=0.0, reduction="none"),
        (TRELLIS, LABELS, np.array([3, 2]), COUNTS),
        ref=rnnt,
    ),
    Case(
        "rnnt_loss",
        lambda *a: F.rnnt_loss(*a, blank=3, fastemit_lambda=0.0),
        (TRELLIS, LABELS, np.array([3, 2]), COUNTS),
        ref=lambda *a: rnnt(*a, blank=3).mean(),
    ),
    Case(
        "hsigmoid_loss",
        F.hsigmoid_loss,
        (floats(4, 3), np.array([[0], [5], [2], [3]]), 6, floats(5, 3), floats(5, 1)),
        ref=hierarchical,
        second=True,
        dynamic=False,
    ),
    Case(
        "hsigmoid_loss of a given tree",
        lambda x, y, w, node, turn: F.hsigmoid_loss(x, y, 3, w, path_table=node, path_code=turn),
        (floats(2, 3), np.array([[0], [1]]), floats(2, 3), np.array([[0, -1], [1, 0]]), np.array([[1, -1], [0, 1]])),
        ref=lambda x, y, w, node, turn: [
            [np.logaddexp(0, -x[0] @ w[0]) + np.log(2)],
            [np.logaddexp(0, x[1] @ w[1]) + np.logaddexp(0, -x[1] @ w[0])],
        ],
    ),
    Case(
        "adaptive_log_softmax_with_loss",
        lambda x, y, head, a, b, c, d: F.adaptive_log_softmax_with_loss(x, y, head, [[a, b], [c, d]], [3, 6, 10]),
        (floats(5, 4), ints(5, high=10), floats(4, 5), floats(4, 2), floats(2, 3), floats(4, 1), floats(1, 4)),
        ref=lambda x, y, head, a, b, c, d: adaptive(x, y, head, (a, b), (c, d), [3, 6, 10]),
        second=True,
    ),
    Case(
        "margin_cross_entropy",
        lambda x, y: F.margin_cross_entropy(x, y, 1.1, 0.3, 0.2, 4.0, reduction=None),
        (COSINES, ints(3, high=4)),
        ref=lambda x, y: arc_face(x, y, 1.1, 0.3, 0.2, 4.0),
        second=True,
    ),
    Case(
        "margin_cross_entropy with its softmax",
        lambda x, y: F.margin_cross_entropy(x, y, margin2=0.0, scale=1.0, return_softmax=True),
        (COSINES, ints(3, 1, high=4)),
        ref=lambda x, y: (arc_face(x, y[:, 0], 1, 0, 0, 1).mean(), scipy.special.softmax(x, 1)),
        grad=False,
    ),
    Case(
        "gather_tree",
        F.gather_tree,
        (  # the example of Paddle's documentation
            np.array([[[2, 2], [6, 1]], [[3, 9], [6, 1]], [[0, 1], [9, 0]]]),
            np.array([[[0, 0], [1, 1]], [[1, 0], [1, 0]], [[0, 0], [0, 1]]]),
        ),
        ref=lambda ids, parents: [[[2, 2], [1, 6]], [[3, 3], [6, 1]], [[0, 1], [9, 0]]],
    ),
    Case(
        "viterbi_decode",
        lambda fit, follow, lengths: viterbi_decode(fit, follow, lengths, False),
        (
            np.array([[[1.0, 0.5], [0.0, 0.5], [0.0, 3.0]], [[0.0, 1.0], [9.0, 9.0], [9.0, 9.0]]]),
            np.array([[1.0, 0.0], [0.0, 1.0]]),
            np.array([3, 1]),
        ),
        ref=lambda fit, follow, lengths: ([6.0, 1.0], [[1, 1, 1], [1, 0, 0]]),
        grad=False,
    ),
]
