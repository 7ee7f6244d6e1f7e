"""Paddle's operators that are public functions of ours: called with the inputs and attributes that their rows name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import fft, geometric, linalg, signal
from .. import tensor as T
from ..core.dtype import int64
from ..ir.known_values import as_tensor, known_ints
from ..nn import functional as F
from ..ops.registry import get_op
from ..ops.softmax import swiglu
from ..ops.viterbi import viterbi_decode
from .old_operators import in_order_of_place
from .operator_table import known_number, reads
from .table import ROWS, In

_NUMBERS = {"rtol", "atol", "start", "stop", "num", "base"}
"""Inputs that stand for a number of our function."""


def _given(row_input: In, value: Any) -> Any:
    """An input as our functions take it."""
    if value is None:
        return None
    if isinstance(value, list):
        return [as_tensor(v) for v in value]
    if row_input.name in _NUMBERS:
        return float(value) if isinstance(value, str) else known_number(value)
    if row_input.kind == "ints" and isinstance(value, np.ndarray):
        return [int(v) for v in value.reshape(-1)]
    return as_tensor(value)


def enter(
    theirs: str, function: Callable[..., Any], names: Mapping[str, str] | None = None, outputs: int | None = None,
    **fixed: Any,
) -> None:  # fmt: skip
    """Let an operator be a function of ours.

    names: what inputs and attributes are called here where that differs, "" for those that change nothing here.
    outputs: how many the operator has where the function gives the first alone. fixed: further arguments.
    """
    row, called = ROWS[theirs], names or {}

    def read(*inputs: Any, **attrs: Any) -> Any:
        given = {called.get(i.name, i.name): _given(i, v) for i, v in zip(row.inputs, inputs)}
        given |= {called.get(key, key): value for key, value in attrs.items()} | fixed
        given.pop("", None)
        found = function(**given)
        return found if outputs is None else [found, *[None] * (outputs - 1)]

    taken = [a.name for a in row.attrs if a.where != "old" and a.kind != "place" and called.get(a.name) != ""]
    reads.enter(theirs, read, taken)


def _of_tensors(functions: Mapping[str, Callable[..., Any]], names: Sequence[str]) -> None:
    """Operators that are called here as there, arguments included."""
    for name in names:
        enter(name, functions[name])


_of_tensors(
    vars(T),
    ("allclose", "angle", "as_complex", "as_real", "bitwise_left_shift", "bitwise_right_shift", "complex", "conj")
    + ("copysign", "cummax", "cummin", "diag", "dist", "equal_all", "gammaincc", "gammaln", "heaviside", "i0", "i0e")
    + ("i1", "i1e", "imag", "index_sample", "is_empty", "isclose", "logspace", "matrix_power", "multiplex")
    + ("nextafter", "polygamma", "real", "reduce_as", "renorm", "repeat_interleave", "stanh", "trace"),
)
_of_tensors(
    vars(F),
    ("channel_shuffle", "fold", "gather_tree", "gumbel_softmax", "label_smooth", "maxout", "pixel_unshuffle")
    + ("temporal_shift", "log_loss"),
)
_of_tensors(vars(linalg), ("cholesky_solve", "multi_dot", "slogdet"))
_of_tensors(vars(signal), ("frame", "overlap_add"))
enter("viterbi_decode", viterbi_decode)
enter("swiglu", swiglu)
enter("repeat_interleave_with_tensor_index", T.repeat_interleave)
enter("tril_indices", T.tril_indices, {"rows": "row", "cols": "col"})
enter("triu_indices", T.triu_indices)
enter("bernoulli", T.bernoulli)
enter("affine_grid", F.affine_grid, {"input": "theta", "output_shape": "out_shape"})
enter("grid_sample", F.grid_sample)
enter("bilinear", F.bilinear, {"x": "x1", "y": "x2"})
enter("unpool", F.max_unpool2d, {"ksize": "kernel_size", "strides": "stride"})
enter("unpool3d", F.max_unpool3d, {"ksize": "kernel_size", "strides": "stride", "paddings": "padding"})
enter("lu", linalg.lu, get_infos=True)
enter("eig", linalg.eig)
enter("rrelu", F.rrelu, {"is_test": ""}, outputs=2, training=False)
enter("bce_loss", F.binary_cross_entropy, reduction="none")
enter("kldiv_loss", F.kl_div, {"x": "input"})
enter("nll_loss", F.nll_loss, outputs=2)


def _in_lower_case(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, for whose choices Paddle's programs have words in capitals."""

    def read(**given: Any) -> Any:
        return function(**{key: v.lower() if isinstance(v, str) else v for key, v in given.items()})

    return read


def _received(function: Callable[..., Any]) -> Any:
    def read(*inputs: Any, **words: str) -> Any:
        *tensors, size = inputs
        known = None if size is None else next(iter(known_ints(size)), 0)
        given = {key: value.lower() for key, value in words.items()}
        return function(*map(as_tensor, tensors), **given, out_size=known or None), None

    return read


enter("send_uv", _in_lower_case(geometric.send_uv))
reads.enter("send_u_recv", _received(geometric.send_u_recv), ["reduce_op"])
reads.enter("send_ue_recv", _received(geometric.send_ue_recv), ["message_op", "reduce_op"])


@reads("segment_pool")
def segment_pool(x: Any, segments: Any, *, pooltype: str) -> Any:
    """The sum, mean, least or largest of each run of rows."""
    return getattr(geometric, f"segment_{pooltype.lower()}")(as_tensor(x), as_tensor(segments)), None


@reads("crop")
def crop(x: Any, shape: Any, offsets: Any) -> Any:
    """A part of x."""
    return T.crop(as_tensor(x), known_ints(shape), None if offsets is None else known_ints(offsets))


@reads("fill_diagonal_tensor")
def fill_diagonal_tensor(x: Any, y: Any, *, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """x with other elements on a diagonal; y may have a further dimension of 1 in front."""
    x, y = as_tensor(x), as_tensor(y)
    return T.diagonal_scatter(x, T.squeeze(y, 0) if y.ndim == x.ndim else y, offset, dim1, dim2)


@reads("cross")
def cross(x: Any, y: Any, *, axis: int = 9) -> Any:
    """The cross product."""
    return T.cross(as_tensor(x), as_tensor(y), axis)


def _middle(function: Callable[..., Any]) -> Any:
    def read(x: Any, *, axis: Sequence[int] = (), keepdim: bool = False, mode: str = "avg") -> Any:
        along = list(axis) if len(axis) > 1 else axis[0] if axis else None
        found = function(as_tensor(x), axis=along, keepdim=keepdim, mode=mode)
        return found if isinstance(found, (list, tuple)) else (found, None)

    return read


reads("median")(_middle(T.median))
reads("nanmedian")(_middle(T.nanmedian))


@reads("histogram")
def histogram(
    x: Any, weight: Any, *, bins: int = 100, min: float = 0.0, max: float = 0.0, density: bool = False
) -> Any:
    """How many elements lie in each of some bins."""
    return T.histogram(as_tensor(x), bins, min, max, None if weight is None else as_tensor(weight), density)


@reads("sequence_mask")
def sequence_mask(x: Any, longest: Any, *, out_dtype: Any) -> Any:
    """Which places lie within each length."""
    found = None if longest is None else int(known_number(longest))
    return F.sequence_mask(as_tensor(x), None if found is None or found < 0 else found, out_dtype)


@reads("unique")
def unique(
    x: Any, *, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: Sequence[int] = (), dtype: Any = int64, is_sorted: bool = True,
) -> Any:  # fmt: skip
    """The distinct elements in order; where they are, which is where, and how many of each there are."""
    if not is_sorted:  # as PaddlePaddle 1 knew it
        out, where, counts = in_order_of_place(as_tensor(x))
        return out, None, T.cast(where, dtype), T.cast(counts, dtype)
    return T.unique(as_tensor(x), True, True, True, axis[0] if axis else None, dtype)


@reads("unique_consecutive")
def unique_consecutive(x: Any, *, axis: Sequence[int] = (), dtype: Any = int64) -> Any:
    """x without repetitions; which element is where now, and how often each was repeated."""
    return T.unique_consecutive(as_tensor(x), True, True, axis[0] if axis else None, dtype)


# -- linear algebra ----------------------------------------------------------------------------------------------------


@reads("eigvalsh")
def eigvalsh(x: Any, *, uplo: str = "L") -> Any:
    """The eigenvalues of symmetric matrices."""
    return linalg.eigvalsh(as_tensor(x), uplo), None


@reads("lu_unpack")
def lu_unpack(x: Any, pivots: Any, *, unpack_ludata: bool = True, unpack_pivots: bool = True) -> list[Any]:
    """The matrix that exchanges rows and both triangles; None for what is not asked for."""
    found = linalg.lu_unpack(as_tensor(x), as_tensor(pivots), unpack_ludata, unpack_pivots)
    return [v if wanted else None for v, wanted in zip(found, (unpack_pivots, unpack_ludata, unpack_ludata))]


@reads("fill_diagonal")
def fill_diagonal(x: Any, *, value: float = 0.0, offset: int = 0, wrap: bool = False) -> Any:
    """x with a number on its diagonal."""
    return get_op("fill_diagonal")(as_tensor(x), value=value, offset=offset, wrap=wrap)


@reads("lstsq")
def lstsq(x: Any, y: Any, rcond: Any, *, driver: str | None = None) -> Any:
    """The least-squares solution, and what is known of it."""
    return linalg.lstsq(as_tensor(x), as_tensor(y), float(known_number(rcond)), driver)


@reads("matrix_rank")
def matrix_rank(x: Any, *, tol: float = 0.0, use_default_tol: bool = True, hermitian: bool = False) -> Any:
    """How many singular values are above a tolerance."""
    return linalg.matrix_rank(as_tensor(x), None if use_default_tol else tol, hermitian)


@reads("fft_c2c")
def fft_c2c(x: Any, *, axes: Sequence[int], normalization: str, forward: bool) -> Any:
    """The Fourier transform of complex numbers."""
    return (fft.fftn if forward else fft.ifftn)(as_tensor(x), axes=list(axes), norm=normalization)


@reads("fft_r2c")
def fft_r2c(x: Any, *, axes: Sequence[int], normalization: str, forward: bool, onesided: bool) -> Any:
    """The Fourier transform of real numbers; half of it where it is one-sided."""
    whole, half = (fft.fftn, fft.rfftn) if forward else (fft.ifftn, fft.ihfftn)
    return (half if onesided else whole)(as_tensor(x), axes=list(axes), norm=normalization)


@reads("fft_c2r")
def fft_c2r(x: Any, *, axes: Sequence[int], normalization: str, forward: bool, last_dim_size: int = 0) -> Any:
    """The real numbers that half a spectrum is of."""
    x, axes = as_tensor(x), [axis % as_tensor(x).ndim for axis in axes]
    half = last_dim_size // 2 + 1 if last_dim_size else x.shape[axes[-1]]
    if half != x.shape[axes[-1]]:
        x = get_op("resize_axes")(x, axes=(axes[-1],), sizes=(half,))
    is_odd = bool(last_dim_size % 2)
    return get_op("fft_c2r")(x, axes=tuple(axes), norm=normalization, forward=forward, odd=is_odd)
