"""Arithmetic, powers, choosing, complex numbers."""

import numpy as np

from vitrify import assign
from vitrify.ops import complex_, elementwise, power, select
from vitrify.testing import Case, away, bools, complexes, floats, ints

A, B, WEIGHTS = floats(2, 3), floats(2, 3, seed=1), floats(2, 3, seed=7)
ROW, COLUMN = floats(3, seed=2), floats(2, 1, seed=3)
POSITIVE = floats(2, 3, low=0.2, high=3.0)
NONZERO = away(floats(2, 3, seed=4), 0.0, gap=0.3)
NAN, INF = float("nan"), float("inf")


def both(name, fn, ref, x, y, **options):
    """Equal shapes, broadcasting from both sides, 0-D and empty tensors."""
    column, row, point = y[:, :1], x[0], np.array(y[0, 0])
    empty = {"grad": False, "second": False, "layouts": False}
    return [
        Case(name, fn, (x, y), ref=ref, **options),
        Case(f"{name}/broadcast", fn, (row, column), ref=ref, **options),
        Case(f"{name}/0-d", fn, (x, point), ref=ref, **options),
        Case(f"{name}/all 0-d", fn, (np.array(x[0, 1]), point), ref=ref, **options),
        Case(f"{name}/empty", fn, (x[:0], y[:0]), ref=ref, **{**options, **empty}),
    ]


def reals(name, fn, ref, x=A, y=NONZERO, **options):
    return both(name, fn, ref, x, y, second=True, **options)


ARITHMETIC = [
    *reals("add", elementwise.add, np.add),
    *reals("subtract", elementwise.subtract, np.subtract),
    *reals("multiply", elementwise.multiply, np.multiply),
    *reals("divide", elementwise.divide, np.divide),
    *reals("mod", elementwise.mod, np.mod, x=np.full((2, 3), 0.7), y=np.full((2, 3), 2.0), dtypes=("float32",)),
    *both("floor_divide", elementwise.floor_divide, np.floor_divide, A, NONZERO, grad=False, dtypes=("float32",)),
    *both("add/int", elementwise.add, np.add, ints(2, 3), ints(2, 3, seed=1)),
    *both("floor_divide/int", elementwise.floor_divide, np.floor_divide, ints(2, 3, low=-9), ints(2, 3, low=1)),
    *both("remainder/int", elementwise.remainder, np.mod, ints(2, 3, low=-9), ints(2, 3, low=1)),
    Case("add/alpha", elementwise.add, (A, B), {"alpha": 3}, ref=lambda x, y: x + 3 * y),
    Case("subtract/alpha", elementwise.subtract, (A, B), {"alpha": 0.5}, ref=lambda x, y: x - 0.5 * y),
    Case("add/complex", elementwise.add, (complexes(3), complexes(3, seed=5)), ref=np.add),
    Case("multiply/complex", elementwise.multiply, (complexes(3), complexes(3, seed=5)), ref=np.multiply, second=True),
    Case("multiply/real with complex", elementwise.multiply, (ROW, complexes(3)), ref=np.multiply),
    Case("divide/complex", elementwise.divide, (complexes(3), complexes(3, seed=5)), ref=np.divide),
    Case("divide/by a negative int8", elementwise.divide, (np.array([2, 4], "uint8"), np.array(-2, "int8")),
         ref=np.array([-1, -2], "float32")),
    Case("divide/int", elementwise.divide, (ints(4), ints(4, low=1)), ref=lambda x, y: np.float32(x / y), rtol=1e-6),
    Case("divide/trunc", elementwise.divide, (A, NONZERO), {"rounding_mode": "trunc"}, ref=lambda x, y: np.trunc(x / y),
         grad=False, dtypes=("float32",)),
    Case("divide/trunc int", elementwise.divide, (np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2])),
         {"rounding_mode": "trunc"}, ref=np.array([3, -3, -3, 3])),
    Case("divide/floor", elementwise.divide, (A, NONZERO), {"rounding_mode": "floor"}, ref=np.floor_divide, grad=False,
         dtypes=("float32",)),
    Case("true_divide", elementwise.true_divide, (A, NONZERO), ref=np.divide),
    Case("neg", elementwise.neg, (A,), ref=np.negative, second=True),
    Case("positive", elementwise.positive, (A,), ref=A),
    Case("scale", elementwise.scale, (A, 2.5, 1.0), ref=lambda x, s, b: x * s + b),
    Case("scale/NumPy number", elementwise.scale, (A, np.float64(2.5), 1.0), ref=lambda x, s, b: x * s + b),
    Case("scale/bias first", elementwise.scale, (A, 2.5, 1.0, False), ref=lambda x, s, b, f: (x + b) * s),
    Case(
        "scale/tensor",
        lambda x: elementwise.scale(x, assign(floats(1)).astype(x.dtype), 1.0),
        (A,),
        ref=lambda x: x * floats(1) + 1.0,
        second=True,
    ),
    Case("scale/int", elementwise.scale, (np.array([1, 2]), 2.7, 1.2), ref=np.array([3, 5])),
    Case("scale/bool", elementwise.scale, (np.array([True, False]), 0.5), ref=np.array([True, False])),
    Case("scale/bool bias", elementwise.scale, (np.array([True, False]), 2, 0.5, False), ref=np.array([True, True])),
    Case("scale/act", elementwise.scale, (NONZERO, 2.0, 0.0, True, "relu"), ref=lambda x, *_: np.maximum(2 * x, 0)),
    Case("scale/act of ints", elementwise.scale, (np.array([1, 2]), 2, 1, True, "tanh"), ref=np.tanh([3.0, 5.0])),
    Case("add_n", elementwise.add_n, ([A, B, A],), ref=lambda xs: sum(xs), second=True),
    Case("add_n/one", elementwise.add_n, (A,), ref=A),
    Case("x + 2", lambda x: x + 2, (A,), ref=A + 2),
    Case("2.5 - x", lambda x: 2.5 - x, (A,), ref=2.5 - A),
    Case("2 / x", lambda x: 2 / x, (NONZERO,), ref=2 / NONZERO, second=True),
    Case("x / 2", lambda x: x / 2, (A,), ref=A / 2),
    Case("7.5 // x", lambda x: 7.5 // x, (NONZERO,), ref=7.5 // NONZERO, grad=False, dtypes=("float32",)),
    Case("-x", lambda x: -x, (A,), ref=-A),
    Case("+x", lambda x: +x, (A,), ref=A),
    Case("int + 1.5", lambda x: x + 1.5, (ints(3),), ref=lambda x: np.float32(x + 1.5)),
    Case("bool * bool", lambda x, y: x * y, (bools(4), bools(4)[::-1]), ref=np.logical_and),
    Case("bool + bool", lambda x, y: x + y, (bools(4), bools(4)[::-1]), ref=np.logical_or),
    Case("bool < bool", lambda x, y: (x < y, x >= y), (bools(4), bools(4)[::-1]), ref=lambda x, y: (x < y, x >= y)),
    Case("bool + 1", lambda x: x + 1, (bools(3),), ref=lambda x: x + 1),
]  # fmt: skip
POWERS = [
    *reals("pow", power.pow, np.power, x=POSITIVE, y=B, dtypes=("float32",)),
    *both("pow/int", power.pow, np.power, ints(2, 3), ints(2, 3, seed=1)),
    *[
        Case(f"x ** {n}", lambda x, n=n: x**n, (NONZERO if isinstance(n, int) else POSITIVE,), ref=lambda x, n=n: x**n,
             second=True, dtypes=("float32",))
        for n in (2, 3, -1, 0, 1, 0.5, -1.5, 2.0)
    ],
    Case("2 ** x", lambda x: 2**x, (A,), ref=lambda x: 2**x, second=True),
    Case("0 ** x", lambda x: 0.0**x, (POSITIVE,), ref=lambda x: 0.0**x),
    Case("x ** y at 0", power.pow, (np.zeros(2), np.array([2.0, 3.0])), ref=np.power),
    Case("pow/complex", power.pow, (complexes(3), complexes(3, seed=6)), ref=np.power),
    *reals("atan2", power.atan2, np.arctan2, x=NONZERO, y=POSITIVE),
    *reals("hypot", power.hypot, np.hypot, x=NONZERO),
    *reals("logaddexp", power.logaddexp, np.logaddexp),
    *both("copysign", power.copysign, np.copysign, NONZERO, away(B, 0.0)),
    *both("heaviside", power.heaviside, np.heaviside, NONZERO, B),
    *both("nextafter", power.nextafter, np.nextafter, A, B, grad=False, dtypes=()),
    *both("gcd", power.gcd, np.gcd, ints(2, 3, high=30), ints(2, 3, high=30, seed=1)),
    *both("lcm", power.lcm, np.lcm, ints(2, 3, high=30), ints(2, 3, low=1, high=30, seed=1)),
    Case("frexp", power.frexp, (NONZERO,), ref=np.frexp, dtypes=("float32",)),
    Case("ldexp", power.ldexp, (A, ints(2, 3)), ref=np.ldexp),
    Case("ldexp/int", power.ldexp, (ints(3), ints(3, seed=1)), ref=lambda x, y: x * 2.0**y),
    Case(
        "lerp",
        lambda x, y: power.lerp(x, y, assign(WEIGHTS).astype(x.dtype)),
        (A, B),
        ref=lambda x, y: x + WEIGHTS * (y - x),
        second=True,
    ),
    Case("lerp/number", power.lerp, (A, ROW, 0.3), ref=lambda x, y, w: x + w * (y - x)),
    Case("logaddexp/inf", power.logaddexp, (np.array([INF, -INF, 1.0]), np.array([1.0, -INF, -INF])),
         ref=np.array([INF, -INF, 1.0]), grad=False),
    Case("atan2/int", power.atan2, (ints(3), ints(3, low=1)), ref=np.arctan2),
]  # fmt: skip
CHOICES = [
    *reals("maximum", select.maximum, np.maximum, x=A, y=B),
    *reals("minimum", select.minimum, np.minimum, x=A, y=B),
    *reals("fmax", select.fmax, np.fmax, x=A, y=B),
    *reals("fmin", select.fmin, np.fmin, x=A, y=B),
    Case("maximum/nan", select.maximum, (np.array([1.0, NAN]), np.array([NAN, 2.0])), ref=np.array([NAN, NAN]), grad=False),
    Case("fmax/nan", select.fmax, (np.array([1.0, NAN]), np.array([NAN, 2.0])), ref=np.array([1.0, 2.0])),
    Case("fmin/nan", select.fmin, (np.array([1.0, NAN]), np.array([NAN, 2.0])), ref=np.array([1.0, 2.0])),
    Case("where", select.where, (bools(2, 3), A, B), ref=np.where, second=True),
    Case("where/broadcast", select.where, (bools(2, 1), ROW, COLUMN), ref=np.where),
    Case("where/number", select.where, (bools(2, 3), A, 0.0), ref=np.where),
    Case("where/numbers", select.where, (bools(3), 1.0, 2.0), ref=np.where),
    Case("where/int", select.where, (bools(3), ints(3), 7), ref=np.where),
    Case("where/method", lambda c, x: c.where(x, 0.5), (bools(3), ROW), ref=lambda c, x: np.where(c, x, 0.5)),
    Case("where/value method", lambda c, x: x.where(c, 0.5), (bools(3), ROW), ref=lambda c, x: np.where(c, x, 0.5)),
    Case("clip", select.clip, (away(A, -1.0, 1.0), -1.0, 1.0), ref=np.clip, second=True),
    Case("clip/low", select.clip, (away(A, 0.5), 0.5), ref=lambda x, low: np.maximum(x, low)),
    Case("clip/high", lambda x: select.clip(x, max=0.5), (away(A, 0.5),), ref=lambda x: np.minimum(x, 0.5)),
    Case("clip/none", select.clip, (A,), ref=A),
    Case("clip/tensors", select.clip, (away(A, -1.0, 1.0), np.array(-1), np.array(1)), ref=np.clip),
    Case("clip/tensor bounds", select.clip, (floats(2, 3, low=-1.0, high=1.0), floats(3, low=-3.0, high=-2.0), COLUMN + 3),
         ref=np.clip),
    Case("clip/clipped by tensors", select.clip, (floats(4, low=5.0, high=6.0), floats(4), floats(4, low=3.0, high=4.0)),
         ref=np.clip, grad=False),
    Case("clip/int", select.clip, (ints(5), 1, 3), ref=np.clip),
    Case("nan_to_num", select.nan_to_num, (np.array([1.0, NAN, INF, -INF]), 0.5, 7.0, -7.0),
         ref=np.array([1.0, 0.5, 7.0, -7.0]), dtypes=("float32",)),
]  # fmt: skip
Z = complexes(2, 3)
COMPLEX = [
    Case("abs", complex_.abs, (NONZERO,), ref=np.abs, second=True),
    Case("abs/int", complex_.abs, (ints(3, low=-4),), ref=np.abs),
    Case("abs/complex", complex_.abs, (Z,), ref=np.abs, second=True),
    Case("sgn", complex_.sgn, (NONZERO,), ref=np.sign),
    Case("sgn/complex", complex_.sgn, (Z,), ref=lambda z: z / np.abs(z), second=True),
    Case("real", complex_.real, (Z,), ref=np.real),
    Case("real/real", complex_.real, (A,), ref=A),
    Case("imag", complex_.imag, (Z,), ref=np.imag),
    Case("conj", complex_.conj, (Z,), ref=np.conj),
    Case("conj/real", complex_.conj, (A,), ref=A),
    Case("angle", complex_.angle, (NONZERO,), ref=np.angle, dtypes=("float32",)),
    Case("angle/complex", complex_.angle, (Z,), ref=np.angle, second=True),
    Case("complex", complex_.complex, (A, ROW), ref=lambda x, y: x + 1j * y, dtypes=("float32",)),
    Case("polar", complex_.polar, (POSITIVE, A), ref=lambda r, a: r * np.exp(1j * a), dtypes=("float32",)),
    Case("as_complex", complex_.as_complex, (floats(3, 2),), ref=lambda x: x[:, 0] + 1j * x[:, 1], dtypes=("float32",),
         dynamic=True),
    Case("as_real", complex_.as_real, (Z,), ref=lambda z: np.stack([z.real, z.imag], -1)),
]  # fmt: skip
CASES = [*ARITHMETIC, *POWERS, *CHOICES, *COMPLEX]
