"""Bad shapes, dtypes and arguments: the same error when eager and when recorded, naming what was given."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError
from vitrify.ops import (
    activation,
    contraction,
    decomposition,
    differences,
    distance,
    fft,
    householder,
    least_squares,
    linalg,
    low_rank,
    lu,
    matrix_exp,
    norms,
    signal,
    softmax,
)
from vitrify.testing import bools, check_error, floats, ints

X, Y = floats(2, 3), floats(4)
ERRORS = [
    (paddle.add, (X, Y), ShapeError, ["add: shapes do not broadcast", "x is [2, 3]", "y is [4]", "3 != 4"]),
    (paddle.where, (bools(2), X, Y), ShapeError, ["where: shapes do not broadcast"]),
    (paddle.where, (ints(3), X, X), DTypeError, ["where: condition is int64[3], expected"]),
    (paddle.where, (bools(3), X), ArgumentError, ["where: x and y must both be given"]),
    (paddle.subtract, (bools(2), bools(2)), DTypeError, ["subtract: x is bool[2], expected everything but bool"]),
    (paddle.neg, (bools(2),), DTypeError, ["neg: x is bool[2]"]),
    (paddle.round, (bools(2),), DTypeError, ["round: x is bool[2], expected everything but bool"]),
    (paddle.trunc, (bools(2),), DTypeError, ["trunc: input is bool[2], expected real numbers"]),
    (paddle.pow, (bools(2), bools(2)), DTypeError, ["pow: x is bool[2], expected everything but bool"]),
    (paddle.heaviside, (bools(2), bools(2)), DTypeError, ["heaviside: x is bool[2], expected everything but bool"]),
    (paddle.complex, (ints(2), ints(2)), DTypeError, ["complex: real is int64[2], expected real floating point"]),
    (paddle.gammainc, (ints(2), ints(2)), DTypeError, ["gammainc: x is int64[2], expected real floating point"]),
    (paddle.nextafter, (ints(2), ints(2)), DTypeError, ["nextafter: x is int64[2], expected real floating point"]),
    (paddle.add, (ints(2), X[0, :2]), DTypeError, ["add: cannot combine dtypes", "hint: cast"]),
    (paddle.bitwise_and, (X, X), DTypeError, ["bitwise_and: x is float64[2, 3], expected integers and bool"]),
    (paddle.imag, (X,), DTypeError, ["imag: x is float64[2, 3], expected complex numbers"]),
    (paddle.as_complex, (floats(2, 3),), ShapeError, ["as_complex: the last dimension must have size 2"]),
    (lambda x: paddle.pow(x, -1), (ints(2),), ArgumentError, ["pow: int64 to the power of -1 is no integer"]),
    (lambda x: paddle.divide(x, x, rounding_mode="up"), (X,), ArgumentError, ["rounding_mode", "'up'"]),
    (lambda x: paddle.split(x, 3), (np.array(1.0),), ShapeError, ["split: x is 0-D and has no dimension"]),
    (lambda: paddle.add_n([]), (), ArgumentError, ["add_n: inputs is empty"]),
    (lambda x: paddle.polygamma(x, -1), (X,), ArgumentError, ["polygamma: n must be >= 0, got -1"]),
    (lambda x: paddle.multigammaln(x, 0), (X,), ArgumentError, ["multigammaln: p must be >= 1"]),
    (paddle.matmul, (X, X), ShapeError, ["matmul: inner sizes differ: x is float64[2, 3], y is float64[2, 3] (3 != 2)",
                                         "hint: pass transpose_y=True"]),
    (paddle.matmul, (floats(2, 2, 3), floats(3, 3, 2)), ShapeError, ["matmul: shapes do not broadcast"]),
    (paddle.matmul, (np.array(1.0), X), ShapeError, ["matmul: x is float64[]"]),
    (paddle.bmm, (X, X), ShapeError, ["bmm: x is float64[2, 3], expected 3 dimensions"]),
    (paddle.bmm, (floats(2, 2, 2), floats(3, 2, 2)), ShapeError, ["bmm: batch sizes differ: x has 2, y has 3"]),
    (paddle.mv, (X, X), ShapeError, ["mv: vec is float64[2, 3], expected 1 dimensions"]),
    (paddle.dot, (X, Y), ShapeError, ["dot: y is float64[4]"]),
    (paddle.sum, (X, 2), IndexRangeError, ["sum: axis must be in [-2, 2) for a tensor with 2 dimensions, got 2"]),
    (paddle.mean, (X, [0, 0]), ShapeError, ["mean: axis repeats a dimension"]),
    (paddle.max, (X[:0],), ShapeError, ["max: x is float64[0, 3]: a dimension of size 0 has no max"]),
    (paddle.argmax, (X[:0], 0), ShapeError, ["argmax: x is float64[0, 3]"]),
    (lambda x: paddle.argmax(x, 0, dtype="float32"), (X,), ArgumentError, ["dtype must be an integer type"]),
    (lambda x: paddle.median(x, mode="max"), (X,), ArgumentError, ["median: mode must be 'avg' or 'min'"]),
    (paddle.quantile, (X, 1.5), ArgumentError, ["quantile: q must be in [0, 1], got 1.5"]),
    (lambda x: paddle.quantile(x, 0.5, interpolation="cubic"), (X,), ArgumentError, ["interpolation must be one of"]),
    (paddle.cumsum, (X, 3), IndexRangeError, ["cumsum: axis must be in"]),
    (paddle.diff, (X, 0), ArgumentError, ["diff: n must be >= 1"]),
    (lambda y: differences.trapezoid(y, y, 1.0), (X,), ArgumentError, ["give x or dx, not both"]),
    (distance.cdist, (X, Y), ShapeError, ["cdist: x has shape [2, 3], y has shape [4]"]),
    (distance.pdist, (Y,), ShapeError, ["pdist: x is float64[4]"]),
    (lambda x: distance.renorm(x, 2.0, 0, -1.0), (X,), ArgumentError, ["renorm: p and max_norm must be positive"]),
    (paddle.einsum, ("ij,jk", X, X), ShapeError, ["einsum: sizes differ", "3 != 2", "dimensions 1 and 0"]),
    (paddle.einsum, ("ii->i", X), ShapeError, ["0 and 1 of float64[2, 3] have one label, but sizes 2 and 3"]),
    (paddle.einsum, ("ij,jk", X), ArgumentError, ["'ij,jk': has 2 terms for 1 operands"]),
    (paddle.einsum, ("ijk", X), ArgumentError, ["'ijk' does not fit an operand of 2 dimensions"]),
    (paddle.einsum, ("i1", X), ArgumentError, ["'i1' holds something other than letters"]),
    (paddle.einsum, ("i...->i", X), ArgumentError, ["the result has no '...'"]),
    (paddle.einsum, ("ij->ik", X), ArgumentError, ["no operand has the label 'k'"]),
    (paddle.einsum, ("ij->i->j", X), ArgumentError, ["more than one '->'"]),
    (paddle.einsum, ("ij",), ArgumentError, ["at least one Tensor"]),
    (contraction.cross, (X[:, :2], X[:, :2]), ShapeError, ["cross: x is float64[2, 2], expected a dimension"]),
    (contraction.tensordot, (X, Y, 1), ShapeError, ["tensordot: x has size 3 in axis 1, y has size 4 in axis 0"]),
    (contraction.matrix_power, (X, 2), ShapeError, ["matrix_power: x is float64[2, 3], expected square matrices"]),
    (lambda x: contraction.multi_dot([x]), (X,), ArgumentError, ["multi_dot: expects at least 2 tensors"]),
    (linalg.inv, (X,), ShapeError, ["inverse: x is float64[2, 3], expected square matrices"]),
    (linalg.inv, (ints(2, 2),), DTypeError, ["inverse: x is int64[2, 2], expected real or complex floating point"]),
    (linalg.det, (Y,), ShapeError, ["det: x is float64[4], expected at least 2 dimensions"]),
    (linalg.solve, (floats(3, 3), X), ShapeError, ["solve: sizes differ", "(3 != 2)"]),
    (fft.fft, (np.array(1.0),), ArgumentError, ["fft: axes must be ints in"]),
    (fft.fft, (X, 0), ArgumentError, ["fft: sizes must be positive, got 0"]),
    (fft.fft, (X, 2.5), ArgumentError, ["fft: sizes must be ints, got 2.5"]),
    (fft.fft, (X, None, 2), ArgumentError, ["fft: axes must be ints in [-2, 2), got 2"]),
    (fft.fft, (X, None, -1, "both"), ArgumentError, ["fft: norm must be 'backward'"]),
    (fft.fft, (bools(3),), DTypeError, ["fft: x is bool[3], expected integers"]),
    (fft.rfft, (X + 0j,), DTypeError, ["rfft: x is complex128[2, 3], expected real numbers"]),
    (fft.irfft, (X[:, :0] + 0j,), ShapeError, ["with 0 frequencies in dimension 1"]),
    (fft.fft2, (X, (2, 2), (0,)), ArgumentError, ["fft2: s and axes must hold 2 ints"]),
    (fft.fftn, (X, (2, 2), (0,)), ArgumentError, ["fftn: 2 sizes for 1 axes"]),
    (fft.fftn, (X, None, ()), ArgumentError, ["axes must name at least one dimension"]),
    (fft.fftn, (X, None, -1), ArgumentError, ["fftn: axes must be a list of ints, got -1"]),
    (fft.fftn, (X, None, (1, -1)), ArgumentError, ["each once"]),
    (fft.fftfreq, (0,), ArgumentError, ["fftfreq: n must be positive"]),
    (lambda x, v: paddle.nn.functional.pad(x, [1, 1], value=v), (X, Y), ArgumentError, ["value needs a tensor"]),
    (signal.frame, (X, 4, 1), ShapeError, ["windows of size 4 do not fit dimension 1"]),
    (signal.frame, (np.array(1.0), 1, 1), ShapeError, ["frame: x must have at least 1 dimension"]),
    (signal.frame, (X, 2, 0), ArgumentError, ["frame: hop_length must be a positive int, got 0"]),
    (signal.frame, (X, 2, 1, 1), ArgumentError, ["frame: axis must be 0 or -1, got 1"]),
    (signal.overlap_add, (X, 3), ShapeError, ["hop_length 3 exceeds the length 2 of frames"]),
    (signal.overlap_add, (Y, 1), ShapeError, ["at least 2 dimensions"]),
    (signal.stft, (floats(2, 8), 9), ArgumentError, ["stft: n_fft must be at most the length 8 of x, got 9"]),
    (signal.stft, (floats(2, 8), 8, 2, 9), ArgumentError, ["stft: win_length must be at most n_fft 8, got 9"]),
    (signal.stft, (floats(2, 8), 8, 2, 4, Y[:3]), ArgumentError, ["window must have one dimension of size 4"]),
    (lambda x: signal.stft(x, 4, pad_mode="edge"), (floats(8),), ArgumentError, ["pad_mode must be"]),
    (lambda x: signal.stft(x, 4, onesided=True), (floats(8) + 0j,), ArgumentError, ["onesided must be False"]),
    (signal.stft, (floats(1, 2, 8), 4), ShapeError, ["stft: x must have 1 or 2 dimensions"]),
    (signal.istft, (floats(5, 3) + 0j, 8, 9), ArgumentError, ["hop_length must be at most win_length 8, got 9"]),
    (signal.istft, (floats(5, 3) + 0j, 10), ArgumentError, ["must have 6 frequencies for n_fft 10, got 5"]),
    (lambda x: lu.lu(x, pivot=False), (X,), ArgumentError, ["lu: pivot=False"]),
    (lu.lu, (Y,), ShapeError, ["lu: x is float64[4], expected at least 2 dimensions"]),
    (lu.lu_unpack, (X, ints(3)), ShapeError, ["lu_unpack: y is int64[3], expected the 2 row exchanges"]),
    (lu.lu_solve, (X[:, :2], X[:, :2], ints(2), "X"), ArgumentError, ["lu_solve: trans must be"]),
    (lu.lu_solve, (Y, X[:, :2], ints(2)), ShapeError, ["lu_solve: b is float64[4]"]),
    (least_squares.lstsq, (X, X, None, "qr"), ArgumentError, ["lstsq: driver must be one of gels", "'qr'"]),
    (least_squares.lstsq, (X, X.T), ShapeError, ["lstsq: x is float64[2, 3], y is float64[3, 2]"]),
    (least_squares.lstsq, (X, ints(2, 3)), DTypeError, ["lstsq: x is float64, y is int64"]),
    (householder.householder_product, (X, Y), ShapeError, ["at least as many rows as columns"]),
    (householder.householder_product, (X.T, Y), ShapeError, ["tau is float64[4], expected one number for each column"]),
    (householder.ormqr, (X.T, Y[:2], X), ShapeError, ["ormqr: y has shape [2, 3], expected 3 rows"]),
    (matrix_exp.matrix_exp, (X,), ShapeError, ["matrix_exp: x is float64[2, 3], expected square matrices"]),
    (low_rank.svd_lowrank, (X, 3), ArgumentError, ["svd_lowrank: q must be between 0 and", "[2, 3], got 3"]),
    (lambda x: decomposition.eigh(x, "X"), (floats(2, 2),), ArgumentError, ["eigh: UPLO must be 'L' or 'U', got 'X'"]),
    (lambda x: decomposition.qr(x, "full"), (X,), ArgumentError, ["qr: mode must be"]),
    (lambda x: norms.matrix_norm(x, 5), (X,), ArgumentError, ["matrix_norm: p must be 'fro'"]),
    (lambda x: norms.matrix_norm(x, axis=[0]), (X,), ArgumentError, ["matrix_norm: axis must name two different axes"]),
    (activation.gelu, (ints(3),), DTypeError, ["gelu: x is int64[3], expected real floating point"]),
    (lambda x: activation.gelu(x, "erf"), (X,), ArgumentError, ["gelu: approximate must be"]),
    (lambda x: activation.softshrink(x, -1), (X,), ArgumentError, ["softshrink: threshold must be >= 0"]),
    (lambda x: activation.selu(x, 0.5), (X,), ArgumentError, ["selu: scale must be > 1"]),
    (lambda x: activation.celu(x, 0), (X,), ArgumentError, ["celu: alpha must not be 0"]),
    (softmax.softmax, (ints(3),), DTypeError, ["softmax: x is int64[3]", "hint: pass dtype='float32'"]),
    (softmax.softmax, (X, 2), IndexRangeError, ["softmax: axis must be in"]),
    (softmax.glu, (X,), ShapeError, ["glu: x is float64[2, 3]: size 3 in axis -1 is odd"]),
    (lambda x: softmax.maxout(x, 2), (X,), ShapeError, ["maxout: 3 channels do not divide into groups of 2"]),
    (softmax.prelu, (X, Y), ShapeError, ["prelu: weight has 4 elements, x has 3 channels"]),
    (lambda x: softmax.rrelu(x, 0.5, 0.1), (X,), ArgumentError, ["rrelu: needs 0 <= lower <= upper <= 1"]),
    (lambda x: paddle.cast(x, "float99"), (X,), DTypeError, ["dtype must be any of"]),
]  # fmt: skip


@pytest.mark.parametrize("fn, args, error, parts", ERRORS, ids=[f"{i}: {e[3][0][:40]}" for i, e in enumerate(ERRORS)])
def test_error_is_the_same_eager_and_recorded(fn, args, error, parts):
    check_error(fn, args, error, *parts)


@pytest.mark.parametrize(
    "fn, x, part",
    [
        (linalg.inv, np.zeros((2, 2)), "inverse: Singular matrix"),
        (linalg.cholesky, -np.eye(2), "cholesky: Matrix is not positive definite"),
    ],
)
def test_matrices_without_a_solution_are_the_user_s_business(fn, x, part):
    with pytest.raises(ArgumentError, match=part):
        fn(paddle.to_tensor(x))


def test_an_error_says_where_the_user_stands():
    with pytest.raises(ShapeError) as caught:
        paddle.ones([2]) + paddle.ones([3])
    assert "test_errors.py" in str(caught.value) and "paddle.ones([2]) + paddle.ones([3])" in str(caught.value)


def test_comparing_with_what_is_no_number_is_false():
    x = paddle.ones([2])
    assert (x == None) is False and (x != None) is True  # noqa: E711
    assert (x == "x") is False


def test_windows_that_vanish_are_refused():
    spectrum = paddle.signal.stft(paddle.ones([16]), 8)
    with pytest.raises(ArgumentError, match="multiplied by 0"):
        paddle.signal.istft(spectrum, 8, window=paddle.zeros([8]))
