"""Linear algebra under Paddle's names. Source: paddle.linalg."""

from .ops.contraction import cross, matrix_power, multi_dot, vecdot
from .ops.covariance import corrcoef, cov
from .ops.decomposition import eig, eigh, eigvals, eigvalsh, matrix_rank, pinv, qr, svd, svdvals
from .ops.diagonal import diagonal
from .ops.linalg import cholesky, cholesky_inverse, cholesky_solve, det, inv, slogdet, solve, triangular_solve
from .ops.matmul import matmul
from .ops.norms import cond, matrix_norm, norm, vector_norm
from .ops.transpose import matrix_transpose

__all__ = [
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "cond",
    "corrcoef",
    "cov",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "triangular_solve",
    "vecdot",
    "vector_norm",
]
