"""Cases of reading and writing at places given by tensors, of masks, slices, diagonals and padding."""

from __future__ import annotations

import numpy as np

import vitrify as paddle
from vitrify.ops.pad import pad, zeropad2d
from vitrify.testing import Case, bools, floats

X = floats(2, 3, 4)
M = floats(3, 4)
V = floats(4)
MASK = bools(3, 4)
PICK = np.array([2, 0, 2])
GRID = np.array([[0, 2, 1, 1], [1, 0, 0, 2]])
PLACES = np.array([[0, 1], [1, 2], [0, 1]])


def written(x, index, value):
    """A copy of x with x[index] = value."""
    out = x.copy()
    out[index] = value
    return out


def added(x, index, value):
    """A copy of x with value added at index, repeated places included."""
    out = x.copy()
    np.add.at(out, index, value)
    return out


GATHER = [
    Case("gather", paddle.gather, (X, PICK, 1), ref=lambda x, i, a: x.take(i, 1), second=True),
    Case("gather along a tensor axis", paddle.gather, (X, PICK, np.array(1)), ref=lambda x, i, a: x.take(i, 1)),
    Case("gather from the end", paddle.gather, (M, np.array([-1, 0])), ref=lambda x, i: x[i]),
    Case("gather 0-D index", paddle.gather, (X, np.array(1), 1), ref=lambda x, i, a: x[:, 1]),
    Case("gather column index", paddle.gather, (V, np.array([[1], [2]])), ref=lambda x, i: x[1:3]),
    Case("index_select", paddle.index_select, (X, np.array([3, 0]), 2), ref=lambda x, i, a: x[..., [3, 0]]),
    Case("take", paddle.take, (X, np.array([[0, -1], [5, 5]])), ref=np.take),
    Case("take wrapping", paddle.take, (X, np.array([25, -30]), "wrap"), ref=lambda x, i, m: x.take(i, mode="wrap")),
    Case("take clipping", paddle.take, (X, np.array([25, -30]), "clip"), ref=lambda x, i, m: x.take(i, mode="clip")),
    Case(
        "take_along_axis",
        paddle.take_along_axis,
        (M, GRID, 0, False),
        ref=lambda x, i, a, b: np.take_along_axis(x, i, 0),
        second=True,
    ),
    Case("take_along_axis broadcast", paddle.take_along_axis, (M, np.array([[1]]), 1), ref=lambda x, i, a: x[:, 1:2]),
    Case(
        "take_along_axis smaller",
        paddle.take_along_axis,
        (M, np.array([[0, 2]]), 0, False),
        ref=lambda x, i, a, b: np.array([[x[0, 0], x[2, 1]]]),
    ),
    Case(
        "index_sample",
        paddle.index_sample,
        (M, np.array([[0, 1], [1, 1], [3, 3]])),
        ref=lambda x, i: np.take_along_axis(x, i, 1),
    ),
    Case("gather_nd", paddle.gather_nd, (X, PLACES), ref=lambda x, i: x[i[:, 0], i[:, 1]], second=True, dynamic=False),
    Case("gather_nd single", paddle.gather_nd, (X, np.array([0, 1, -1])), ref=lambda x, i: x[0, 1, -1], dynamic=False),
    Case(
        "gather_nd whole",
        paddle.gather_nd,
        (M, np.zeros((2, 0), "int64")),
        ref=lambda x, i: np.stack([x, x]),
        dynamic=False,
    ),
    Case(
        "multiplex",
        paddle.multiplex,
        ([M, floats(3, 4, seed=1)], np.array([[0], [1], [0]])),
        ref=lambda xs, i: np.stack(xs)[i[:, 0], np.arange(3)],
    ),
    Case("shard_index", paddle.shard_index, (np.array([[16], [1]]), 20, 2, 0), ref=lambda *a: np.array([[-1], [1]])),
]
SCATTER = [
    Case("scatter", paddle.scatter, (M, np.array([2, 0]), floats(2, 4)), ref=written, second=True),
    Case(
        "scatter adding",
        paddle.scatter,
        (M, PICK, floats(3, 4, seed=1), False),
        ref=lambda x, i, u, o: added(written(x, i, 0), i, u),
    ),
    Case("scatter 0-D index", paddle.scatter, (M, np.array(1), V), ref=written),
    Case("scatter of a 0-D update", paddle.scatter, (V, np.array(1), floats()), ref=written),
    Case(
        "scatter_nd",
        paddle.scatter_nd,
        (np.array([[1], [1]]), floats(2, 3), [4, 3]),
        ref=lambda i, u, s: added(np.zeros((4, 3)), i[:, 0], u),
        dynamic=False,
    ),
    Case(
        "scatter_nd_add",
        paddle.scatter_nd_add,
        (X, PLACES, floats(3, 4)),
        ref=lambda x, i, u: added(x, (i[:, 0], i[:, 1]), u),
        second=True,
        dynamic=False,
    ),
    Case(
        "index_add",
        paddle.index_add,
        (M, np.array([0, -1, 0]), 1, floats(3, 3)),
        {"alpha": 2.0},
        ref=lambda x, i, a, v: added(x, (slice(None), i), 2 * v),
    ),
    Case(
        "index_fill",
        paddle.index_fill,
        (M, np.array([0, -1]), 1, 2.0),
        ref=lambda x, i, a, v: written(x, (slice(None), i), v),
    ),
    Case(
        "index_fill by a tensor",
        paddle.index_fill,
        (M, np.array([0, -1]), 1, np.array(2.0)),
        ref=lambda x, i, a, v: written(x, (slice(None), i), v),
    ),
    Case("index_put", paddle.index_put, (M, (np.array([0, 1]), np.array([2, 3])), floats(2)), ref=written),
    Case("index_put by a mask", paddle.index_put, (M, (MASK,), np.array(1.5)), ref=written),
    Case(
        "index_put adding",
        paddle.index_put,
        (M, (np.array([0, 0]),), floats(1), True),
        ref=lambda x, i, v, a: added(x, i, v),
    ),
    Case(
        "slice_scatter",
        paddle.slice_scatter,
        (M, floats(3, 2), [1], [0], [3], [2]),
        ref=lambda x, v, *_: written(x, (slice(None), slice(0, 3, 2)), v),
    ),
    Case(
        "select_scatter",
        paddle.select_scatter,
        (M, floats(3), 1, -1),
        ref=lambda x, v, *_: written(x, (slice(None), -1), v),
    ),
    Case(
        "scatter_add",
        paddle.scatter_add,
        (M, 0, GRID, floats(2, 4)),
        ref=lambda x, a, i, u: added(x, (i, np.arange(4)), u),
    ),
    Case(
        "scatter_reduce",
        paddle.scatter_reduce,
        (M, 0, np.array([[1, 1, 1, 1]]), floats(1, 4), "prod"),
        ref=lambda x, a, i, u, r: np.stack([x[0], x[1] * u[0], x[2]]),
    ),
]


def put(reduce, include_self):
    """What put_along_axis along axis 0 with GRID gives, one place at a time."""
    combine = {
        "add": np.sum,
        "mean": np.mean,
        "mul": np.prod,
        "amin": np.min,
        "amax": np.max,
        "assign": lambda v: v[-1],
    }

    def reference(x, index, values, *_):
        out = x.copy()
        for column in range(x.shape[1]):
            for row in set(index[:, column]):
                found = [values[k, column] for k in range(len(index)) if index[k, column] == row]
                out[row, column] = combine[reduce](([x[row, column]] if include_self else []) + found)
        return out

    return reference


PUT = [
    Case(
        f"put_along_axis {reduce}{'' if include else ' without self'}",
        paddle.put_along_axis,
        (M + 5, GRID, floats(2, 4, seed=3) + 5, 0, reduce, include, False),
        ref=put(reduce, include),
    )
    for reduce in ("assign", "add", "mean", "mul", "amin", "amax")
    for include in (True, False)
] + [
    Case(
        "put_along_axis, the last stays",
        paddle.put_along_axis,
        (M, np.array([[0, 1, 0, 0], [0, 0, 1, 0], [2, 1, 0, 0]]), floats(3, 4, seed=2), 0, "assign", True, False),
        ref=put("assign", True),
    ),
    Case(
        "put_along_axis of a number",
        paddle.put_along_axis,
        (M, np.array([[1]]), 2.0, 1),
        ref=lambda x, *_: written(x, (slice(None), 1), 2.0),
    ),
    Case(
        "put_along_axis broadcast",
        paddle.put_along_axis,
        (M, np.array([[1]]), floats(3, 1), 1),
        ref=lambda x, i, v, a: written(x, (slice(None), [1]), v),
    ),
]
MASKS = [
    Case("masked_select", paddle.masked_select, (M, MASK), ref=lambda x, m: x[m], second=True),
    Case("masked_select by a column", paddle.masked_select, (M, MASK[:, :1]), ref=lambda x, m: x[m[:, 0]].reshape(-1)),
    Case("masked_select broadcast", paddle.masked_select, (V, MASK), ref=lambda x, m: np.broadcast_to(x, m.shape)[m]),
    Case("masked_fill", paddle.masked_fill, (M, MASK, 2.0), ref=lambda x, m, v: np.where(m, v, x)),
    Case(
        "masked_fill by numbers",
        paddle.masked_fill,
        (floats(2, 4), np.array([2, 0, 1, 0]), 2.0),
        ref=lambda x, m, v: np.where(m != 0, v, x),
    ),
    Case("masked_fill broadcast", paddle.masked_fill, (V, MASK, np.array(2.0)), ref=lambda x, m, v: np.where(m, v, x)),
    Case(
        "masked_scatter",
        paddle.masked_scatter,
        (M, MASK, floats(13)),
        ref=lambda x, m, v: written(x, m, v[: m.sum()]),
        second=True,
    ),
    Case(
        "masked_scatter broadcast",
        paddle.masked_scatter,
        (V, MASK, floats(13)),
        ref=lambda x, m, v: written(np.tile(x, (3, 1)), m, v[: m.sum()]),
    ),
]
SLICES = [
    Case("slice", paddle.slice, (X, [1, 2], [-2, 0], [100, -1]), ref=lambda x, *_: x[:, -2:100, 0:-1], second=True),
    Case("slice empty", paddle.slice, (X, [1], [2], [1]), ref=lambda x, *_: x[:, 2:1]),
    Case(
        "slice by tensors",
        paddle.slice,
        (X, [1], np.array([1]), [np.array(2)]),
        ref=lambda x, *_: x[:, 1:2],
        dynamic=False,
    ),
    Case(
        "strided_slice",
        paddle.strided_slice,
        (X, [1, 2], [2, 0], [0, 4], [-1, 2]),
        ref=lambda x, *_: x[:, 2:0:-1, 0:4:2],
    ),
    Case(
        "strided_slice through the start",
        paddle.strided_slice,
        (X, [1], [-1], [-10], [-1]),
        ref=lambda x, *_: x[:, ::-1],
    ),
    Case("narrow", paddle.narrow, (X, 1, -2, 2), ref=lambda x, *_: x[:, 1:]),
    Case("crop", paddle.crop, (X, [1, 2, -1], [1, 0, 1]), ref=lambda x, *_: x[1:2, :2, 1:]),
    Case(
        "crop by tensors",
        paddle.crop,
        (X, [1, 2, 2], np.array([1, 0, 1])),
        ref=lambda x, *_: x[1:2, :2, 1:3],
        dynamic=False,
    ),
    Case(
        "crop to the end by a tensor",
        lambda x, n: paddle.crop(x, [1, n, 2]),
        (X, np.array(-1, "int32")),
        ref=lambda x, n: x[:1, :, :2],
        dynamic=False,
    ),
    Case(
        "unfold",
        paddle.unfold,
        (X, 2, 2, 1),
        ref=lambda x, *_: np.lib.stride_tricks.sliding_window_view(x, 2, 2),
        second=True,
    ),
    Case("unfold of a number", paddle.unfold, (np.array(2.0), 0, 1, 1), ref=lambda x, *_: x[None]),
    Case(
        "unfold with steps", paddle.unfold, (floats(7), 0, 3, 2), ref=lambda x, *_: np.stack([x[0:3], x[2:5], x[4:7]])
    ),
    Case(
        "as_strided",
        paddle.as_strided,
        (M, [3, 2], [1, 2], 1),
        ref=lambda x, *_: x.ravel()[1 + np.add.outer(np.arange(3), [0, 2])],
        second=True,
    ),
]
DIAGONALS = [
    Case("diagonal", paddle.diagonal, (X, 1, 1, 2), ref=np.diagonal, second=True),
    Case("diagonal below", paddle.diagonal, (X, -1, 2, 0), ref=np.diagonal),
    Case("diagonal far out", paddle.diagonal, (M, 10), ref=np.diagonal),
    Case("diag of a vector", paddle.diag, (V, 1, 2.0), ref=lambda x, k, p: np.diag(x, 1) + 2 * (1 - np.eye(5, k=1))),
    Case("diag of a matrix", paddle.diag, (M, -1), ref=np.diag),
    Case("diag of a number", paddle.diag, (np.array(3.0),), ref=lambda x: x.reshape(1, 1)),
    Case("diagflat", paddle.diagflat, (M, 1), ref=np.diagflat),
    Case("diag_embed", paddle.diag_embed, (M, -1), ref=lambda x, k: np.stack([np.diag(r, -1) for r in x]), second=True),
    Case(
        "diag_embed in dimensions",
        paddle.diag_embed,
        (M, 0, 0, 2),
        ref=lambda x, *_: np.stack([np.diag(r) for r in x], 1),
    ),
    Case(
        "diagonal_scatter",
        paddle.diagonal_scatter,
        (M, floats(3), 1),
        ref=lambda x, y, k: written(x, (np.arange(3), np.arange(3) + 1), y),
    ),
    Case(
        "fill_diagonal",
        lambda x: x.fill_diagonal(2.0, 1),
        (M,),
        ref=lambda x: written(x, (np.arange(3), np.arange(3) + 1), 2),
        dynamic=False,
    ),
    Case(
        "fill_diagonal wrapping",
        lambda x: x.fill_diagonal(2.0, wrap=True),
        (floats(5, 2),),
        ref=lambda x: written(x, ([0, 1, 3, 4], [0, 1, 0, 1]), 2),
        dynamic=False,
    ),
    Case("tril", paddle.tril, (X, 1), ref=np.tril, second=True),
    Case("triu", paddle.triu, (X, -1), ref=np.triu),
    Case("tril from a tensor", paddle.tril, (M, np.array(1)), ref=lambda x, k: np.tril(x, int(k)), second=True),
    Case("triu from a tensor", paddle.triu, (M, np.array([-1])), ref=lambda x, k: np.triu(x, int(k[0]))),
]
MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
PADS = [
    Case(
        "pad the last dimensions",
        pad,
        (X, [1, 2]),
        {"value": 3.0},
        ref=lambda x, p, value: np.pad(x, ((0, 0), (0, 0), (1, 2)), constant_values=value),
    ),
    Case("pad all dimensions", pad, (M, [1, 0, 0, 2]), ref=lambda x, p: np.pad(x, ((1, 0), (0, 2))), second=True),
    Case(
        "pad all from the last",
        pad,
        (M, [1, 0, 0, 2]),
        {"pad_from_left_axis": False},
        ref=lambda x, p: np.pad(x, ((0, 2), (1, 0))),
    ),
    Case("pad less", pad, (X, [-1, 2]), ref=lambda x, p: np.pad(x[..., 1:], ((0, 0), (0, 0), (0, 2)))),
    Case("pad NLC", pad, (X, [1, 2]), {"data_format": "NLC"}, ref=lambda x, p: np.pad(x, ((0, 0), (1, 2), (0, 0)))),
    Case(
        "pad by a tensor",
        pad,
        (X, np.array([1, 2])),
        ref=lambda x, p: np.pad(x, ((0, 0), (0, 0), (1, 2))),
        dynamic=False,
    ),
    Case(
        "pad with a tensor",
        lambda x, v: pad(x, [1, -1], value=v),
        (X, np.array(2.5)),
        ref=lambda x, v: np.pad(x[..., :-1], ((0, 0), (0, 0), (1, 0)), constant_values=v),
    ),
    Case(
        "zeropad2d",
        zeropad2d,
        (floats(1, 2, 2, 3), [1, 0, 0, 2]),
        ref=lambda x, p: np.pad(x, ((0, 0), (0, 0), (0, 2), (1, 0))),
    ),
    *[
        Case(
            f"pad {ours}",
            pad,
            (X, [1, 2], ours),
            ref=lambda x, p, m, theirs=theirs: np.pad(x, ((0, 0), (0, 0), (1, 2)), theirs),
            second=True,
        )
        for ours, theirs in MODES.items()
    ],
    *[
        Case(
            f"pad NHWC {ours}",
            pad,
            (floats(1, 3, 4, 2), [1, 1, 2, 1], ours, 0.0, "NHWC"),
            ref=lambda x, *_, theirs=theirs: np.pad(x, ((0, 0), (2, 1), (1, 1), (0, 0)), theirs),
        )
        for ours, theirs in MODES.items()
    ],
]
CASES = [*GATHER, *SCATTER, *PUT, *MASKS, *SLICES, *DIAGONALS, *PADS]
