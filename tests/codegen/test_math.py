"""Functions of libm in kernels: within four units in the last place of the true value, over all magnitudes."""

import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_pointwise import kernel_of
from vitrify.codegen.llvm import host
from vitrify.core.lazy import lazy_module

special = lazy_module("scipy.special")
FUNCTIONS = {
    name: getattr(np, name)
    for name in ("exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sqrt")
} | {f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}  # fmt: skip
PAIRS = {"pow": np.power, "atan2": np.arctan2, "hypot": np.hypot}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, np.pi, 88.7, -103.9, 709.7, -745.1]


def sweep(dtype, each):
    """Numbers of all magnitudes and both signs, denormals among them, and special ones."""
    info = np.finfo(dtype)
    rng = np.random.default_rng(0)
    exponents = np.repeat(np.arange(info.minexp - info.nmant, info.maxexp), each)
    found = np.ldexp(rng.uniform(1, 2, exponents.size), exponents)
    # most functions have their interesting values here
    usual = rng.uniform(-20, 20, 40 * each)
    unit = rng.uniform(-1, 1, 40 * each)
    with np.errstate(all="ignore"):
        return np.concatenate([found, -found, usual, unit, SPECIAL]).astype(dtype)


def units(found, exact):
    """How far results are from exact values in units in the last place of their dtype; 0 where both are not finite."""
    info = np.finfo(found.dtype)
    with np.errstate(all="ignore"):
        nearest = exact.astype(found.dtype)
        same = (nearest == found) | (np.isnan(nearest) & np.isnan(found))
        unit = np.ldexp(np.longdouble(1), np.maximum(np.frexp(np.abs(exact))[1] - 1, info.minexp) - info.nmant)
        return np.where(same, 0, np.abs(found.astype(np.longdouble) - exact) / unit)


def check(fn, reference, *arrays):
    (found,) = kernel_of(fn, *[([-1], a.dtype.name) for a in arrays])(*arrays)
    with np.errstate(all="ignore"):
        exact = reference(*[a.astype(np.longdouble) for a in arrays])
    far = units(found, exact)
    worst = int(np.argmax(np.where(np.isnan(far), np.inf, far)))
    at = [a[worst] for a in arrays]
    assert far[worst] <= 4, f"at {at}: {found[worst]!r}, exact {exact[worst]!r}, {far[worst]} units away"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_one_number(name, dtype):
    check(lambda x: getattr(paddle, name)(x), FUNCTIONS[name], sweep(dtype, 8))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exp_where_it_becomes_zero(dtype):
    """Between the smallest results and 0, on both sides of where it is not computed any more."""
    edge = -104 if dtype == "float32" else -745.2
    others = [edge, -1e9, -1e30, -np.inf, np.nan, 0, 1]
    x = np.concatenate([np.linspace(edge - 2, edge + 2, 4001), others]).astype(dtype)
    (found,) = kernel_of(lambda x: paddle.exp(x), ([-1], dtype))(x)
    with np.errstate(all="ignore"):
        assert np.max(units(found, np.exp(x.astype(np.longdouble)))) <= 1


@pytest.mark.parametrize("name", ["tanh", "erf"])
def test_rounding_goes_nowhere_beyond_one(name):
    x = sweep("float32", 8)
    (found,) = kernel_of(lambda x: getattr(paddle, name)(x), ([-1], "float32"))(x)
    known = ~np.isnan(x)
    assert np.abs(found[known]).max() == 1
    np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(x[known]))


@pytest.mark.parametrize("lacks", ["has_fma", "has_scalef"])
@pytest.mark.parametrize("name", ["exp", "tanh"])
def test_functions_on_smaller_cpus(name, lacks, monkeypatch):
    """Without an instruction to multiply and add libm is called; without one to scale by 2**n, two products scale."""
    monkeypatch.setattr(host(), lacks, False)
    check(lambda x: getattr(paddle, name)(x), FUNCTIONS[name], sweep("float32", 8))
    test_exp_where_it_becomes_zero("float32")


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_two_numbers(name, dtype):
    x = sweep(dtype, 8)
    y = np.random.default_rng(1).permutation(x)
    check(lambda x, y: getattr(paddle, name)(x, y), PAIRS[name], x, y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_error_function(dtype):
    x = sweep(dtype, 8)
    (found,) = kernel_of(lambda x: paddle.erf(x), ([-1], dtype))(x)
    far = units(found, special.erf(x.astype("float64")).astype(np.longdouble))
    assert np.max(far) <= (4 if dtype == "float32" else 6)  # SciPy's own error adds up to two units in double


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_over_many_numbers(name):
    check(lambda x: getattr(paddle, name)(x), FUNCTIONS[name], sweep("float32", 2000))
