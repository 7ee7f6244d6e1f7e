"""Products, linear algebra, einsum, Fourier transforms, signals, sparse tensors, special functions."""

from __future__ import annotations

from typing import Any

from tests.conformance.spec import EVERY, FLOATS, each, literal, row, t, together, unset

BOTH = ("float32", "float64")
ANY = (*BOTH, "complex64", "complex128")
SQUARE = each(t(3, 3, values="regular"), t(2, 3, 3, values="regular"), t(0, 0))
DEFINITE = each(t(3, 3, values="definite"), t(2, 3, 3, values="definite"))
TALL = each(t(3, 2), t(2, 3), t(2, 4, 3), t(3, 3))


def rebuilt(paddle: Any, x: Any, name: str, **options: Any) -> Any:
    """Return what the factors of a matrix multiply to, and their shapes and dtypes."""
    factors = getattr(paddle.linalg, name)(x, **options)
    factors = factors if isinstance(factors, (list, tuple)) else [factors]
    return [[list(one.shape), one.dtype] for one in factors], BUILD[name](paddle, x, factors)


def _svd(paddle: Any, x: Any, factors: Any) -> Any:
    u, s, vh = factors
    k = s.shape[-1]
    return [s, paddle.matmul(u[..., :k] * s.unsqueeze(-2), vh[..., :k, :])]


def _eigh(paddle: Any, x: Any, factors: Any) -> Any:
    w, v = factors
    adjoint = paddle.conj(paddle.transpose(v, [*range(v.ndim - 2), v.ndim - 1, v.ndim - 2]))
    return [w, paddle.matmul(v * w.unsqueeze(-2).astype(v.dtype), adjoint)]


def _eig(paddle: Any, x: Any, factors: Any) -> Any:
    w, v = factors
    return paddle.matmul(x.astype(v.dtype), v) - v * w.unsqueeze(-2) + 1.0


BUILD = {
    "qr": lambda paddle, x, f: paddle.matmul(f[0], f[1]) if len(f) == 2 else [],
    "svd": _svd,
    "eigh": _eigh,
    "eig": _eig,
    "lu": lambda paddle, x, f: f[0],
}


def sorted_values(paddle: Any, x: Any) -> Any:
    """Return sorted magnitudes of eigenvalues."""
    return paddle.sort(paddle.abs(paddle.linalg.eigvals(x)))


def solution(paddle: Any, x: Any, y: Any, **options: Any) -> Any:
    """Return what `lstsq` gives."""
    return list(paddle.linalg.lstsq(x, y, **options))


def unpacked(paddle: Any, x: Any) -> Any:
    """Return the factors of `lu`."""
    lu, pivots = paddle.linalg.lu(x)
    return [lu, pivots, *paddle.linalg.lu_unpack(lu, pivots)]


def low_rank(paddle: Any, x: Any, name: str, **options: Any) -> Any:
    """Return the product of a factorization of low rank."""
    u, s, v = getattr(paddle.linalg, name)(x, **options)
    return [list(u.shape), s, list(v.shape)]


PRODUCTS = [
    row("paddle.matmul", together((t(2, 3), t(3, 4)), (t(3), t(3)), (t(2, 3), t(3)), (t(3), t(3, 2)), (t(2, 2, 3), t(3, 4)), (t(2, 1, 2, 3), t(5, 3, 2)), (t(0, 3), t(3, 2)), (t(2, 0), t(0, 3)), (t(2, 3), t(2, 3)), (t(), t(2)), (t(2, 3), t(3, 4, dtype="float64")), (t(2, 3), t(3, 2, dtype="int64"))), transpose_x=each(unset, True), transpose_y=each(unset, True)).limited_to(60).over(*EVERY),
    row("paddle.mm", together((t(2, 3), t(3, 4)), (t(2, 3), t(2, 3)))).over(*BOTH, "int64"),
    row("paddle.bmm", together((t(2, 2, 3), t(2, 3, 4)), (t(2, 2, 3), t(3, 3, 4)), (t(2, 3), t(3, 2)), (t(0, 2, 3), t(0, 3, 2)))).over(*BOTH, "int64"),
    row("paddle.mv", together((t(2, 3), t(3)), (t(2, 3), t(2)), (t(0, 3), t(3)))).over(*BOTH, "int64"),
    row("paddle.dot", together((t(3), t(3)), (t(2, 3), t(2, 3)), (t(3), t(2)), (t(0), t(0)), (t(), t()))).over(*ANY, "int64", "int32"),
    row("paddle.vecdot", together((t(2, 3), t(2, 3)), (t(3), t(2, 3))), axis=each(unset, 0)).over(*ANY),
    row("paddle.addmm", t(2, 4), t(2, 3), t(3, 4), each(unset, 0.5), each(unset, 2.0)).over(*BOTH),
    row("paddle.addmm", each(t(4), t(1, 4), t(2, 1), t(3)), t(2, 3), t(3, 4)).over(*BOTH),
    row("paddle.baddbmm", t(2, 2, 4), t(2, 2, 3), t(2, 3, 4), each(unset, 0.5), each(unset, 2.0)).over(*BOTH),
    row("paddle.tensordot", together((t(2, 3, 4), t(3, 4, 5)), (t(2, 3), t(3, 2))), each(unset, 1, 2, 0, [[1], [0]], [1, 0])).over(*BOTH),
    row("paddle.cross", together((t(3, 3), t(3, 3, seed=1)), (t(2, 3), t(2, 3, seed=1)), (t(2, 2), t(2, 2)), (t(3, 2), t(3, 2)))).over(*BOTH, "int64"),
    row("paddle.cross", t(3, 3), t(3, 3, seed=1), axis=each(0, 1, -1, 4)).over(*BOTH),
    row("paddle.cdist", together((t(3, 2), t(4, 2, seed=1)), (t(2, 3, 2), t(2, 4, 2))), each(unset, 1.0, 0.0, 3.0, float("inf"))).over(*BOTH),
    row("paddle.pdist", t(4, 3), each(unset, 1.0, 0.0, float("inf"))).over(*BOTH),
    row("paddle.dist", each(t(2, 3), t(3)), each(t(2, 3, seed=1), t(seed=1)), each(unset, 0, 1, 3, float("inf"), float("-inf"))).over(*BOTH),
    row("paddle.einsum", "i,i->", t(3), t(3)).over(*BOTH, "int64", "complex64"),
    *(row("paddle.einsum", text, *tensors).over(*BOTH, "complex64").as_function_only() for text, tensors in {
        "ij,jk->ik": (t(2, 3), t(3, 4)), "bij,bjk": (t(2, 2, 3), t(2, 3, 2)), "ii->i": (t(3, 3),), "ii": (t(3, 3),), "ij->ji": (t(2, 3),), "i,j->ij": (t(2), t(3)),
        "...ij,...jk->...ik": (t(2, 2, 3), t(3, 2)), "ijk->": (t(2, 3, 2),), "ij,ij->i": (t(2, 3), t(2, 3)), "a,ab,b->": (t(2), t(2, 3), t(3)), "ij": (t(2, 3),),
        "ij,k->": (t(2, 3), t(2)), "ij,jk->il": (t(2, 3), t(3, 2)), "i j , j k -> i k": (t(2, 3), t(3, 2)), "...->...": (t(2, 3),), "i,i": (t(3), t(2))}.items()),
]
FACTORS = [
    row("paddle.linalg.norm", each(t(2, 3), t(3), t(2, 3, 4), t(), t(0, 3)), p=each(unset, 1, 2, 3.0, 0, float("inf"), float("-inf"), "fro", "nuc", 0.5), axis=each(unset, 0, -1, [0, 1], (0, -1), 5), keepdim=each(unset, True)).limited_to(150).over(*FLOATS, "int64", "complex64"),
    row("paddle.linalg.vector_norm", each(t(2, 3), t()), p=each(unset, 1, 0, float("inf"), 3.5), axis=each(unset, 0, [0, 1]), keepdim=each(unset, True)).over(*BOTH),
    row("paddle.linalg.matrix_norm", each(t(2, 3), t(2, 3, 4)), p=each(unset, 1, -1, 2, -2, float("inf"), "nuc"), axis=each(unset, [0, 1]), keepdim=each(unset, True)).over(*BOTH),
    row("paddle.linalg.cholesky", DEFINITE, upper=each(unset, True)).over(*ANY),
    row("paddle.linalg.cholesky_solve", t(3, 2), t(3, 3, values="definite"), upper=each(unset, True)).over(*BOTH),
    row("paddle.linalg.cholesky_inverse", t(3, 3, values="definite"), upper=each(unset, True)).over(*BOTH),
    row("paddle.linalg.inv", SQUARE).over(*ANY, "int64"),
    row("paddle.linalg.inv", each(t(2, 3), t(3, 3, values="zeros"), t(3))),
    row("paddle.linalg.pinv", TALL, rcond=each(unset, 0.1), hermitian=each(unset)).over(*ANY).loosely(1e-3),
    row("paddle.linalg.pinv", DEFINITE, hermitian=True).over(*BOTH).loosely(1e-3),
    row("paddle.linalg.det", SQUARE).over(*ANY, "int64"),
    row("paddle.linalg.slogdet", SQUARE).over(*ANY),
    row("paddle.linalg.matrix_power", SQUARE, each(2, 0, -1, 3)).over(*BOTH).loosely(1e-4),
    row("paddle.linalg.matrix_exp", each(t(3, 3), t(2, 2, 2))).over(*BOTH).loosely(1e-4),
    row("paddle.linalg.matrix_rank", each(t(3, 2), t(3, 3, values="zeros"), t(2, 3, 3)), tol=each(unset, 0.1), hermitian=each(unset)).over(*BOTH),
    row("paddle.linalg.cond", SQUARE, p=each(unset, 1, 2, "fro", "nuc", float("inf"), -2)).over(*BOTH).loosely(1e-4),
    row("paddle.linalg.cov", t(3, 5), rowvar=each(unset, False), ddof=each(unset, False), fweights=each(unset, literal([1, 2, 1, 3, 1], "int64"))).over(*BOTH),
    row("paddle.linalg.corrcoef", each(t(3, 5), t(4)), rowvar=each(unset, False)).over(*BOTH),
    row("paddle.linalg.multi_dot", each([t(2, 3), t(3, 4)], [t(2, 3), t(3, 4), t(4, 2)], [t(3), t(3, 2), t(2)], [t(2, 3)])).over(*BOTH),
    row("paddle.linalg.solve", SQUARE, each(t(3, 2), t(3), t(2, 3, 2))).over(*ANY).loosely(1e-4),
    row("paddle.linalg.triangular_solve", t(3, 3, values="regular"), t(3, 2), upper=each(unset, False), transpose=each(unset, True), unitriangular=each(unset, True)).over(*BOTH).loosely(1e-4),
    row("paddle.linalg.lstsq", t(4, 3), t(4, 2), driver=each(unset, "gels", "gelsd", "gelsy", "gelss")).over(*BOTH).through(solution).loosely(1e-3),
    row("paddle.linalg.svdvals", TALL).over(*BOTH),
    row("paddle.linalg.eigvalsh", DEFINITE, each(unset, "U")).over(*ANY),
    row("paddle.linalg.eigvals", t(3, 3)).over(*ANY).through(sorted_values).without_gradients(),
    row("paddle.linalg.svd", TALL, "svd", full_matrices=each(unset, True)).over(*ANY).through(rebuilt).loosely(1e-3).without_gradients(),
    row("paddle.linalg.svd", t(3, 2), "svd").over(*BOTH).through(rebuilt).loosely(1e-3),
    row("paddle.linalg.qr", TALL, "qr", mode=each(unset, "complete", "r")).over(*ANY).through(rebuilt).loosely(1e-3).without_gradients(),
    row("paddle.linalg.qr", t(3, 3), "qr").over(*BOTH).through(rebuilt).loosely(1e-3),
    row("paddle.linalg.eigh", DEFINITE, "eigh", UPLO=each(unset, "U")).over(*ANY).through(rebuilt).loosely(1e-3),
    row("paddle.linalg.eig", t(3, 3), "eig").over(*ANY).through(rebuilt).loosely(1e-3).without_gradients(),
    row("paddle.linalg.lu", TALL, "lu", pivot=unset, get_infos=each(unset, True)).over(*BOTH).through(rebuilt),
    row("paddle.linalg.lu_unpack", TALL).over(*BOTH).through(unpacked),
    row("paddle.linalg.householder_product", t(4, 3), t(3)).over(*ANY).loosely(1e-4),
    row("paddle.linalg.ormqr", t(4, 3), t(3), t(4, 2)).over(*BOTH).loosely(1e-4),
    row("paddle.linalg.svd_lowrank", t(5, 4), "svd_lowrank", q=4).over(*BOTH).through(low_rank).loosely(1e-3).without_gradients(),
    row("paddle.linalg.pca_lowrank", t(5, 4), "pca_lowrank", q=4).over(*BOTH).through(low_rank).loosely(1e-3).without_gradients(),
]
NORMS = each(unset, "ortho", "forward", "nonsense")
LINES = each(t(6), t(2, 5), t(2, 4, 3), t())
FOURIER = [
    *(row(f"paddle.fft.{name}", LINES, n=each(unset, 4, 8, 0), axis=each(unset, 0, 5), norm=NORMS).limited_to(50).over("float32", "complex64", "float64", "int64", "complex128", "float16") for name in "fft ifft hfft".split()),
    *(row(f"paddle.fft.{name}", LINES, n=each(unset, 4, 8, 0), axis=each(unset, 0, 5), norm=NORMS).limited_to(50).over("float32", "float64", "int64", "complex64") for name in "rfft ihfft".split()),
    row("paddle.fft.irfft", LINES, n=each(unset, 4, 7), axis=each(unset, 0), norm=NORMS).limited_to(50).over("complex64", "complex128", "float32"),
    *(row(f"paddle.fft.{name}", each(t(4, 5), t(2, 3, 4)), s=each(unset, [3, 6], [4]), axes=each(unset, [0, 1], [-1, 0]), norm=each(unset, "ortho")).over("float32", "complex64") for name in "fft2 ifft2 fftn ifftn hfft2 hfftn".split()),
    *(row(f"paddle.fft.{name}", each(t(4, 5), t(2, 3, 4)), s=each(unset, [3, 6]), axes=each(unset, [0, 1]), norm=each(unset, "ortho")).over("float32", "float64", "complex64") for name in "rfft2 rfftn ihfft2 ihfftn".split()),
    *(row(f"paddle.fft.{name}", each(t(4, 5), t(2, 3, 4)), s=each(unset, [3, 6]), axes=each(unset, [0, 1]), norm=each(unset, "ortho")).over("complex64", "complex128", "float32") for name in "irfft2 irfftn".split()),
    row("paddle.fft.fftfreq", each(5, 4, 0), each(unset, 0.5), dtype=each(unset, "float64")),
    row("paddle.fft.rfftfreq", each(5, 4), each(unset, 0.5), dtype=each(unset, "float64")),
    row("paddle.fft.fftshift", LINES, axes=each(unset, 0, [0])).over("float32", "complex64", "int64"),
    row("paddle.fft.ifftshift", LINES, axes=each(unset, 0, [0])).over("float32", "complex64", "int64"),
    row("paddle.signal.stft", each(t(2, 32), t(32)), n_fft=8, hop_length=each(unset, 4), win_length=each(unset, 6), window=each(unset, t(8)), center=each(unset, False), pad_mode=each(unset, "constant"), normalized=each(unset, True), onesided=each(unset, False)).limited_to(40).over(*BOTH),
    row("paddle.signal.istft", each(t(2, 5, 9), t(5, 9)), n_fft=8, hop_length=each(unset, 2, 4), center=each(unset, False), normalized=each(unset, True), length=each(unset, 12)).over("complex64"),
]


def sparse(name: str, layout: str = "coo", *more: Any, **options: Any) -> Any:
    """Return a call of a function of paddle.sparse with a sparse tensor made from dense values."""

    def call(paddle: Any, x: Any, *rest: Any) -> Any:
        masked = paddle.where(paddle.abs(x) > 0.7, x, paddle.zeros_like(x))
        tensor = masked.to_sparse_coo(2) if layout == "coo" else masked.to_sparse_csr()
        found = getattr(paddle.sparse, name)(tensor, *rest, *more, **options)
        return [found.is_sparse_coo(), found.is_sparse_csr(), found.to_dense() if found.is_sparse() else found]

    return call


def made(paddle: Any, *args: Any, **options: Any) -> Any:
    """Return a coo tensor's parts and content."""
    x = paddle.sparse.sparse_coo_tensor(*args, **options)
    return [x.shape, x.dtype, x.nnz(), x.indices(), x.values(), x.to_dense(), x.is_sparse(), x.stop_gradient]


def made_csr(paddle: Any, *args: Any, **options: Any) -> Any:
    """Return a csr tensor's parts and content."""
    x = paddle.sparse.sparse_csr_tensor(*args, **options)
    return [x.shape, x.dtype, x.nnz(), x.crows(), x.cols(), x.values(), x.to_dense(), x.is_sparse_csr()]


def both(paddle: Any, x: Any, y: Any, name: str) -> Any:
    """Return a function of two sparse tensors."""
    found = getattr(paddle.sparse, name)(x.to_sparse_coo(2), y.to_sparse_coo(2))
    return [found.is_sparse_coo(), found.to_dense()]


SPARSE = [
    *(row(f"paddle.sparse.{name}", t(3, 4, values="unit")).over(*BOTH).through(sparse(name, layout))
      for name in "sin tan asin atan sinh tanh asinh atanh sqrt square log1p abs neg deg2rad rad2deg expm1 isnan".split() for layout in ("coo", "csr")),
    row("paddle.sparse.pow", t(3, 4)).over(*BOTH).through(sparse("pow", "coo", 2)),
    row("paddle.sparse.cast", t(3, 4)).over(*BOTH).through(sparse("cast", "coo", "int32", "float64")),
    row("paddle.sparse.transpose", t(3, 4)).over(*BOTH).through(sparse("transpose", "coo", [1, 0])),
    row("paddle.sparse.reshape", t(3, 4)).over(*BOTH).through(sparse("reshape", "coo", [4, 3])),
    row("paddle.sparse.sum", t(3, 4)).over(*BOTH).through(sparse("sum", "coo")),
    row("paddle.sparse.sum", t(3, 4)).over(*BOTH).through(sparse("sum", "coo", 0)),
    row("paddle.sparse.slice", t(3, 4)).over(*BOTH).through(sparse("slice", "coo", [0, 1], [0, 1], [2, 3])),
    *(row("paddle.sparse.matmul", t(3, 4), t(4, 2)).over(*BOTH).through(sparse("matmul", layout)) for layout in ("coo", "csr")),
    *(row("paddle.sparse.mv", t(3, 4), t(4)).over(*BOTH).through(sparse("mv", layout)) for layout in ("coo", "csr")),
    *(row(f"paddle.sparse.{name}", t(3, 4, values="nonzero"), t(3, 4, seed=1, values="nonzero"), name).over(*BOTH).through(both) for name in "add subtract multiply divide".split()),
    row("paddle.sparse.sparse_coo_tensor", literal([[0, 1, 1], [2, 0, 2]], "int64"), t(3), each(unset, [2, 3], [4, 4]), dtype=each(unset, "float64")).over(*BOTH, "int64").through(made),
    row("paddle.sparse.sparse_coo_tensor", [[0, 1, 1], [2, 0, 2]], [1.0, 2.0, 3.0], each(unset, [2, 3], [1, 1])).through(made),
    row("paddle.sparse.sparse_csr_tensor", [0, 2, 3], [0, 2, 1], each([1.0, 2.0, 3.0], t(3)), [2, 3], dtype=each(unset, "float64")).through(made_csr),
]
SPECIAL = [
    row("paddle.gammainc", t(2, 3, values="positive"), t(2, 3, values="positive", seed=1)).over(*BOTH),
    row("paddle.gammaincc", t(2, 3, values="positive"), t(2, 3, values="positive", seed=1)).over(*BOTH),
    row("paddle.multigammaln", t(2, 3, values="large"), each(1, 2)).over(*BOTH),
    row("paddle.polygamma", t(2, 3, values="positive"), each(0, 1, 2)).over(*BOTH),
    row("paddle.trapezoid", t(2, 4), x=each(unset, t(4, values="sorted")), dx=each(unset), axis=each(unset, -1)).over(*BOTH),
    row("paddle.trapezoid", t(2, 4), dx=each(0.5, unset), axis=each(unset, 0)).over(*BOTH),
    row("paddle.cumulative_trapezoid", t(2, 4), dx=each(0.5, unset), axis=each(unset, 0)).over(*BOTH),
    row("paddle.renorm", each(t(2, 3), t(2, 3, 4)), each(2.0, 1.0), each(0, -1), each(1.0, 100.0)).over(*BOTH),
    row("paddle.diff", each(t(2, 4), t(5), t(0, 3)), n=each(unset, 2, 0), axis=each(unset, 0), prepend=each(unset, t(2, 4))).over(*BOTH, "int64", "bool"),
    row("paddle.reduce_as", t(2, 3), each(t(3), t(2, 1), t())).over(*BOTH),
    row("paddle.bitwise_left_shift", t(3, dtype="int32"), each(t(3, dtype="int32", values="positive"), t(3, dtype="int64", values="positive")), is_arithmetic=each(unset, False)),
    row("paddle.bitwise_right_shift", t(3, dtype="int32"), t(3, dtype="int32", values="positive"), is_arithmetic=each(unset, False)),
    row("paddle.nan_to_num", t(8, values="holes"), nan=each(unset, 1.0), posinf=each(unset, 5.0), neginf=each(unset, -5.0)).over(*BOTH),
    row("paddle.round", t(5), decimals=each(unset, 1, -1)).over(*BOTH),
    row("paddle.logit", t(5, values="probability"), each(unset, 0.2)).over(*BOTH),
    row("paddle.stanh", t(5), each(unset, 0.5), each(unset, 2.0)).over(*BOTH),
    row("paddle.divide", t(5), t(5, values="nonzero", seed=1), rounding_mode=each(unset, "trunc", "floor", "nonsense")).over(*BOTH, "int64"),
    row("paddle.add", t(5), t(5), alpha=each(unset, 2, 0.5)).over(*BOTH, "int64"),
    row("paddle.quantile", each(t(3, 5), t(4), t()), each(0.3, [0.1, 0.5], 0, 1.5, literal(0.5, "float32")), axis=each(unset, 0, [0, 1]), keepdim=each(unset, True), interpolation=each("linear", "lower", "nearest", "nonsense")).limited_to(60).over(*BOTH, "int64"),
    row("paddle.nanquantile", t(3, 5, values="nans"), each(0.3, [0.1, 0.5]), axis=each(unset, 0), keepdim=each(unset, True)).over(*BOTH),
    *(row(f"paddle.{name}", each(t(3, 4), t(5), t(), t(0, 3)), axis=each(unset, None, 0, -1, 5), dtype=each(unset, kind)).over(*FLOATS, "int32", "int64", "uint8", "bool", "complex64") for name, kind in {"cumsum": "float64", "logcumsumexp": "float64"}.items()),
    row("paddle.logcumsumexp", t(5), dtype="int64"),
    row("paddle.cumprod", each(t(3, 4), t(5), t()), each(unset, 0, -1, None, 5), dtype=each(unset, "float64")).over(*BOTH, "int32", "int64", "complex64"),
    *(row(f"paddle.{name}", each(t(3, 4, values="distinct"), t(5, values="ties"), t()), each(unset, 0, -1, 5), dtype=each(unset, "int32")).over(*BOTH, "int32", "int64") for name in "cummax cummin".split()),
    row("paddle.inner", t(1), each(t(1), t(4, 1))),
    row("paddle.median", each(literal([1.0, 2.0, 2.0, 2.0]), literal([2.0, 2.0, 3.0])), axis=each(unset, 0)),
    row("paddle.median", each(t(3, 4), t(5), t(5, values="nans")), axis=each(unset, 0, -1), keepdim=each(unset, True), mode=each(unset, "min")).over(*BOTH, "int64"),
    row("paddle.nanmedian", t(3, 5, values="nans"), axis=each(unset, 0, -1), mode=each(unset, "min")).over(*BOTH),
    *(row(f"paddle.{name}", t(3, 4), axis=each(unset, 1), unbiased=each(unset, False)).over(*BOTH) for name in "std var".split()),
    *(row(f"paddle.{name}", t(3, 4), axis=each(unset, 1), dtype=each("float64", "int32")).over("float32", "int64", "bool") for name in "sum prod mean nansum".split()),
    *(row(f"paddle.{name}", t(3, 4, values="ties"), axis=each(unset, 1)).over("float32") for name in "max min amax amin".split()),
    *(row(f"paddle.{name}", t(3, 4, values="distinct"), axis=each(unset, 1), dtype=each("int32", "float32")).over("float32") for name in "argmax argmin".split()),
]
ROWS = [*PRODUCTS, *FACTORS, *FOURIER, *SPARSE, *SPECIAL]
