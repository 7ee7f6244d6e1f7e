"""Linear algebra under Paddle's names. Source: paddle.linalg."""

from .ops.contraction import cross, matrix_power, multi_dot, vecdot
from .ops.covariance import corrcoef, cov
from .ops.decomposition import eig, eigh, eigvals, eigvalsh, matrix_rank, pinv, qr, svd, svdvals
from .ops.diagonal import diagonal
from .ops.householder import householder_product, ormqr
from .ops.least_squares import lstsq
from .ops.linalg import cholesky, cholesky_inverse, cholesky_solve, det, inv, slogdet, solve, triangular_solve
from .ops.low_rank import pca_lowrank, svd_lowrank
from .ops.lu import lu, lu_solve, lu_unpack
from .ops.matmul import matmul
from .ops.matrix_exp import matrix_exp
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
    "householder_product",
    "inv",
    "lstsq",
    "lu",
    "lu_solve",
    "lu_unpack",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "ormqr",
    "pca_lowrank",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svd_lowrank",
    "svdvals",
    "triangular_solve",
    "vecdot",
    "vector_norm",
]
