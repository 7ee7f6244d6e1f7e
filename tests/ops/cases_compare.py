"""Comparison, logic, bits, closeness."""

import numpy as np

from vitrify.ops import closeness, compare
from vitrify.testing import Case, bools, floats, ints

SPECIAL = np.array([1.0, 0.0, -0.0, np.inf, -np.inf, np.nan])
X, Y = ints(2, 3), ints(2, 3, seed=1)
COMPARISONS = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less_than": np.less,
    "less_equal": np.less_equal,
    "greater_than": np.greater,
    "greater_equal": np.greater_equal,
}
LOGIC = {"logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}
BITS = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
}
TESTS = ("isnan", "isinf", "isfinite", "isposinf", "isneginf", "signbit")


def close(x, y):
    return np.isclose(x, y, 1e-5, 1e-8)


CASES = [
    *[
        Case(f"{name}/{kind}", getattr(compare, name), pair, ref=ref)
        for name, ref in COMPARISONS.items()
        for kind, pair in (
            ("int", (X, Y)),
            ("float", (floats(2, 3), floats(3, seed=1))),
            ("nan", (SPECIAL, SPECIAL[::-1])),
            ("number", (X, 2)),
        )
    ],
    *[
        Case(f"{name}/{kind}", getattr(compare, name), pair, ref=ref)
        for name, ref in LOGIC.items()
        for kind, pair in (("bool", (bools(4), bools(4, seed=1))), ("float", (SPECIAL, floats(6))), ("int", (X, Y)))
    ],
    *[Case(name, getattr(compare, name), (X, Y), ref=ref) for name, ref in BITS.items()],
    *[
        Case(f"{name}/bool", getattr(compare, name), (bools(4), bools(4, seed=1)), ref=BITS[name])
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor")
    ],
    *[Case(name, getattr(compare, name), (SPECIAL,), ref=getattr(np, name), dtypes=("float32",)) for name in TESTS],
    Case("isnan/int", compare.isnan, (X,), ref=np.zeros((2, 3), bool)),
    Case("isreal", compare.isreal, (np.array([1 + 0j, 1j]),), ref=np.array([True, False])),
    Case("logical_not", compare.logical_not, (SPECIAL,), ref=np.logical_not),
    Case("bitwise_not", compare.bitwise_not, (X,), ref=np.invert),
    Case("bitwise_not/bool", compare.bitwise_not, (bools(3),), ref=np.invert),
    Case("bitwise_right_shift/logical", compare.bitwise_right_shift, (np.array([-8, 8], "int32"), ints(2, dtype="int32"), False),
         ref=lambda x, y, _: (x.view("uint32") >> y.view("uint32")).view("int32")),
    Case("~x & y | x ^ y", lambda x, y: ~x & y | x ^ y, (X, Y), ref=lambda x, y: ~x & y | x ^ y),
    Case("x << 2 >> 1", lambda x: x << 2 >> 1, (X,), ref=lambda x: x << 2 >> 1),
    Case("2 < x", lambda x: x > 2, (X,), ref=X > 2),
    Case("x == y", lambda x, y: x == y, (X, Y), ref=X == Y),
    Case("x != y", lambda x, y: x != y, (X, Y), ref=X != Y),
    Case("isclose", closeness.isclose, (floats(3), floats(3) + 1e-7), ref=close),
    Case("isclose/special", closeness.isclose, (SPECIAL, SPECIAL[[0, 1, 2, 3, 3, 5]]), ref=close),
    Case("isclose/equal_nan", closeness.isclose, (SPECIAL, SPECIAL), {"equal_nan": True}, ref=np.ones(6, bool)),
    Case("allclose", closeness.allclose, (floats(2, 3), floats(2, 3)), ref=np.array(True)),
    Case("allclose/not", closeness.allclose, (floats(2, 3), floats(2, 3) + 1), ref=np.array(False)),
    Case("equal_all", closeness.equal_all, (X, X), ref=np.array(True)),
    Case("equal_all/shapes", closeness.equal_all, (X, X[:1]), ref=np.array(False)),
]  # fmt: skip
