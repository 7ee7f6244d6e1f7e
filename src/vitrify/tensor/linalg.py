"""Linear algebra, by the path that model code imports from. Source: paddle.tensor.linalg."""

from ..ops.contraction import cross, matrix_power, multi_dot, vecdot
from ..ops.count import bincount, histogram, histogram_bin_edges, histogramdd
from ..ops.covariance import corrcoef, cov
from ..ops.decomposition import eig, eigh, eigvals, eigvalsh, matrix_rank, pinv, qr, svd, svdvals
from ..ops.diagonal import diagonal
from ..ops.distance import cdist
from ..ops.expand import broadcast_shape
from ..ops.householder import householder_product, ormqr
from ..ops.inplace import t_, transpose_
from ..ops.least_squares import lstsq
from ..ops.linalg import cholesky, cholesky_inverse, cholesky_solve, det, slogdet, solve, triangular_solve
from ..ops.low_rank import pca_lowrank, svd_lowrank
from ..ops.lu import lu, lu_solve, lu_unpack
from ..ops.matmul import bmm, dot, matmul, mv
from ..ops.matrix_exp import matrix_exp
from ..ops.norms import cond, dist, matrix_norm, norm, vector_norm
from ..ops.transpose import matrix_transpose, permute, t, transpose

__all__ = [
    "bincount",
    "bmm",
    "broadcast_shape",
    "cdist",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "cond",
    "corrcoef",
    "cov",
    "cross",
    "det",
    "diagonal",
    "dist",
    "dot",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "histogram",
    "histogram_bin_edges",
    "histogramdd",
    "householder_product",
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
    "mv",
    "norm",
    "ormqr",
    "pca_lowrank",
    "permute",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svd_lowrank",
    "svdvals",
    "t",
    "t_",
    "transpose",
    "transpose_",
    "triangular_solve",
    "vecdot",
    "vector_norm",
]
