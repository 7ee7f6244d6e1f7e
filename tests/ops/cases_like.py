"""Casts, and ops that take only a shape from a second tensor."""

import numpy as np

from vitrify.ops import like
from vitrify.testing import Case, bools, complexes, floats, ints

X = floats(2, 3)
CASES = [
    Case("cast/float32", like.cast, (X, "float32"), ref=lambda x, d: x.astype(d), grad_tol=2e-2),
    Case("cast/same", like.cast, (X, "float64"), ref=X, dtypes=()),
    Case("cast/int", like.cast, (np.array([1.7, -1.7]), "int32"), ref=np.array([1, -1])),
    Case("cast/bool", like.cast, (np.array([0.0, 0.5, np.nan]), "bool"), ref=np.array([False, True, True])),
    Case("cast/from bool", like.cast, (bools(3), "float64"), ref=lambda x, d: x.astype(d)),
    Case("cast/to complex", like.cast, (X, "complex128"), ref=lambda x, d: x.astype(d)),
    Case("cast/from complex", like.cast, (complexes(3), "float64"), ref=lambda x, d: x.real),
    Case("cast/complex to bool", like.cast, (np.array([0j, 1j]), "bool"), ref=np.array([False, True])),
    Case("int()", lambda x: x.int(), (X,), ref=X.astype("int32")),
    Case("type_as", lambda x, y: x.type_as(y), (X, ints(2)), ref=lambda x, y: x.astype("int64")),
    Case("astype", lambda x: x.astype("int64"), (ints(3, dtype="int32"),), ref=lambda x: x.astype("int64")),
    Case("sum_to_like", like.sum_to_like, (floats(4, 2, 3), floats(2, 1)), ref=lambda x, y: x.sum((0, 2))[:, None], second=True),
    Case("sum_to_like/same", like.sum_to_like, (X, X + 1), ref=X),
    Case("sum_to_like/0-d", like.sum_to_like, (X, np.array(1.0)), ref=X.sum()),
    Case("sum_to", lambda x: like.sum_to(x, shape=(1, 3)), (X,), ref=X.sum(0, keepdims=True), second=True),
    Case("expand_like", like.expand_like, (floats(2, 1), floats(4, 2, 3)), ref=lambda x, y: np.broadcast_to(x, y.shape), second=True),
    Case("reshape_like", like.reshape_like, (X, floats(6)), ref=lambda x, y: x.ravel(), second=True),
    Case("reshape_like/empty", like.reshape_like, (X[:0], floats(2, 0)), ref=lambda x, y: x.reshape(2, 0)),
    Case("full_like", like.full_like, (X, 7), ref=np.full((2, 3), 7.0)),
    Case("full_like/dtype", like.full_like, (X, 7, "int32"), ref=np.full((2, 3), 7)),
    Case("zeros_like", like.zeros_like, (ints(3),), ref=np.zeros(3)),
    Case("ones_like", like.ones_like, (bools(3),), ref=np.ones(3)),
]  # fmt: skip
