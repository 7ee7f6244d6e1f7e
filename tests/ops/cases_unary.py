"""Functions of one tensor."""

import numpy as np
import scipy.special as sp

from vitrify.ops import special, trig, unary
from vitrify.ops.like import full_like
from vitrify.testing import Case, away, complexes, floats, ints

ANY = away(floats(2, 3), 0.0, gap=0.3)
POSITIVE = floats(2, 3, low=0.2, high=3.0)
UNIT = floats(2, 3, low=-0.9, high=0.9)
INSIDE = floats(2, 3, low=0.1, high=0.9)
ABOVE = floats(2, 3, low=1.2, high=4.0)
STEPPED = np.array([[-1.6, -0.4, 0.3], [0.7, 1.2, 2.6]])
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e300, 1e-300])


def smooth(name, fn, ref, x=ANY, **options):
    """Values and two derivatives, 0-D and empty tensors, integers as float32, and what is neither finite nor normal."""
    yield Case(name, fn, (x,), ref=ref, second=True, **options)
    yield Case(f"{name}/0-d", fn, (np.array(x[0, 1]),), ref=ref, **options)
    yield Case(f"{name}/empty", fn, (x[:0],), ref=ref, grad=False, **options)
    yield Case(f"{name}/int", fn, (ints(3, low=1),), ref=lambda a: _quiet(ref)(a.astype("float32")), rtol=1e-5, atol=1e-6)
    yield Case(f"{name}/special", fn, (SPECIAL,), ref=_quiet(ref), grad=False, dtypes=())


def _quiet(ref):
    def call(x):
        with np.errstate(all="ignore"):
            return ref(x)

    return call


def holomorphic(name, fn, ref, low=-1.5, high=1.5):
    yield Case(f"{name}/complex", fn, (complexes(2, 2, low=low, high=high),), ref=ref, second=True)


def stepped(name, fn, ref, **options):
    yield Case(name, fn, (STEPPED,), ref=ref, **options)
    yield Case(f"{name}/int", fn, (ints(3, low=-4),), ref=ref)
    yield Case(f"{name}/special", fn, (SPECIAL,), ref=ref, grad=False, dtypes=())


def rsqrt(x):
    return 1 / np.sqrt(x)


def logit(x):
    return np.log(x) - np.log1p(-x)


def order_like(y):
    """The order 1.5 as a tensor like y."""
    return full_like(y, 1.5)


EXPONENTIAL = [
    *smooth("exp", unary.exp, np.exp),
    *smooth("expm1", unary.expm1, np.expm1),
    *smooth("log", unary.log, np.log, x=POSITIVE),
    *smooth("log2", unary.log2, np.log2, x=POSITIVE),
    *smooth("log10", unary.log10, np.log10, x=POSITIVE),
    *smooth("log1p", unary.log1p, np.log1p, x=POSITIVE),
    *smooth("sqrt", unary.sqrt, np.sqrt, x=POSITIVE),
    *smooth("rsqrt", unary.rsqrt, rsqrt, x=POSITIVE),
    *smooth("reciprocal", unary.reciprocal, lambda x: 1 / x),
    Case("square", unary.square, (ANY,), ref=np.square, second=True),
    Case("square/int", unary.square, (ints(3, low=-4),), ref=np.square),
]
COMPLEX = [
    *holomorphic("exp", unary.exp, np.exp),
    *holomorphic("expm1", unary.expm1, np.expm1),
    *holomorphic("log", unary.log, np.log),
    *holomorphic("log2", unary.log2, np.log2),
    *holomorphic("log10", unary.log10, np.log10),
    *holomorphic("log1p", unary.log1p, np.log1p),
    *holomorphic("sqrt", unary.sqrt, np.sqrt),
    *holomorphic("rsqrt", unary.rsqrt, rsqrt),
    *holomorphic("reciprocal", unary.reciprocal, lambda x: 1 / x),
    *holomorphic("square", unary.square, np.square),
    *[
        case
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")
        for case in holomorphic(name, getattr(trig, name), getattr(np, name), low=-0.6, high=0.6)
    ],
    *[
        case
        for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")
        for case in holomorphic(name, getattr(trig, name), getattr(np, "arc" + name[1:]), low=0.1, high=0.6)
    ],
    *holomorphic("sigmoid", special.sigmoid, lambda z: 1 / (1 + np.exp(-z))),
]
ROUNDING = [
    *stepped("floor", unary.floor, np.floor),
    *stepped("ceil", unary.ceil, np.ceil),
    *stepped("trunc", unary.trunc, np.trunc),
    *stepped("round", unary.round, np.round),
    *stepped("sign", unary.sign, np.sign),
    Case("frac", unary.frac, (STEPPED,), ref=lambda x: x - np.trunc(x), dtypes=("float32",)),
    Case("round/halves", unary.round, (np.array([0.5, 1.5, 2.5, -0.5]),), ref=np.array([0.0, 2.0, 2.0, -0.0]), grad=False),
    Case("round/decimals", unary.round, (np.array([1.234, -5.678]), 1), ref=np.array([1.2, -5.7]), dtypes=("float32",)),
    Case("round/tens", unary.round, (np.array([123.0, -456.0]), -1), ref=np.array([120.0, -460.0]), dtypes=("float32",)),
]
TRIGONOMETRY = [
    *smooth("sin", trig.sin, np.sin),
    *smooth("cos", trig.cos, np.cos),
    *smooth("tan", trig.tan, np.tan, x=UNIT),
    *smooth("asin", trig.asin, np.arcsin, x=UNIT),
    *smooth("acos", trig.acos, np.arccos, x=UNIT),
    *smooth("atan", trig.atan, np.arctan),
    *smooth("sinh", trig.sinh, np.sinh),
    *smooth("cosh", trig.cosh, np.cosh),
    *smooth("tanh", trig.tanh, np.tanh),
    *smooth("asinh", trig.asinh, np.arcsinh),
    *smooth("acosh", trig.acosh, np.arccosh, x=ABOVE),
    *smooth("atanh", trig.atanh, np.arctanh, x=UNIT),
    *smooth("deg2rad", trig.deg2rad, np.deg2rad),
    *smooth("rad2deg", trig.rad2deg, np.rad2deg, dtypes=("float32",)),
]
FUNCTIONS = [
    *smooth("sigmoid", special.sigmoid, sp.expit),
    *smooth("erf", special.erf, sp.erf),
    *smooth("erfinv", special.erfinv, sp.erfinv, x=UNIT),
    *smooth("lgamma", special.lgamma, sp.gammaln, x=POSITIVE),
    *smooth("digamma", special.digamma, sp.digamma, x=POSITIVE),
    *smooth("logit", special.logit, logit, x=INSIDE),
    *smooth("i0", special.i0, sp.i0),
    *smooth("i1", special.i1, sp.i1),
    *smooth("i0e", special.i0e, sp.i0e),
    *smooth("i1e", special.i1e, sp.i1e),
    Case("sinc", special.sinc, (ANY,), ref=np.sinc, second=True),
    Case("sinc/complex", special.sinc, (complexes(2, 2),), ref=np.sinc, second=True),
    Case("sinc/0", special.sinc, (np.array([0.0, 1.0]),), ref=np.array([1.0, 0.0]), dtypes=("float32",)),
    Case("i1/0", special.i1, (np.zeros(2),), ref=sp.i1),
    Case("stanh", special.stanh, (ANY,), ref=lambda x: 1.7159 * np.tanh(0.67 * x), second=True),
    Case("logit/eps", special.logit, (np.array([0.0, 0.3, 1.0]), 0.1), ref=lambda x, e: logit(np.clip(x, e, 1 - e)),
         grad=False),
    Case("logit/eps inside", special.logit, (INSIDE, 0.01), ref=lambda x, e: logit(x), second=True),
    *[
        Case(f"polygamma/{n}", special.polygamma, (POSITIVE, n), ref=lambda x, n: sp.polygamma(n, x), rtol=1e-6,
             second=True, dtypes=("float32",))
        for n in (0, 1, 3)
    ],
    *[
        Case(f"multigammaln/{p}", special.multigammaln, (ABOVE + 2, p),
             ref=lambda x, p: np.vectorize(lambda v: sp.multigammaln(v, p))(x))
        for p in (1, 3)
    ],
    Case("gammainc at a number", lambda x: special.gammainc(x, 2.0), (POSITIVE,), ref=lambda x: sp.gammainc(x, 2.0), grad=False),
    Case("gammainc", lambda y: special.gammainc(order_like(y), y), (POSITIVE,), ref=lambda y: sp.gammainc(1.5, y),
         second=True),
    Case("gammaincc", lambda y: special.gammaincc(order_like(y), y), (POSITIVE,), ref=lambda y: sp.gammaincc(1.5, y),
         second=True),
]  # fmt: skip


CASES = [*EXPONENTIAL, *COMPLEX, *ROUNDING, *TRIGONOMETRY, *FUNCTIONS]
