"""Cases of sorting, searching, counting, and of tensors made from attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

import vitrify as paddle
from vitrify.ops.creation import one_hot
from vitrify.testing import Case, bools, floats, ints

X = floats(2, 3, 4)
M = floats(3, 4)
V = floats(4)
TIES = np.array([3, 1, 3, 2, 1, 3])
NAN = np.array([1.0, np.nan, 0.0, 2.0])


LONG = np.random.RandomState(0).randint(0, 9, (2, 5000)) / 2.0  # ties, beyond the length from which they are put right
QUICK: dict[str, Any] = {"grad": False}


def ranked(x, k, axis, largest=True):
    """topk by NumPy."""
    order = np.argsort(-x if largest else x, axis=axis, kind="stable").take(np.arange(k), axis)
    return [np.take_along_axis(x, order, axis), order]


SORT = [
    Case("sort", paddle.sort, (X, 1), ref=np.sort, second=True),
    Case("sort descending", paddle.sort, (X, 0, True), ref=lambda x, a, d: -np.sort(-x, 0)),
    Case("sort 0-D", paddle.sort, (np.array(2.0),), ref=lambda x: x),
    Case("sort nan", paddle.sort, (NAN,), ref=np.sort, grad=False),
    Case("sort nan descending", paddle.sort, (NAN,), {"descending": True}, ref=[np.nan, 2.0, 1.0, 0.0], grad=False),
    Case("msort", paddle.msort, (X,), ref=lambda x: np.sort(x, 0)),
    Case("argsort", paddle.argsort, (X, 1), ref=np.argsort),
    Case("argsort keeps ties in order", paddle.argsort, (TIES,), ref=lambda x: np.argsort(x, kind="stable")),
    Case("argsort of long rows", paddle.argsort, (LONG, 1), ref=lambda x, a: np.argsort(x, 1, kind="stable"), **QUICK),
    Case("argsort of long columns", paddle.argsort, (LONG.T.copy(), 0), **QUICK,
         ref=lambda x, a: np.argsort(x, 0, kind="stable")),
    Case("argsort of long rows of nan", paddle.argsort, (np.where(LONG > 5, np.nan, LONG), 1),
         ref=lambda x, a: np.argsort(x, 1, kind="stable"), **QUICK),
    Case("argsort descending", paddle.argsort, (TIES,), {"descending": True}, ref=[0, 2, 5, 3, 1, 4]),
    Case("topk", paddle.topk, (X, 2), ref=lambda x, k: ranked(x, k, -1), second=True),
    Case("topk smallest", paddle.topk, (X, 2, 1, False), ref=lambda x, *_: ranked(x, 2, 1, False)),
    Case("topk by a tensor", paddle.topk, (X, np.array(2)), ref=lambda x, k: ranked(x, 2, -1)),
    Case("topk of many", paddle.topk, (floats(2, 2000), 3), ref=lambda x, k: ranked(x, 3, -1)),
    Case("topk 0-D", paddle.topk, (np.array(2.0), 1), ref=lambda x, k: [x, np.array(0)]),
    Case("kthvalue", paddle.kthvalue, (X, 2, 1), ref=lambda x, *_: [np.sort(x, 1)[:, 1], np.argsort(x, 1)[:, 1]]),
    Case(
        "kthvalue keepdim",
        paddle.kthvalue,
        (X, 2, 1, True),
        ref=lambda x, *_: [np.sort(x, 1)[:, 1:2], np.argsort(x, 1)[:, 1:2]],
    ),
    Case("kthvalue 0-D", paddle.kthvalue, (np.array(2.0), 1), ref=lambda x, k: [x, np.array(0)]),
    Case(
        "mode",
        paddle.mode,
        (np.array([[2.0, 1, 3, 3], [4, 4, 1, 1], [5, 1, 2, 0]]),),
        ref=lambda x: [np.array([3.0, 1, 0]), np.array([3, 3, 3])],
        grad=False,
    ),
    Case(
        "mode keepdim",
        paddle.mode,
        (TIES.reshape(2, 3), 0, True),
        ref=lambda *_: [np.array([[2, 1, 3]]), np.array([[1, 1, 1]])],
    ),
    Case("mode gradient", paddle.mode, (X,)),
    Case("mode 0-D", paddle.mode, (np.array(2.0),), ref=lambda x: [x, np.array(0)]),
]  # fmt: skip
SEARCH = [
    Case("nonzero", paddle.nonzero, (bools(3, 4),), ref=np.argwhere),
    Case("nonzero as tuple", paddle.nonzero, (ints(3, 4, high=2), True), ref=lambda x, t: np.nonzero(x)),
    Case("argwhere", paddle.argwhere, (TIES,), ref=np.argwhere),
    Case("searchsorted without values", paddle.searchsorted, (np.zeros((2, 0, 4)), np.zeros((2, 0, 4))),
         ref=np.zeros((2, 0, 4), "int64")),
    Case("searchsorted", paddle.searchsorted, (np.sort(V), M), ref=np.searchsorted),
    Case(
        "searchsorted right",
        paddle.searchsorted,
        (np.array([1, 3, 3, 5]), ints(2, 3)),
        {"right": True},
        ref=lambda s, v: np.searchsorted(s, v, "right"),
    ),
    Case(
        "searchsorted rows",
        paddle.searchsorted,
        (np.sort(M, 1), floats(3, 2)),
        ref=lambda s, v: np.stack([np.searchsorted(a, b) for a, b in zip(s, v)]),
    ),
    Case(
        "searchsorted with sorter",
        lambda s, v, o: paddle.searchsorted(s, v, sorter=o),
        (V, floats(3), np.argsort(V)),
        ref=lambda s, v, o: np.searchsorted(s, v, sorter=o),
    ),
    Case("bucketize", paddle.bucketize, (M, np.sort(V)), ref=lambda x, s: np.searchsorted(s, x)),
    Case("isin", paddle.isin, (TIES, np.array([1, 2])), ref=np.isin),
    Case("isin inverted", paddle.isin, (TIES, np.array([1, 2])), {"invert": True}, ref=lambda x, t: ~np.isin(x, t)),
    Case("unique", paddle.unique, (TIES,), ref=np.unique),
    Case(
        "unique with all",
        paddle.unique,
        (TIES, True, True, True),
        ref=lambda *_: list(np.unique(TIES, True, True, True)),
    ),
    Case(
        "unique rows",
        paddle.unique,
        (np.array([[2, 1], [2, 1], [0, 0]]),),
        {"return_counts": True, "axis": 0},
        ref=lambda x: [np.array([[0, 0], [2, 1]]), np.array([1, 2])],
    ),
    Case(
        "unique of a matrix",
        paddle.unique,
        (np.array([[2, 1], [2, 3]]),),
        {"return_inverse": True},
        ref=lambda x: [np.array([1, 2, 3]), np.array([1, 0, 1, 2])],
    ),
    Case(
        "unique_consecutive",
        paddle.unique_consecutive,
        (np.array([1, 1, 2, 3, 3, 1]), True, True),
        ref=lambda *_: [np.array([1, 2, 3, 1]), np.array([0, 0, 1, 2, 2, 3]), np.array([2, 1, 2, 1])],
    ),
    Case(
        "unique_consecutive columns",
        paddle.unique_consecutive,
        (np.array([[1, 1, 2], [0, 0, 1]]),),
        {"axis": 1},
        ref=lambda x: x[:, 1:],
    ),
    Case(
        "unique_consecutive of nothing",
        paddle.unique_consecutive,
        (np.zeros(0, "int64"), True),
        ref=lambda *_: [np.zeros(0), np.zeros(0)],
    ),
]
COUNT = [
    Case("bincount", paddle.bincount, (TIES,), ref=np.bincount),
    Case(
        "bincount with weights",
        paddle.bincount,
        (TIES, floats(6), 5),
        ref=lambda x, w, n: np.bincount(x, w, n),
        grad=False,
    ),
    Case("histogram", paddle.histogram, (M, 4), ref=lambda x, n: np.histogram(x, 4)[0], grad=False),
    Case(
        "histogram in a range",
        paddle.histogram,
        (M, 4, -1, 1),
        ref=lambda x, *_: np.histogram(x, 4, (-1, 1))[0],
        grad=False,
    ),
    Case(
        "histogram of weights",
        paddle.histogram,
        (M, 4, -1, 1, floats(3, 4, low=0, seed=1), True),
        ref=lambda x, n, a, b, w, d: np.histogram(x, 4, (-1, 1), True, w)[0].astype("float32"),
        grad=False,
    ),
    Case(
        "histogram_bin_edges",
        paddle.histogram_bin_edges,
        (M, 4),
        ref=lambda x, n: np.histogram_bin_edges(x, 4).astype("float32"),
        grad=False,
    ),
    Case(
        "histogramdd",
        paddle.histogramdd,
        (floats(5, 2), [2, 3]),
        ref=lambda x, n: [np.histogramdd(x, n)[0], *np.histogramdd(x, n)[1]],
        grad=False,
        dynamic=False,
    ),
    Case(
        "histogramdd density",
        paddle.histogramdd,
        (floats(5, 2), 2, [-2.0, 2.0, -2.0, 2.0], True),
        ref=lambda x, *_: [(h := np.histogramdd(x, 2, [(-2, 2)] * 2, True))[0], *h[1]],
        grad=False,
        dynamic=False,
    ),
]
CREATION = [
    Case("full", paddle.full, ([2, 3], 1.5), ref=lambda s, v: np.full((2, 3), 1.5)),
    Case(
        "full by tensors",
        paddle.full,
        (np.array([2, 3]), np.array(1.5)),
        ref=lambda s, v: np.full((2, 3), 1.5),
        grad=False,
        dynamic=False,
    ),
    Case("zeros", paddle.zeros, ([2], "int32"), ref=lambda s, d: np.zeros(2)),
    Case("ones by sizes", paddle.ones, (2, 3), ref=lambda *s: np.ones(s)),
    Case("empty_like", paddle.empty_like, (M,), ref=np.zeros_like, grad=False),
    Case("arange", paddle.arange, (5, 0, -2), ref=np.arange),
    Case("arange of fractions", paddle.arange, (1, 2, 0.25), ref=np.arange),
    Case("arange by a tensor", paddle.arange, (np.array(4),), ref=lambda n: np.arange(4)),
    Case("range", paddle.range, (1, 3), ref=[1.0, 2.0, 3.0]),
    Case("linspace", paddle.linspace, (0, 10, 5), ref=np.linspace),
    Case("linspace of integers", paddle.linspace, (0, 10, 5, "int32"), ref=[0, 2, 5, 7, 10]),
    Case("logspace", paddle.logspace, (0, 3, 4, 2.0), ref=[1.0, 2.0, 4.0, 8.0]),
    Case("eye", paddle.eye, (2, 3), ref=np.eye),
    Case("tril_indices", paddle.tril_indices, (3, 4, 1), ref=lambda r, c, k: np.stack(np.tril_indices(3, 1, 4))),
    Case("triu_indices", paddle.triu_indices, (4, 3, -1), ref=lambda r, c, k: np.stack(np.triu_indices(4, -1, 3))),
    Case("one_hot", one_hot, (np.array([[0, 2], [1, 3]]), 4), ref=lambda x, n: np.eye(4)[x]),
    Case("one_hot of what is there", one_hot, (np.array([0, 2]),), ref=lambda x: np.eye(3)[x]),
    Case("assign", paddle.assign, (M,), ref=lambda x: x, second=True),
    Case("assign a list", paddle.assign, ([[1.0, 2.0]],), ref=[[1.0, 2.0]]),
    Case("clone", paddle.clone, (M,), ref=lambda x: x),
    Case(
        "combinations",
        paddle.combinations,
        (V,),
        ref=lambda x: np.array([[x[i], x[j]] for i in range(4) for j in range(i + 1, 4)]),
        dynamic=False,
    ),
    Case("vander", paddle.vander, (V + 3, 3), ref=np.vander, dynamic=False),
    Case("new_full", lambda x: x.new_full([2], 3.0), (M,), ref=lambda x: np.full(2, 3.0), grad=False),
]
CASES = [*SORT, *SEARCH, *COUNT, *CREATION]
