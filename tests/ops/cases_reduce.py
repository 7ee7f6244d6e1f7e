"""Reductions, statistics, quantiles, running sums."""

import numpy as np
import scipy.integrate
import scipy.spatial
import scipy.special as sp

from vitrify.ops import cumulative, differences, distance, norms, quantile, reduce, statistics
from vitrify.testing import Case, away, bools, complexes, floats, ints

X = floats(2, 3, 4)
NONZERO = away(X, 0.0, gap=0.2)
POINT = np.array(1.5)
HOLED = np.where(floats(3, 5, seed=9) > 1.2, np.nan, floats(3, 5, seed=8))
AXES = (None, 0, -1, (0, 2), [1], [-1, 0])


def as_tuple(axis):
    return tuple(axis) if isinstance(axis, list) else axis


def reductions(name, fn, ref, x=X, axes=AXES, second=True, point=True, **options):
    for axis in axes:
        for keepdim in (False, True):
            yield Case(
                f"{name}/axis {axis}{' kept' * keepdim}", fn, (x,), {"axis": axis, "keepdim": keepdim},
                ref=ref(x, axis=as_tuple(axis), keepdims=keepdim), second=second, **options,
            )  # fmt: skip
    if point:
        yield Case(f"{name}/0-d", fn, (POINT,), ref=ref(POINT))


def at_a_tensor(name, fn, ref, **options):
    """Along an axis that is a tensor, which programs for unknown values do not know."""
    for keepdim in (False, True):
        expected = ref(X, axis=1, keepdims=keepdim)
        yield Case(
            f"{name}/tensor axis{' kept' * keepdim}", lambda x, a, keepdim: fn(x, a, keepdim=keepdim),
            (X, np.array(-2)), {"keepdim": keepdim}, ref=expected, **options,
        )  # fmt: skip


def over_empty(name, fn, ref):
    yield Case(f"{name}/empty", fn, (X[:0],), {"axis": 0}, ref=lambda x: ref(x, axis=0), grad=False)
    yield Case(f"{name}/empty kept", fn, (X[:0],), {"axis": 1}, ref=lambda x: ref(x, axis=1), grad=False)


def lse(x, axis=None, keepdims=False):
    return sp.logsumexp(x, axis=axis, keepdims=keepdims)


def unbiased(fn):
    return lambda x, axis=None, keepdims=False: fn(x, axis=axis, keepdims=keepdims, ddof=1)


SUMS = [
    *reductions("sum", reduce.sum, np.sum),
    *over_empty("sum", reduce.sum, np.sum),
    *at_a_tensor("sum", reduce.sum, np.sum),
    *at_a_tensor("max", reduce.max, np.max),
    *at_a_tensor("std", statistics.std, unbiased(np.std)),
    *at_a_tensor("argmax", statistics.argmax, lambda x, axis, keepdims: x.argmax(axis, keepdims=keepdims), grad=False),
    *reductions("mean", reduce.mean, np.mean),
    *reductions("max", reduce.max, np.max),
    *reductions("min", reduce.min, np.min),
    *reductions("amax", reduce.amax, np.max, axes=(0,)),
    *reductions("amin", reduce.amin, np.min, axes=(0,)),
    *reductions("prod", reduce.prod, np.prod, x=NONZERO, grad_tol=1e-4),
    *over_empty("prod", reduce.prod, np.prod),
    *reductions("any", reduce.any, np.any, x=bools(2, 3, 4)),
    *reductions("all", reduce.all, np.all, x=bools(2, 3, 4)),
    *reductions("count_nonzero", reduce.count_nonzero, lambda x, **k: np.count_nonzero(x, **k), x=ints(2, 3, 4), axes=(0, (1, 2))),
    Case("sum/int32", reduce.sum, (ints(3, dtype="int32"),), ref=lambda x: x.sum(dtype="int64")),
    Case("sum/keepdim before dtype", reduce.sum, (X,), {"axis": 1, "dtype": True}, ref=lambda x: x.sum(1, keepdims=True)),
    Case("sum/bool", reduce.sum, (bools(5),), ref=lambda x: x.sum(dtype="int64")),
    Case("sum/dtype", lambda x: reduce.sum(x, dtype="float64"), (ints(3),), ref=lambda x: x.sum(dtype="float64")),
    Case("sum/dtype int32", lambda x: reduce.sum(x, dtype="int32"), (ints(3),), ref=lambda x: x.sum(dtype="int32")),
    Case("cumsum/tensor axis", cumulative.cumsum, (X, np.array([1])), ref=lambda x, a: x.cumsum(1)),
    Case("sum/complex", reduce.sum, (complexes(3, 2), 0), ref=lambda x, a: x.sum(0)),
    Case("sum/method", lambda x: x.sum(-1), (X,), ref=X.sum(-1)),
    Case("mean/int", reduce.mean, (np.array([-1, -2, -4]),), ref=np.array(-2)),
    Case("mean/bool", reduce.mean, (np.array([True, False]),), ref=np.float32(0.5)),
    Case("mean/dtype", lambda x: reduce.mean(x, dtype="float64"), (ints(3),), ref=lambda x: x.mean()),
    Case("max/ties", reduce.max, (np.array([1.0, 3.0, 3.0]),), ref=np.array(3.0), grad=False),
    Case("prod/zero", reduce.prod, (np.array([0.0, 2.0, 3.0]),), ref=np.array(0.0)),
    Case("prod/two zeros", reduce.prod, (np.array([0.0, 0.0, 3.0]),), ref=np.array(0.0)),
    Case("prod/complex", reduce.prod, (complexes(3),), ref=np.prod, second=True),
    Case("prod/bool", reduce.prod, (bools(3),), ref=lambda x: np.prod(x, dtype="int64")),
    Case("reduce_as", reduce.reduce_as, (X, floats(3, 1)), ref=lambda x, y: x.sum((0, 2), keepdims=True)[0]),
]
STATISTICS = [
    *reductions("logsumexp", statistics.logsumexp, lse),
    *reductions("var", statistics.var, unbiased(np.var), axes=(None, 1, (0, 2)), point=False),
    *reductions("std", statistics.std, unbiased(np.std), axes=(None, 1, (0, 2)), point=False),
    *reductions("nansum", statistics.nansum, np.nansum, x=HOLED, axes=(None, 1), grad=False),
    *reductions("nanmean", statistics.nanmean, np.nanmean, x=HOLED, axes=(None, 1), grad=False),
    *reductions("argmax", statistics.argmax, np.argmax, axes=(0, -1)),
    *reductions("argmin", statistics.argmin, np.argmin, axes=(0, -1)),
    Case("argmax/flat", statistics.argmax, (X,), ref=np.argmax),
    Case("argmax/flat kept", lambda x: statistics.argmax(x, keepdim=True), (X,), ref=np.argmax(X).reshape(1, 1, 1)),
    Case("argmax/int32", lambda x: statistics.argmax(x, 1, dtype="int32"), (X,), ref=np.argmax(X, 1).astype("int32")),
    Case("logsumexp/inf", statistics.logsumexp, (np.array([[np.inf, 1.0], [-np.inf, -np.inf]]), 1),
         ref=np.array([np.inf, -np.inf]), grad=False),
    Case("logsumexp/far", statistics.logsumexp, (np.array([-1e4, 1e4]),), ref=np.array(1e4), dtypes=()),
    Case("logsumexp/int", statistics.logsumexp, (ints(3),), ref=lambda x: np.float32(lse(x)), rtol=1e-6),
    Case("var/biased", lambda x: statistics.var(x, 0, False), (X,), ref=np.var(X, 0)),
    Case("std/int", statistics.std, (ints(4),), rtol=1e-6,
         ref=lambda x: np.sqrt(np.float32(((x - int(x.mean())) ** 2).sum() // 3))),
    Case("nanmean/gradient", lambda x: statistics.nanmean(x, 1), (X,), ref=X.mean(1)),
    Case("nansum/dtype", lambda x: statistics.nansum(x, dtype="int64"), (ints(4, dtype="int32"),), ref=np.sum),
]  # fmt: skip


def lower_median(x, axis):
    order = np.argsort(x, axis=axis, kind="stable")
    place = np.expand_dims(np.take(order, (x.shape[axis] - 1) // 2, axis=axis), axis)
    return np.take_along_axis(x, place, axis).squeeze(axis), place.squeeze(axis)


EVEN = floats(3, 4)
QUANTILES = [
    *reductions("median", quantile.median, np.median, axes=(None, 1), dtypes=("float32",)),
    *reductions("median/even", quantile.median, np.median, x=EVEN, axes=(None, 1, 0), dtypes=("float32",)),
    *reductions("nanmedian", quantile.nanmedian, np.nanmedian, x=HOLED, axes=(None, 1, 0), grad=False, dtypes=("float32",)),
    Case("median of nothing", lambda x: quantile.median(x, 1), (np.zeros((2, 0)),), ref=lambda x: np.full(2, np.nan),
         grad=False, dtypes=()),
    Case("median/nan", lambda x: quantile.median(x, 1), (HOLED,), ref=lambda x: np.median(x, 1), grad=False, dtypes=()),
    Case("median/int", quantile.median, (ints(4),), ref=lambda x: np.float32(np.median(x))),
    Case("median/min", lambda x: quantile.median(x, 1, mode="min"), (EVEN,), ref=lambda x: lower_median(x, 1)),
    Case("median/min flat", lambda x: quantile.median(x, mode="min"), (EVEN,), ref=np.sort(EVEN.ravel())[5]),
    Case("median/min nan", lambda x: quantile.median(x, 0, mode="min"), (np.array([1.0, np.nan, 0.0]),),
         ref=(np.array(np.nan), np.array(1)), grad=False),
    Case("nanmedian/min", lambda x: quantile.nanmedian(x, 0, mode="min"), (np.array([1.0, np.nan, 0.0]),),
         ref=(np.array(0.0), np.array(2)), grad=False),
    *[
        Case(f"quantile/{way}", lambda x, way=way: quantile.quantile(x, 0.3, 1, interpolation=way), (X,),
             ref=np.quantile(X, 0.3, 1, method=way), dtypes=("float32",))
        for way in ("linear", "lower", "higher", "nearest", "midpoint")
    ],
    Case("quantile/list", lambda x: quantile.quantile(x, [0.1, 0.5], keepdim=True), (X,),
         ref=np.quantile(X, [0.1, 0.5], keepdims=True), dtypes=("float32",)),
    Case("quantile/axes", lambda x: quantile.quantile(x, 0.7, [0, 2]), (X,), ref=np.quantile(X, 0.7, (0, 2)),
         dtypes=("float32",)),
    *[
        Case(f"{op.__name__} of nothing", lambda x, op=op: op(x, [0.1, 0.5], axis=1, keepdim=True), (np.zeros((2, 0)),),
             ref=np.zeros((2, 2, 1)), dtypes=("float32",))
        for op in (quantile.quantile, quantile.nanquantile)
    ],
    Case("nanquantile", lambda x: quantile.nanquantile(x, 0.7, 1), (HOLED,), ref=np.nanquantile(HOLED, 0.7, 1), grad=False,
         dtypes=("float32",)),
]  # fmt: skip


def running(name, fn, ref, x=X, **options):
    for axis in (0, 1, -1):
        yield Case(f"{name}/axis {axis}", fn, (x, axis), ref=lambda x, axis: ref(x, axis=axis), **options)
    yield Case(f"{name}/flat", fn, (x,), ref=lambda x: ref(x.ravel(), axis=0), **options)
    yield Case(f"{name}/empty", fn, (x[:0], 0), ref=lambda x, axis: x, grad=False)


def extreme(pick):
    def ref(x, axis):
        best = pick.accumulate(x, axis=axis)
        place = np.arange(x.shape[axis]).reshape([-1] + [1] * (x.ndim - 1 - axis % x.ndim))
        return best, np.maximum.accumulate(np.where(x == best, place, 0), axis=axis)

    return ref


RUNNING = [
    *running("cumsum", cumulative.cumsum, np.cumsum, second=True),
    *running("cumprod", cumulative.cumprod, np.cumprod, x=NONZERO, second=True, grad_tol=1e-3),
    *running("logcumsumexp", cumulative.logcumsumexp, np.logaddexp.accumulate),
    Case("cumsum/int", cumulative.cumsum, (ints(4, dtype="int32"),), ref=lambda x: np.cumsum(x, dtype="int64")),
    Case("cumsum/dtype", lambda x: cumulative.cumsum(x, 0, "float64"), (ints(4),), ref=lambda x: np.cumsum(x * 1.0)),
    Case("cumsum/0-d", cumulative.cumsum, (POINT, 0), ref=lambda x, a: x),
    Case("cumprod/zero", cumulative.cumprod, (np.array([2.0, 0.0, 3.0, 4.0]), 0), ref=lambda x, a: np.cumprod(x)),
    Case("cumprod/zeros", cumulative.cumprod, (np.array([2.0, 0.0, 3.0, 0.0, 5.0]), 0), ref=lambda x, a: np.cumprod(x)),
    Case("cumprod/int", cumulative.cumprod, (ints(4), 0), ref=lambda x, a: np.cumprod(x)),
    Case("logcumsumexp/far", cumulative.logcumsumexp, (np.array([1e4, -1e4, 1e4]), 0),
         ref=lambda x, a: np.logaddexp.accumulate(x), dtypes=()),
    *[
        Case(f"{name}/axis {axis}", fn, (X, axis), ref=lambda x, axis, pick=pick: extreme(pick)(x, axis), second=True)
        for name, fn, pick in (("cummax", cumulative.cummax, np.maximum), ("cummin", cumulative.cummin, np.minimum))
        for axis in (0, -1)
    ],
    Case("cummax/ties", cumulative.cummax, (np.array([1, 3, 3, 2]),), ref=(np.array([1, 3, 3, 3]), np.array([0, 1, 2, 2]))),
    Case("cummax/nan", cumulative.cummax, (np.array([1.0, np.nan, 3.0]),),
         ref=(np.array([1.0, np.nan, np.nan]), np.array([0, 1, 1])), grad=False),
    Case("cummin/0-d", cumulative.cummin, (POINT, 0), ref=lambda x, a: (x, np.array(0))),
]  # fmt: skip
MATRICES = floats(2, 3, 4)
NORMS = [
    *[
        Case(f"vector_norm/{p}", norms.vector_norm, (NONZERO, p, 1), ref=np.linalg.norm(NONZERO, p, axis=1), second=True,
             dtypes=("float32",))
        for p in (2.0, 1.0, 3.0, 0.5, 0, np.inf, -np.inf)
    ],
    *[
        Case(f"matrix_norm/{p}", norms.matrix_norm, (MATRICES, p), ref=np.linalg.norm(MATRICES, p, axis=(-2, -1)),
             grad_tol=1e-4, dtypes=("float32",))
        for p in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
    ],
    Case("matrix_norm/axes kept", lambda x: norms.matrix_norm(x, 2, (0, 2), True), (MATRICES,),
         ref=np.linalg.norm(MATRICES, 2, axis=(0, 2), keepdims=True), dtypes=("float32",)),
    Case("matrix_norm/1 kept", lambda x: norms.matrix_norm(x, 1, (0, 2), True), (MATRICES,),
         ref=np.linalg.norm(MATRICES, 1, axis=(0, 2), keepdims=True), dtypes=("float32",)),
    Case("norm", norms.norm, (X,), ref=np.linalg.norm(X.ravel())),
    Case("norm/axis", norms.norm, (X,), {"axis": 1, "keepdim": True}, ref=np.linalg.norm(X, axis=1, keepdims=True)),
    Case("norm/matrices", norms.norm, (X,), {"axis": [0, 1]}, ref=np.linalg.norm(X, axis=(0, 1))),
    Case("norm/p", norms.norm, (NONZERO, 3.0), ref=np.linalg.norm(NONZERO.ravel(), 3)),
    Case("norm/nuclear", norms.norm, (EVEN, "nuc"), ref=np.linalg.norm(EVEN, "nuc"), dtypes=("float32",)),
    Case("norm/matrix p", norms.norm, (EVEN, 3.0), ref=np.linalg.norm(EVEN.ravel(), 3)),
    Case("norm/zero", norms.norm, (np.zeros(3),), ref=np.array(0.0), grad=False),
    Case("norm/huge", norms.norm, (np.array([1e200, 1e200]),), ref=np.array(np.sqrt(2) * 1e200), dtypes=(), grad=False),
    Case("norm/complex", norms.norm, (complexes(4),), ref=np.linalg.norm, second=True),
    Case("dist", norms.dist, (X, NONZERO[0]), {"p": 3}, ref=np.linalg.norm((X - NONZERO[0]).ravel(), 3)),
    *[
        Case(f"cond/{p}", norms.cond, (floats(2, 3, 3) + 3 * np.eye(3), p), ref=lambda x, p: np.linalg.cond(x, p), rtol=1e-6,
             grad_tol=1e-4, dtypes=("float32",))
        for p in (None, 2, -2, "fro", 1, np.inf)
    ],
]  # fmt: skip
DIFFERENCES = [
    Case("diff", differences.diff, (X,), ref=np.diff, second=True),
    Case("diff/n axis", differences.diff, (X, 2, 1), ref=np.diff),
    Case("diff/ends", lambda x, a, b: differences.diff(x, 1, 0, a, b), (X, X[:1], X[1:]), ref=lambda x, a, b: np.diff(x, 1, 0, a, b)),
    Case("diff/bool", differences.diff, (bools(5),), ref=np.diff),
    Case("trapezoid", differences.trapezoid, (X,), ref=np.trapezoid),
    Case("trapezoid/x", differences.trapezoid, (X, floats(3), None, 1), ref=lambda y, x, d, a: np.trapezoid(y, x, axis=a)),
    Case("trapezoid/dx", lambda y: differences.trapezoid(y, dx=0.5, axis=0), (X,), ref=np.trapezoid(X, dx=0.5, axis=0)),
    Case("cumulative_trapezoid", differences.cumulative_trapezoid, (X, NONZERO), ref=scipy.integrate.cumulative_trapezoid),
]  # fmt: skip
ROWS = floats(4, 3)
DISTANCES = [
    *[
        Case(f"cdist/{p}", distance.cdist, (floats(2, 3, 4), floats(2, 5, 4, seed=3), p), grad=p != 0,
             ref=lambda x, y, p: np.stack([scipy.spatial.distance.cdist(a, b, "minkowski", p=p) for a, b in zip(x, y)]) if p else None)
        for p in (2.0, 1.0, 3.0)
    ],
    Case("cdist/inf", distance.cdist, (ROWS, floats(2, 3, seed=4), np.inf), ref=lambda x, y, p: scipy.spatial.distance.cdist(x, y, "chebyshev")),
    Case("pdist", distance.pdist, (ROWS,), ref=scipy.spatial.distance.pdist, dynamic=False),
    Case("renorm of a vector", distance.renorm, (ROWS[0], 2.0, 0, 1.5), ref=lambda x, p, a, m: np.clip(x, -m, m)),
    Case("renorm", distance.renorm, (ROWS, 2.0, 0, 1.5),
         ref=lambda x, *_: x * np.minimum(1, 1.5 / np.linalg.norm(x, axis=1, keepdims=True)), second=True),
]  # fmt: skip
CASES = [*DIFFERENCES, *DISTANCES, *SUMS, *STATISTICS, *QUANTILES, *RUNNING, *NORMS]
