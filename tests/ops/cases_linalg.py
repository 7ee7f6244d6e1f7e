"""Matrix products, contractions, linear systems and decompositions."""

import numpy as np
import scipy.linalg

from vitrify.ops import contraction, covariance, decomposition, linalg, matmul
from vitrify.testing import Case, complexes, floats, ints

A, B = floats(2, 3), floats(3, 4, seed=1)
STACK = floats(5, 2, 3, seed=2)
SQUARE = floats(2, 3, 3, seed=3) + 3 * np.eye(3)
DEFINITE = SQUARE @ SQUARE.swapaxes(-1, -2)
FLOATS = {"dtypes": ("float32",)}


def t(x):
    return x.swapaxes(-1, -2)


def product(name, x, y, tx=False, ty=False, **options):
    ref = np.matmul(t(x) if tx else x, t(y) if ty else y)
    return Case(f"matmul/{name}", matmul.matmul, (x, y, tx, ty), ref=ref, second=True, **options)


PRODUCTS = [
    product("matrices", A, B),
    product("transposed x", t(A), B, True),
    product("transposed y", A, t(B), ty=True),
    product("transposed both", t(A), t(B), True, True),
    product("stack by matrix", STACK, B),
    product("stack by transposed matrix", STACK, t(B), ty=True),
    product("transposed stack by matrix", t(STACK), B, True),
    product("matrix by stack", floats(4, 2), STACK),
    product("stacks", STACK, floats(5, 3, 2)),
    product("stacks transposed", t(STACK), floats(5, 2, 3), True, True),
    product("broadcast", floats(4, 1, 2, 3), floats(5, 3, 2)),
    product("vectors", floats(3), floats(3, seed=1)),
    product("vector by matrix", floats(3), B),
    product("matrix by vector", A, floats(3)),
    product("vector by stack", floats(2), STACK),
    product("stack by vector", STACK, floats(3)),
    product("empty", A[:0], B),
    product("nothing to sum", A[:, :0], B[:0]),
    product("nothing to sum in stacks", floats(5, 2, 0), B[:0]),
    product("complex", complexes(2, 3), complexes(3, 2, seed=4)),
    product("ints", ints(2, 3), ints(3, 2)),
    Case("matmul/real by complex", matmul.matmul, (A, complexes(3, 2)), ref=np.matmul),
    Case("matmul/vector transposed", matmul.matmul, (floats(3), B, True), ref=lambda x, y, _: x @ y),
    Case("x @ y", lambda x, y: x @ y, (A, B), ref=A @ B),
    Case("mm", matmul.mm, (A, B), ref=np.matmul),
    Case("bmm", matmul.bmm, (STACK, floats(5, 3, 2)), ref=np.matmul),
    Case("mv", matmul.mv, (A, floats(3)), ref=np.matmul),
    Case("dot", matmul.dot, (floats(3), floats(3, seed=1)), ref=np.dot, second=True),
    Case("dot/rows", matmul.dot, (A, floats(2, 3, seed=5)), ref=lambda x, y: (x * y).sum(-1)),
    Case("inner", matmul.inner, (STACK, floats(4, 3)), ref=np.inner, second=True),
    Case("inner/vectors", matmul.inner, (floats(3), floats(3, seed=1)), ref=np.inner),
    Case("inner/0-d", matmul.inner, (np.array(2.0), A), ref=np.inner),
    Case("outer", matmul.outer, (A, floats(4)), ref=np.outer, second=True),
    Case("outer/int", matmul.outer, (ints(2), ints(3)), ref=np.outer),
    Case("addmm", matmul.addmm, (floats(4), A, B, 0.5, 2.0), ref=lambda c, x, y, b, a: b * c + a * (x @ y)),
    Case("baddbmm", matmul.baddbmm, (floats(2, 2), STACK, floats(5, 3, 2)), ref=lambda c, x, y: c + x @ y),
]
CONTRACTIONS = [
    Case("vecdot", contraction.vecdot, (A, floats(3)), ref=lambda x, y: (x * y).sum(-1)),
    Case("vecdot/complex", contraction.vecdot, (complexes(3), complexes(3, seed=1)), ref=lambda x, y: (x.conj() * y).sum(-1)),
    *[
        Case(f"tensordot/{axes}", contraction.tensordot, (floats(2, 3, 4), floats(*shape, seed=1), axes), ref=np.tensordot)
        for shape, axes in (
            ((3, 4, 5), 2),
            ((4, 5), 1),
            ((5,), 0),
            ((4, 3, 2), ([2, 1], [0, 1])),
            ((3, 2), ([0], [1])),
        )
    ],
    Case("tensordot/same axes", contraction.tensordot, (floats(2, 3, 4), floats(2, 3), [0, 1]),
         ref=lambda x, y, a: np.tensordot(x, y, (a, a))),
    Case("tensordot/short list", contraction.tensordot, (floats(2, 3), floats(2, 3, 4), ([0, 1], [0])),
         ref=lambda x, y, a: np.tensordot(x, y, ([0, 1], [0, 1]))),
    Case("kron", contraction.kron, (A, floats(2, 2)), ref=np.kron, second=True),
    Case("kron/ranks", contraction.kron, (floats(3), floats(2, 2)), ref=np.kron),
    Case("kron/0-d", contraction.kron, (np.array(2.0), A), ref=np.kron),
    Case("cross", contraction.cross, (floats(2, 3), floats(2, 3, seed=1)), ref=np.cross, second=True, dynamic=False),
    Case("cross/axis", contraction.cross, (B, floats(3, 4), 0), ref=lambda x, y, a: np.cross(x, y, axis=0), dynamic=False),
    Case("cross, no axis", lambda x, y: contraction.cross(x, y, None), (floats(2, 3), floats(2, 3, seed=1)), ref=np.cross,
         dynamic=False),
    Case("trace of narrow integers", lambda x: contraction.trace(x.astype("int32")), (ints(3, 3),), grad=False, dtypes=(),
         ref=lambda x: np.trace(x).astype(np.int32), dynamic=False),
    Case("trace", contraction.trace, (STACK[0] @ B,), ref=np.trace, second=True),
    Case("trace/offset", contraction.trace, (STACK, 1, 1, 2), ref=lambda x, o, a, b: np.trace(x, o, a, b)),
    Case("multi_dot", contraction.multi_dot, ([A, B, floats(4, 5), floats(5, 2)],), ref=np.linalg.multi_dot, dynamic=False),
    Case("multi_dot/vectors", contraction.multi_dot, ([floats(2), A, floats(3)],), ref=np.linalg.multi_dot, dynamic=False),
    *[
        Case(f"matrix_power/{n}", contraction.matrix_power, (SQUARE, n), ref=np.linalg.matrix_power, rtol=1e-6, atol=1e-6,
             grad_tol=1e-4, dtypes=(), dynamic=n != 0)
        for n in (-3, -1, 0, 1, 2, 5)
    ],
]  # fmt: skip


def solved(x, y):
    return np.linalg.solve(x, y)


UPPER, LOWER = np.triu(SQUARE), np.tril(SQUARE)
SYSTEMS = [
    Case("inv", linalg.inv, (SQUARE,), ref=np.linalg.inv, second=True, **FLOATS),
    Case("inv/complex", linalg.inv, (complexes(3, 3) + 4 * np.eye(3),), ref=np.linalg.inv, second=True),
    Case("det", linalg.det, (SQUARE,), ref=np.linalg.det, second=True, grad_tol=1e-4, **FLOATS),
    Case("slogdet", linalg.slogdet, (SQUARE,), ref=lambda x: np.stack(np.linalg.slogdet(x)), second=True, **FLOATS),
    Case("cholesky", lambda x: linalg.cholesky(x @ t_of(x)), (SQUARE,), ref=lambda x: np.linalg.cholesky(x @ t(x)),
         second=True, grad_tol=1e-4, **FLOATS),
    Case("cholesky/upper", lambda x: linalg.cholesky(x @ t_of(x), True), (SQUARE,),
         ref=lambda x: t(np.linalg.cholesky(x @ t(x))), **FLOATS),
    Case("cholesky_solve", linalg.cholesky_solve, (floats(2, 3, 2), LOWER), ref=lambda x, y: solved(y @ t(y), x),
         rtol=1e-6, **FLOATS),
    Case("cholesky_solve/upper", linalg.cholesky_solve, (floats(2, 3, 2), UPPER, True),
         ref=lambda x, y, _: solved(t(y) @ y, x), rtol=1e-6, **FLOATS),
    Case("cholesky_inverse", linalg.cholesky_inverse, (LOWER,), ref=lambda x: np.linalg.inv(x @ t(x)), rtol=1e-6, **FLOATS),
    Case("cholesky_inverse/upper", linalg.cholesky_inverse, (UPPER, True), ref=lambda x, _: np.linalg.inv(t(x) @ x),
         rtol=1e-6, **FLOATS),
    Case("solve", linalg.solve, (SQUARE, floats(2, 3, 2)), ref=solved, second=True, **FLOATS),
    Case("solve/vector", linalg.solve, (SQUARE[0], floats(3)), ref=solved, **FLOATS),
    Case("solve/vectors", linalg.solve, (SQUARE, floats(2, 3)), ref=lambda x, y: solved(x, y[..., None])[..., 0],
         dynamic=False, **FLOATS),
    Case("solve/right", linalg.solve, (SQUARE, floats(2, 2, 3), False), ref=lambda x, y, _: y @ np.linalg.inv(x), **FLOATS),
    Case("solve/broadcast", linalg.solve, (SQUARE[0], floats(2, 3, 2)), ref=solved, **FLOATS),
    *[
        Case(f"triangular_solve/{upper, transpose, unit}", linalg.triangular_solve, (SQUARE[0], floats(3, 2), upper, transpose, unit),
             ref=lambda x, y, u, t, d: scipy.linalg.solve_triangular(x, y, trans=int(t), lower=not u, unit_diagonal=d),
             second=True, grad_tol=1e-4, **FLOATS)
        for upper in (True, False)
        for transpose in (True, False)
        for unit in (True, False)
    ],
]  # fmt: skip


def t_of(x):
    return linalg.matrix_transpose(x)


def symmetric(x):
    return x + t_of(x)


def rebuilt(x):
    u, s, vh = decomposition.svd(x)
    return u @ (s.unsqueeze(-1) * s.unsqueeze(-1) * vh)


def eig_by_size(values, vectors):
    """What the phases of the vectors and the order of conjugate values do not change."""
    sizes = (vectors.abs() ** 2).sum(-1).sum(-1)
    return values.abs().sum(-1), (values**2).sum(-1), sizes, (vectors.abs() ** 4 * values.abs().unsqueeze(-2)).sum(-1)


TALL, WIDE = floats(2, 4, 3, seed=6), floats(2, 3, 4, seed=6)
DECOMPOSITIONS = [
    Case("eigh/values", lambda x: decomposition.eigh(symmetric(x))[0], (SQUARE,), ref=np.linalg.eigvalsh(SQUARE + t(SQUARE)),
         second=True, **FLOATS),
    Case("eigh/vectors", lambda x: (decomposition.eigh(symmetric(x))[1]) ** 2, (SQUARE,),
         ref=np.linalg.eigh(SQUARE + t(SQUARE))[1] ** 2, **FLOATS),
    Case("eigh/upper", lambda x: decomposition.eigh(symmetric(x), "U")[0], (SQUARE,),
         ref=np.linalg.eigvalsh(SQUARE + t(SQUARE)), **FLOATS),
    Case("eigvalsh", lambda x: decomposition.eigvalsh(symmetric(x)), (SQUARE,), ref=np.linalg.eigvalsh(SQUARE + t(SQUARE)),
         **FLOATS),
    Case("eig", lambda x: decomposition.eig(x)[0], (np.diag([1.0, 2.0, 3.0]),), ref=np.array([1, 2, 3 + 0j]), grad=False,
         **FLOATS),
    Case("eig/gradients", lambda x: eig_by_size(*decomposition.eig(x)), (SQUARE,), second=True, grad_tol=1e-4, **FLOATS),
    Case("eig/complex", lambda x: eig_by_size(*decomposition.eig(x)), (complexes(3, 3),), second=True, grad_tol=1e-4, **FLOATS),
    Case("eigvals", decomposition.eigvals, (np.array([[0.0, -1.0], [1.0, 0.0]]),), ref=np.array([1j, -1j]), grad=False,
         **FLOATS),
    Case("svd/values", lambda x: decomposition.svd(x)[1], (TALL,), ref=np.linalg.svd(TALL)[1], second=True, grad_tol=1e-4,
         **FLOATS),
    Case("svd/rebuilt", rebuilt, (TALL,), grad_tol=1e-4, **FLOATS),
    Case("svd/rebuilt wide", rebuilt, (WIDE,), grad_tol=1e-4, **FLOATS),
    Case("svd/gradient of full", lambda x: decomposition.svd(x, True)[2][..., :2, :] ** 2, (WIDE,), grad_tol=1e-4,
         ref=np.linalg.svd(WIDE)[2][..., :2, :] ** 2, **FLOATS),
    Case("svd/full", lambda x: decomposition.svd(x, True)[0] ** 2, (TALL,), ref=np.linalg.svd(TALL)[0] ** 2, grad=False,
         **FLOATS),
    Case("svdvals", decomposition.svdvals, (WIDE,), ref=np.linalg.svd(WIDE)[1], **FLOATS),
    Case("qr/tall", decomposition.qr, (TALL,), ref=tuple(np.linalg.qr(TALL)), second=True, grad_tol=1e-4, **FLOATS),
    Case("qr/wide", decomposition.qr, (WIDE,), ref=tuple(np.linalg.qr(WIDE)), grad_tol=1e-4, **FLOATS),
    Case("qr/r", lambda x: decomposition.qr(x, "r"), (SQUARE,), ref=np.linalg.qr(SQUARE)[1], **FLOATS),
    Case("qr/complete", lambda x: decomposition.qr(x, "complete")[1], (TALL,), ref=np.linalg.qr(TALL, "complete")[1],
         grad=False, **FLOATS),
    Case("pinv", decomposition.pinv, (TALL,), ref=np.linalg.pinv, grad_tol=1e-4, **FLOATS),
    Case("pinv of no columns", decomposition.pinv, (np.zeros((2, 3, 0)),), ref=lambda x: np.zeros((2, 0, 3)),
         **FLOATS),
    Case("pinv/hermitian", lambda x: decomposition.pinv(symmetric(x), hermitian=True), (SQUARE,),
         ref=np.linalg.pinv(SQUARE + t(SQUARE)), grad_tol=1e-4, **FLOATS),
    Case("matrix_rank", decomposition.matrix_rank, (np.array([[1.0, 2.0], [2.0, 4.0]]),), ref=np.array(1), **FLOATS),
    Case("matrix_rank of no columns", decomposition.matrix_rank, (np.zeros((2, 3, 0)),), ref=np.zeros(2, "int64"), **FLOATS),
    Case("matrix_rank/tol", decomposition.matrix_rank, (np.diag([1.0, 0.1]), 0.5), ref=np.array(1), **FLOATS),
    Case("matrix_rank/rtol", lambda x: decomposition.matrix_rank(x, rtol=0.5, atol=0.01), (np.diag([1.0, 0.1]),),
         ref=np.array(1), **FLOATS),
    Case("matrix_rank/hermitian", lambda x: decomposition.matrix_rank(x, hermitian=True, tol=0.01), (np.diag([1.0, -2.0]),),
         ref=np.array(2), **FLOATS),
]  # fmt: skip
OBSERVED = floats(2, 5, seed=7)
COUNTS, WEIGHTS = ints(5, low=1), floats(5, low=0.5, high=2.0)
COVARIANCE = [
    Case("cov", covariance.cov, (OBSERVED,), ref=np.cov, second=True),
    Case("cov/columns", covariance.cov, (OBSERVED, False), ref=lambda x, r: np.cov(x, rowvar=r)),
    Case("cov/1-d", covariance.cov, (OBSERVED[0],), ref=np.cov),
    Case("cov/biased", covariance.cov, (OBSERVED, True, False), ref=lambda x, r, d: np.cov(x, ddof=0)),
    Case("cov/fweights", covariance.cov, (OBSERVED, True, True, COUNTS), ref=lambda x, r, d, f: np.cov(x, fweights=f)),
    Case("cov/weights", covariance.cov, (OBSERVED, True, True, COUNTS, WEIGHTS), ref=lambda x, r, d, f, a: np.cov(x, fweights=f, aweights=a)),
    Case("corrcoef", covariance.corrcoef, (OBSERVED,), ref=np.corrcoef, grad=False),
    Case("corrcoef/1-d", covariance.corrcoef, (OBSERVED[0],), ref=np.corrcoef, grad=False),
]
CASES = [*COVARIANCE, *PRODUCTS, *CONTRACTIONS, *SYSTEMS, *DECOMPOSITIONS]
