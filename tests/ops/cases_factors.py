"""LU, least squares, Householder products, matrix exponential and decompositions of low rank."""

import numpy as np
import scipy.linalg

from vitrify.ops import householder, least_squares, low_rank, lu, matrix_exp
from vitrify.testing import Case, complexes, floats

SQUARE, TALL, WIDE = floats(2, 3, 3, seed=3), floats(2, 4, 3, seed=6), floats(2, 3, 4, seed=6)
FLOATS = {"dtypes": ("float32",), "grad_tol": 1e-4}


def packed(x):
    """LAPACK's form of every matrix of a stack."""
    return np.stack([scipy.linalg.lu_factor(m)[0] for m in x])


def parts(x):
    return tuple(np.stack(p) for p in zip(*(scipy.linalg.lu(m) for m in x)))


def rebuilt(x):
    p, lower, upper = lu.lu_unpack(*lu.lu(x))
    return p @ lower @ upper


LU = [
    Case("lu", lambda x: lu.lu(x)[0], (SQUARE,), ref=packed, second=True, **FLOATS),
    Case("lu/tall", lambda x: lu.lu(x)[0], (TALL,), ref=packed, second=True, **FLOATS),
    Case("lu/wide", lambda x: lu.lu(x)[0], (WIDE,), ref=packed, second=True, **FLOATS),
    Case("lu/complex", lambda x: lu.lu(x)[0], (complexes(2, 3, 3),), ref=packed, second=True, **FLOATS),
    Case("lu/pivots", lambda x: lu.lu(x, get_infos=True)[1:], (SQUARE,), grad=False,
         ref=lambda x: (np.stack([scipy.linalg.lu_factor(m)[1] + 1 for m in x]), np.zeros(2)), **FLOATS),
    Case("lu/singular", lambda x: lu.lu(x, get_infos=True), (np.zeros((2, 2)),), grad=False,
         ref=(np.zeros((2, 2)), np.array([1, 2]), np.array(1)), **FLOATS),
    Case("lu/empty", lambda x: lu.lu(x)[0], (np.zeros((0, 0)),), ref=lambda x: x, **FLOATS),
    Case("lu/no columns", lambda x: lu.lu(x)[0], (np.zeros((2, 3, 0)),), ref=lambda x: x, **FLOATS),
    Case("lu/no matrices", lambda x: lu.lu(x)[0], (np.zeros((0, 3, 3)),), ref=lambda x: x, **FLOATS),
    Case("lu_unpack", lambda x: lu.lu_unpack(*lu.lu(x)), (SQUARE,), ref=parts, second=True, **FLOATS),
    Case("lu_unpack/tall", lambda x: lu.lu_unpack(*lu.lu(x))[1:], (TALL,), second=True, **FLOATS,
         ref=lambda x: parts(x)[1:]),
    Case("lu_unpack/wide", lambda x: lu.lu_unpack(*lu.lu(x)), (WIDE,), ref=parts, **FLOATS),
    Case("lu_unpack/rebuilt", rebuilt, (SQUARE,), ref=lambda x: x, second=True, **FLOATS),
    Case("lu_unpack/no pivots", lambda x: lu.lu_unpack(*lu.lu(x), True, False), (SQUARE,), dtypes=(),
         ref=lambda x: (np.zeros(0), *parts(x)[1:])),
    Case("lu_unpack/no factors", lambda x: lu.lu_unpack(*lu.lu(x), False)[0], (SQUARE,), grad=False, **FLOATS,
         ref=lambda x: parts(x)[0]),
    *[
        Case(f"lu_solve/{trans}", lambda x, b, t: lu.lu_solve(b, *lu.lu(x), t), (x, floats(2, 3, 2), trans), rtol=1e-6,
             ref=lambda x, b, t: np.linalg.solve({"N": x, "T": x.mT, "C": x.conj().mT}[t], b), second=True, **FLOATS)
        for trans, x in (("N", SQUARE), ("T", SQUARE), ("C", SQUARE))
    ],
    Case("lu_solve/complex", lambda x, b: lu.lu_solve(b, *lu.lu(x), "C"), (complexes(3, 3), complexes(3, 2, seed=5)),
         ref=lambda x, b: np.linalg.solve(x.conj().mT, b), **FLOATS),
]  # fmt: skip


def solution(x, y):
    return np.stack([np.linalg.lstsq(a, b, rcond=None)[0] for a, b in zip(x, y)])


LOW = TALL[..., :2] @ floats(2, 2, 3)  # rank 2
LSTSQ = [
    Case("lstsq", lambda x, y: least_squares.lstsq(x, y)[0], (TALL, floats(2, 4, 2)), ref=solution, second=True, rtol=1e-6, **FLOATS),
    Case("lstsq/wide", lambda x, y: least_squares.lstsq(x, y)[0], (WIDE, floats(2, 3, 2)), ref=solution, second=True, rtol=1e-6,
         **FLOATS),
    Case("lstsq/low rank", lambda x, y: least_squares.lstsq(x, y, 1e-10)[::2], (LOW, floats(2, 4, 2)), rtol=1e-6, grad=False,
         ref=lambda x, y: (solution(x, y), np.array([2, 2])), dtypes=()),
    *[
        Case(f"lstsq/{driver}", lambda x, y, d: least_squares.lstsq(x, y, driver=d)[:2], (TALL, floats(2, 4, 2), driver),
             ref=lambda x, y, d: (solution(x, y), ((y - x @ solution(x, y)) ** 2).sum(-2)), rtol=1e-6, dynamic=False, **FLOATS)
        for driver in ("gels", "gelsd", "gelss")
    ],
    Case("lstsq/values", lambda x, y: least_squares.lstsq(x, y, driver="gelsd")[1:], (WIDE, floats(2, 3, 2)), dynamic=False,
         ref=lambda x, y: (np.zeros(0), np.array([3, 3]), np.linalg.svd(x)[1]), **FLOATS),
]  # fmt: skip


def reflected(x, tau):
    """The reflections one after the other."""
    q = np.eye(x.shape[-2])
    for i, t in enumerate(tau):
        v = np.concatenate([np.zeros(i), [1.0], x[i + 1 :, i]])
        q = q @ (np.eye(len(v)) - t * np.outer(v, v))
    return q


TAU = floats(3, seed=8)
HOUSEHOLDER = [
    Case("householder_product", householder.householder_product, (TALL[0], TAU), ref=lambda x, t: reflected(x, t)[:, :3],
         second=True, **FLOATS),
    Case("householder_product/fewer", householder.householder_product, (TALL[0], TAU[:2]), second=True, **FLOATS,
         ref=lambda x, t: reflected(x, t)[:, :3]),
    Case("householder_product/stack", householder.householder_product, (TALL, floats(2, 3)), **FLOATS,
         ref=lambda x, t: np.stack([reflected(m, s)[:, :3] for m, s in zip(x, t)])),
    Case("householder_product/qr", lambda x: householder.householder_product(x, x[0] * 0 + 1), (floats(3, 3),), **FLOATS),
    Case("ormqr", householder.ormqr, (TALL[0], TAU, floats(4, 2)), ref=lambda x, t, y: reflected(x, t) @ y, second=True,
         **FLOATS),
    Case("ormqr/transposed", householder.ormqr, (TALL[0], TAU, floats(4, 2), True, True), **FLOATS,
         ref=lambda x, t, y, *_: reflected(x, t).T @ y),
    Case("ormqr/right", householder.ormqr, (TALL[0], TAU, floats(2, 4), False), **FLOATS,
         ref=lambda x, t, y, _: y @ reflected(x, t)),
    Case("ormqr/right transposed", householder.ormqr, (TALL[0], TAU, floats(2, 4), False, True), **FLOATS,
         ref=lambda x, t, y, *_: y @ reflected(x, t).T),
    Case("ormqr/complex", householder.ormqr, (complexes(3, 2), complexes(2), complexes(3, 2)), second=True, **FLOATS),
]  # fmt: skip
EXP = [
    Case("matrix_exp", matrix_exp.matrix_exp, (SQUARE,), ref=scipy.linalg.expm, second=True, **FLOATS),
    Case("matrix_exp/large", matrix_exp.matrix_exp, (SQUARE * 5,), ref=scipy.linalg.expm, dtypes=(), grad=False),
    Case("matrix_exp/complex", matrix_exp.matrix_exp, (complexes(3, 3),), ref=scipy.linalg.expm, second=True, **FLOATS),
    Case("matrix_exp/16 bits", matrix_exp.matrix_exp, (SQUARE * 0.1,), ref=scipy.linalg.expm, grad=False),
    Case("matrix_exp/empty", matrix_exp.matrix_exp, (np.zeros((0, 3, 3)),), ref=lambda x: x, **FLOATS),
]  # fmt: skip


def spectrum(x):
    return np.linalg.svd(x)[1]


def product(u, s, v):
    return (u * s.unsqueeze(-2)) @ v.mT


RANDOM = {"static": False, "layouts": False, "dtypes": (), "rtol": 1e-6}
LOW_RANK = [
    Case("svd_lowrank/values", lambda x: low_rank.svd_lowrank(x, 3)[1], (TALL,), ref=spectrum, grad_tol=1e-4, **RANDOM),
    Case("svd_lowrank/wide", lambda x: low_rank.svd_lowrank(x, 3)[1], (WIDE,), ref=spectrum, grad_tol=1e-4, **RANDOM),
    Case("svd_lowrank/rebuilt", lambda x: product(*low_rank.svd_lowrank(x, 2)), (LOW,), ref=lambda x: x, grad=False, **RANDOM),
    Case("svd_lowrank/M", lambda x, m: product(*low_rank.svd_lowrank(x, M=m)), (WIDE, floats(2, 3, 4)), ref=lambda x, m: x - m,
         grad=False, **RANDOM),
    Case("pca_lowrank", lambda x: low_rank.pca_lowrank(x, 3)[1], (TALL,), ref=lambda x: spectrum(x - x.mean(-2, keepdims=True)),
         grad_tol=1e-4, **RANDOM),
    Case("pca_lowrank/as it is", lambda x: product(*low_rank.pca_lowrank(x, center=False)), (TALL,), ref=lambda x: x, grad=False,
         **RANDOM),
]  # fmt: skip
CASES = [*LU, *LSTSQ, *HOUSEHOLDER, *EXP, *LOW_RANK]
