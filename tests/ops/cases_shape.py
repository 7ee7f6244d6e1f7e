"""Cases of reshape and its relatives, transposes, expansion, joining and splitting."""

from __future__ import annotations

import numpy as np

import vitrify as paddle
from vitrify.testing import Case, floats, ints

X = floats(2, 3, 4)
M = floats(3, 4)
V = floats(4)
TWO = np.array(2)

RESHAPE = [
    Case("reshape", paddle.reshape, (X, [6, 4]), ref=lambda x, s: x.reshape(6, 4), second=True),
    Case("reshape copies and infers", paddle.reshape, (X, [0, -1]), ref=lambda x, s: x.reshape(2, 12)),
    Case("reshape to 0-D", paddle.reshape, (floats(1), []), ref=lambda x, s: x.reshape(())),
    Case("reshape empty", paddle.reshape, (floats(0, 3), [0, -1]), ref=lambda x, s: x),
    Case("reshape empty, -1 is 0", paddle.reshape, (floats(0, 3), [5, -1]), ref=lambda x, s: x.reshape(5, 0)),
    Case(
        "reshape empty, any empty shape",
        paddle.reshape,
        (floats(0, 3), [5, 0]),
        ref=lambda x, s: x.reshape(5, 0),
        dynamic=False,
    ),
    Case("reshape by sizes", lambda x: x.reshape(4, 6), (X,), ref=lambda x: x.reshape(4, 6)),
    Case("reshape by a tensor", paddle.reshape, (X, np.array([4, 6])), ref=lambda x, s: x.reshape(4, 6), dynamic=False),
    Case("reshape by a tensor size", paddle.reshape, (X, [np.array(4), -1]), ref=lambda x, s: x.reshape(4, 6)),
    Case("reshape a transpose", lambda x: paddle.reshape(x.T, [-1]), (X,), ref=lambda x: x.T.reshape(-1)),
    Case("view", lambda x: x.view(4, -1), (X,), ref=lambda x: x.reshape(4, 6)),
    Case("view as bytes", lambda x: x.view("uint8"), (X,), ref=lambda x: x.view("uint8"), grad=False),
    Case("view as wider", lambda x: x.view("int64"), (ints(2, 4).astype("int32"),), ref=lambda x: x.view("int64")),
    Case("view_as", paddle.view_as, (X, floats(6, 4)), ref=lambda x, y: x.reshape(6, 4)),
    Case("view_as_real", paddle.view_as_real, (X + 1j,), ref=lambda x: np.stack([x.real, x.imag], -1), grad=False),
    Case("flatten", paddle.flatten, (X,), {"start_axis": 1}, ref=lambda x: x.reshape(2, 12)),
    Case("flatten 0-D", paddle.flatten, (np.array(2.0),), ref=lambda x: x.reshape(1)),
    Case("ravel", paddle.ravel, (X,), ref=np.ravel),
    Case("unflatten", paddle.unflatten, (X, 2, [2, -1]), ref=lambda x, a, s: x.reshape(2, 3, 2, 2)),
    Case("squeeze all", paddle.squeeze, (floats(2, 1, 3, 1),), ref=np.squeeze, dynamic=False),
    Case("squeeze an axis", paddle.squeeze, (floats(2, 1, 3, 1), 1), ref=lambda x, a: x.squeeze(1)),
    Case("squeeze an axis named twice", paddle.squeeze, (floats(2, 1, 3, 1), [1, -3]), ref=lambda x, a: x.squeeze(1)),
    Case(
        "squeeze leaves other sizes",
        paddle.squeeze,
        (floats(2, 1, 3), [0, 1]),
        ref=lambda x, a: x.squeeze(1),
        dynamic=False,
    ),
    Case("squeeze a tensor axis", paddle.squeeze, (floats(2, 1, 3), np.array(1)), ref=lambda x, a: x.squeeze(1)),
    Case("unsqueeze at a tensor axis", paddle.unsqueeze, (X, np.array(-1)), ref=lambda x, a: x[..., None], second=True),
    Case(
        "unsqueeze at tensor axes",
        lambda x, a: paddle.unsqueeze(x, [0, a]),
        (X, np.array(2)),
        ref=lambda x, a: x[None, :, None],
    ),
    Case("unsqueeze", paddle.unsqueeze, (X, [0, -1]), ref=lambda x, a: x[None, ..., None], second=True),
    Case("unsqueeze one after the other", paddle.unsqueeze, (X, [2, 0]), ref=lambda x, a: x[None, :, :, None]),
    Case("atleast_1d", paddle.atleast_1d, (np.array(1.0),), ref=np.atleast_1d),
    Case("atleast_2d", paddle.atleast_2d, (V,), ref=np.atleast_2d),
    Case("atleast_3d", lambda x, y: paddle.atleast_3d(x, y), (V, M), ref=lambda x, y: list(np.atleast_3d(x, y))),
]
ORDER = [
    Case("transpose", paddle.transpose, (X, [2, 0, -2]), ref=lambda x, p: x.transpose(2, 0, 1), second=True),
    Case("transpose, the last stays", paddle.transpose, (X, [1, 0]), ref=lambda x, p: x.transpose(1, 0, 2)),
    Case("transpose by axes", lambda x: x.transpose(0, 2, 1), (X,), ref=lambda x: x.transpose(0, 2, 1)),
    Case("transpose of two", lambda x: x.transpose(0, 1), (X,), ref=lambda x: x.swapaxes(0, 1)),
    Case("permute", lambda x: x.permute(2, 0, 1), (X,), ref=lambda x: x.transpose(2, 0, 1)),
    Case("t", paddle.t, (M,), ref=np.transpose),
    Case("T", lambda x: x.T, (X,), ref=np.transpose),
    Case("mT", lambda x: x.mT, (X,), ref=lambda x: x.swapaxes(1, 2)),
    Case("matrix_transpose", paddle.matrix_transpose, (X,), ref=lambda x: x.swapaxes(1, 2)),
    Case("swapaxes", paddle.swapaxes, (X, 0, 2), ref=np.swapaxes),
    Case("moveaxis", paddle.moveaxis, (X, 0, -1), ref=np.moveaxis),
    Case("moveaxis, several", paddle.moveaxis, (X, [0, 1], [-1, 0]), ref=np.moveaxis),
    Case("flip", paddle.flip, (X, [0, 2]), ref=lambda x, a: np.flip(x, (0, 2)), second=True),
    Case("reverse", paddle.reverse, (X, 1), ref=lambda x, a: np.flip(x, 1)),
    Case("rot90", paddle.rot90, (X,), ref=np.rot90),
    Case("rot90 back", paddle.rot90, (X, -1, [0, 2]), ref=np.rot90),
    Case("rot90 twice", paddle.rot90, (X, 2, [1, 2]), ref=np.rot90),
    Case("rot90 not at all", paddle.rot90, (X, 4), ref=np.rot90),
    Case("roll", paddle.roll, (X, [1, -2], [0, 1]), ref=np.roll),
    Case("roll as one row", paddle.roll, (X, 5), ref=np.roll),
    Case("roll by a tensor", paddle.roll, (X, np.array(1), 2), ref=lambda x, s, a: np.roll(x, 1, 2)),
]
EXPAND = [
    Case("expand", paddle.expand, (floats(3, 1), [2, -1, 4]), ref=lambda x, s: np.tile(x, (2, 1, 4)), second=True),
    Case("expand 0-D", paddle.expand, (np.array(2.0), [2, 3]), ref=lambda x, s: np.full((2, 3), 2.0)),
    Case("expand to nothing", paddle.expand, (floats(3, 1), [3, 0]), ref=lambda x, s: np.zeros((3, 0))),
    Case(
        "expand by a tensor",
        paddle.expand,
        (floats(3, 1), np.array([3, 2])),
        ref=lambda x, s: np.tile(x, (1, 2)),
        dynamic=False,
    ),
    Case("broadcast_to", paddle.broadcast_to, (V, [3, 4]), ref=np.broadcast_to),
    Case("expand_as", paddle.expand_as, (floats(3, 1), X), ref=lambda x, y: np.broadcast_to(x, y.shape)),
    Case(
        "broadcast_tensors",
        lambda x, y: paddle.broadcast_tensors([x, y]),
        (floats(3, 1), floats(2, 1, 4)),
        ref=lambda x, y: list(np.broadcast_arrays(x, y)),
    ),
    Case("tile", paddle.tile, (M, [2, 1, 3]), ref=np.tile, second=True),
    Case("tile, fewer repeats", paddle.tile, (X, [2]), ref=np.tile),
    Case("tile 0-D", paddle.tile, (np.array(2.0), [2]), ref=np.tile),
    Case("tile no times", paddle.tile, (V, [0]), ref=np.tile),
    Case("tile by a tensor", paddle.tile, (M, np.array([2, 2])), ref=np.tile, dynamic=False),
    Case("repeat_interleave", paddle.repeat_interleave, (M, 3, 1), ref=lambda x, n, a: x.repeat(3, 1), second=True),
    Case("repeat_interleave flat", paddle.repeat_interleave, (M, 2), ref=np.repeat),
    Case("repeat_interleave each", paddle.repeat_interleave, (M, np.array([1, 0, 2, 3]), 1), ref=np.repeat),
    Case("repeat_interleave by a tensor", paddle.repeat_interleave, (M, TWO, 0), ref=lambda x, n, a: x.repeat(2, 0)),
]
JOIN = [
    Case("concat", paddle.concat, ([M, floats(3, 2)], 1), ref=np.concatenate, second=True),
    Case("concat with nothing", paddle.concat, ([M, floats(0, 4)],), ref=np.concatenate),
    Case(
        "concat along a tensor axis",
        paddle.concat,
        ([M, floats(3, 2)], np.array(1)),
        ref=lambda x, a: np.concatenate(x, 1),
    ),
    Case("concat by a tensor axis", paddle.concat, ([M, M], -2), ref=np.concatenate),
    Case("stack", paddle.stack, ([M, floats(3, 4, seed=1)], -1), ref=np.stack, second=True),
    Case("stack 0-D", paddle.stack, ([np.array(1.0), np.array(2.0)],), ref=np.stack),
    Case("hstack", paddle.hstack, ([V, floats(2)],), ref=np.hstack),
    Case("hstack of matrices", paddle.hstack, ([M, floats(3, 1)],), ref=np.hstack),
    Case("hstack 0-D", paddle.hstack, ([np.array(1.0), np.array(2.0)],), ref=np.hstack),
    Case("vstack", paddle.vstack, ([V, floats(2, 4)],), ref=np.vstack),
    Case("row_stack", paddle.row_stack, ([V, V],), ref=np.vstack),
    Case("dstack", paddle.dstack, ([V, floats(4, seed=1)],), ref=np.dstack),
    Case("column_stack", paddle.column_stack, ([V, floats(4, 2)],), ref=np.column_stack),
    Case("meshgrid", paddle.meshgrid, (V, floats(3)), ref=lambda x, y: np.meshgrid(x, y, indexing="ij")),
    Case("meshgrid xy", lambda x, y: paddle.meshgrid([x, y], indexing="xy"), (V, floats(3)), ref=np.meshgrid),
    Case(
        "cartesian_prod",
        paddle.cartesian_prod,
        ([V, floats(2)],),
        ref=lambda xs: np.stack([g.ravel() for g in np.meshgrid(*xs, indexing="ij")], 1),
    ),
    Case(
        "block_diag",
        paddle.block_diag,
        ([floats(2), floats(3, 1), np.array(5.0)],),
        ref=lambda xs: np.block(
            [
                [xs[0][None], np.zeros((1, 2))],
                [np.zeros((3, 2)), xs[1], np.zeros((3, 1))],
                [np.zeros((1, 3)), xs[2].reshape(1, 1)],
            ]
        ),
        dynamic=False,
    ),
]
SPLIT = [
    Case("split in equal parts", paddle.split, (X, 3, 1), ref=lambda x, n, a: np.split(x, 3, 1), second=True),
    Case(
        "split along a tensor axis", paddle.split, (X, [1, 2], np.array([-2])), ref=lambda x, s, a: np.split(x, [1], 1)
    ),
    Case("split by sections", paddle.split, (X, [1, -1], 2), ref=lambda x, s, a: np.split(x, [1], 2)),
    Case("split by a tensor section", paddle.split, (X, [np.array(1), 2], 1), ref=lambda x, s, a: np.split(x, [1], 1)),
    Case("chunk", paddle.chunk, (X, 2, 2), ref=lambda x, n, a: np.split(x, 2, 2)),
    Case("tensor_split", paddle.tensor_split, (X, 2, 1), ref=np.array_split),
    Case("tensor_split at places", paddle.tensor_split, (X, [1, 3, 2], 2), ref=np.array_split, dynamic=False),
    Case("hsplit", paddle.hsplit, (M, 2), ref=np.hsplit),
    Case("vsplit", paddle.vsplit, (M, 3), ref=np.vsplit, dynamic=False),
    Case("dsplit", paddle.dsplit, (X, 2), ref=np.dsplit, dynamic=False),
    Case("unbind", paddle.unbind, (X, 1), ref=lambda x, a: list(np.moveaxis(x, 1, 0)), second=True, dynamic=False),
    Case("unstack", paddle.unstack, (X, -1), ref=lambda x, a: list(np.moveaxis(x, -1, 0)), dynamic=False),
    Case("split_with_sizes", lambda x: x.split_with_sizes([1, 2], 1), (X,), ref=lambda x: np.split(x, [1], 1)),
]
SIZES = [
    Case("shape", paddle.shape, (X,), ref=lambda x: np.array(x.shape)),
    Case("numel", paddle.numel, (X,), ref=np.size),
    Case("rank", paddle.rank, (X,), ref=np.ndim),
    Case("is_empty", paddle.is_empty, (floats(0, 2),), ref=lambda x: True),
]
CASES = [*RESHAPE, *ORDER, *EXPAND, *JOIN, *SPLIT, *SIZES]
